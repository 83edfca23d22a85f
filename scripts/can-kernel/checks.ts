/** Runs all checks as root in a kernel with CAN, see index.ts. Argument: duration of the load check in s. */
import { diagnostics } from './diagnostics.ts';
import { leaving } from './leaving.ts';
import { loadChecks } from './load.ts';
import { reading } from './reading.ts';
import { recovery } from './recovery.ts';
import { runChecks } from './rig.ts';
import { sending } from './sending.ts';

await runChecks({
  ...reading,
  ...sending,
  ...diagnostics,
  ...recovery,
  ...leaving,
  ...loadChecks(Number(process.argv[2] ?? 5)),
});
// Open handles of a failed check must not keep the machine running.
process.exit(0);
