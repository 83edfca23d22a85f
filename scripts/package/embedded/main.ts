/** The main script of the executable, whose arguments follow its name as those of a script follow Node's. */
import { run } from '../../../commands/vigie.ts';

// A script of an executable is CommonJS, which has no top-level await. `run` handles every error itself.
void run(process.argv);
