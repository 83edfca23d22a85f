/** Stands in for koffi's own `static.js`, which is asked first for its machine code. */
import { packed } from 'vigie:koffi';
import { loadNative } from './native.ts';

export function loadStatic(): unknown {
  return loadNative('koffi', packed);
}
