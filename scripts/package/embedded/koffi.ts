/** Replaces koffi's own `static.js`, which is the first source of its machine code. */
import { packed } from 'vigie:koffi';
import { loadNative } from './native.ts';

export function loadStatic(): unknown {
  return loadNative('koffi', packed);
}
