/** Names of options, checked for programs without a compiler. */
import { VigieError } from '../../protocol/errors.ts';
import { suggestion } from '../../protocol/nearest.ts';

/** @throws VigieError `usage.wrong` for a name that is none of `known`, with a suggestion; `before` is the path to the names */
export function checkNames(given: object, known: object, before: string): void {
  for (const name of Object.keys(given)) {
    if (Object.hasOwn(known, name)) continue;
    const names = Object.keys(known);
    throw wrong(before + name, `is no option: ${suggestion(name, names) ?? `known are ${names.join(', ')}`}`);
  }
}

export function wrong(where: string, message: string): VigieError {
  return new VigieError('usage.wrong', `${where} ${message}`, { where });
}
