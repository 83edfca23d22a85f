/**
 * Main script of the executable. Arguments follow the name of the executable in the way in which they would follow the
 * script's name after `node`.
 */
import { run } from '../../../commands/vigie.ts';

// The script of an executable is CommonJS, which has no top-level await. `run` handles every error itself.
void run(process.argv);
