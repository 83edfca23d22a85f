/** Replaces node-gyp-build, which serialport uses to find its machine code. */
import { packed } from 'vigie:serialport';
import { loadNative } from './native.ts';

export default function load(): unknown {
  return loadNative('serialport', packed);
}
