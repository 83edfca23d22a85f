/** Opens a source and exits: `exit` while the source is open, `stop` after stopping it. Run by leaving.ts. */
import assert from 'node:assert/strict';
import { Bus } from './rig.ts';

const bus = await Bus.open();
assert.equal(bus.health.state, 'running');
if (process.argv[2] === 'exit') setImmediate(() => process.exit(0));
else await bus.can.stop();
