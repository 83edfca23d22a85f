/** Replaces koffi's own `static.js`, where koffi first looks for its machine code. */
import { packed } from 'vigie:koffi';
import { loadNative } from './native.ts';

export function loadStatic(): unknown {
  return loadNative('koffi', packed);
}
