/**
 * Opens a source and exits: with `exit` while the source is open, with `stop` after stopping it. leaving.ts runs this.
 */
import assert from 'node:assert/strict';
import { Bus } from './rig.ts';

const bus = await Bus.open();
assert.equal(bus.health.state, 'running');
if (process.argv[2] === 'exit') setImmediate(() => process.exit(0));
else await bus.can.stop();
