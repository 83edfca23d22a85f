/** Replaces node-gyp-build, with which serialport finds its machine code. */
import { packed } from 'vigie:serialport';
import { loadNative } from './native.ts';

export default function load(): unknown {
  return loadNative('serialport', packed);
}
