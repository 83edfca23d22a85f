/**
 * Main script of the executable. Arguments follow the executable's name as they would follow the script's name after
 * `node`.
 */
import { run } from '../../../commands/vigie.ts';

// A script of an executable is CommonJS, which has no top-level await. `run` handles every error itself.
void run(process.argv);
