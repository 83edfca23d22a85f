/** Main script of the executable. Its arguments follow its name like those of a script follow Node's. */
import { run } from '../../../commands/vigie.ts';

// A script of an executable is CommonJS, which has no top-level await. `run` handles every error itself.
void run(process.argv);
