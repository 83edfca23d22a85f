/** The address that modules of the executable have: that of the executable, so that what is beside them is beside it. */
import { pathToFileURL } from 'node:url';

export const moduleAddress: string = pathToFileURL(process.execPath).href;
