/** Address of the modules in the executable. It is that of the executable itself, so that relative paths work. */
import { pathToFileURL } from 'node:url';

export const moduleAddress: string = pathToFileURL(process.execPath).href;
