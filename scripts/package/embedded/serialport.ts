/** Stands in for node-gyp-build, by which serialport looks for its machine code. */
import { packed } from 'vigie:serialport';
import { loadNative } from './native.ts';

export default function load(): unknown {
  return loadNative('serialport', packed);
}
