/** Validates options at run time, for programs without a type-checking compiler. */
import { VigieError } from '../../protocol/errors.ts';
import { suggestion } from '../../protocol/nearest.ts';
import type { NumberSetting, SettingGroup } from '../../protocol/settings.ts';

export type OptionFields = Readonly<Record<string, unknown>>;

/** A function that validates an option, and the end of the sentence "must be …" for its error. */
export type OptionRule = readonly [fits: (value: unknown) => boolean, expected: string];

export const isText = (value: unknown): boolean => typeof value === 'string' && value !== '';
export const isFunction = (value: unknown): boolean => typeof value === 'function';
export const isFields = (value: unknown): value is OptionFields => typeof value === 'object' && value !== null;
export const hasFunctions = (value: unknown, ...names: readonly string[]): boolean =>
  isFields(value) && names.every((name) => isFunction(value[name]));
export const isList = (value: unknown, fits: (item: unknown) => boolean): boolean =>
  Array.isArray(value) && value.every(fits);

export const BUS_RULE: OptionRule = [isText, 'the name of a bus of the profile'];
export const SWITCH_RULE: OptionRule = [(value) => typeof value === 'boolean', 'true or false'];

/** @throws VigieError `usage.wrong` for an option not in `known`, with a suggestion; `before`: path of the options */
export function checkNames(given: object, known: object, before: string): void {
  for (const name of Object.keys(given)) {
    if (Object.hasOwn(known, name)) continue;
    const names = Object.keys(known);
    throw wrong(before + name, `unknown option; ${suggestion(name, names) ?? `known: ${names.join(', ')}`}`);
  }
}

/**
 * Checks the options of a function, all of which may be omitted.
 * @throws VigieError `usage.wrong` for the first unknown or invalid option, with its path in `where`
 */
export function checkFields(given: unknown, rules: Readonly<Record<string, OptionRule>>, of: string): void {
  if (!isFields(given) || Array.isArray(given)) {
    throw wrong(of, `the options must be an object with ${Object.keys(rules).join(', ')}`);
  }
  checkNames(given, rules, `${of}.`);
  for (const [name, rule] of Object.entries(rules)) {
    if (given[name] !== undefined) checkValue(given[name], rule, `${of}.${name}`);
  }
}

/** @throws VigieError `usage.wrong` for an invalid value */
export function checkValue(value: unknown, [fits, expected]: OptionRule, where: string): void {
  if (!fits(value)) throw wrong(where, `must be ${expected}`);
}

/** @throws VigieError `usage.wrong` for the first unknown setting of a group, or the first invalid number in it */
export function checkNumbers(values: unknown, group: SettingGroup, at: string): void {
  if (!isFields(values)) throw wrong(at, 'must be an object of numbers');
  checkNames(values, group, `${at}.`);
  for (const [name, setting] of Object.entries(group)) {
    const value = values[name];
    const fault = value === undefined ? undefined : numberFault(setting, value);
    if (fault !== undefined) throw wrong(`${at}.${name}`, fault);
  }
}

function numberFault({ kind, form, range, whole }: NumberSetting, value: unknown): string | undefined {
  if (typeof value !== 'number' || !Number.isFinite(value)) {
    return `must be a number${kind === 'time' ? ' of milliseconds' : kind === 'size' ? ' of bytes' : ''}`;
  }
  // A time or size of zero is valid only if the setting's form permits it.
  const least = form?.minimum ?? (kind === 'number' ? undefined : 1);
  if (least !== undefined && value < least) return `must be at least ${least}`;
  if (form?.exclusiveMinimum !== undefined && value <= form.exclusiveMinimum)
    return `must be more than ${form.exclusiveMinimum}`;
  if (form?.maximum !== undefined && value > form.maximum) return `must be at most ${form.maximum}`;
  if ((whole || kind !== 'number') && !Number.isInteger(value)) return 'must be a whole number';
  if (range === undefined) return undefined;
  const { least: low = value, most = value, step = 1, fault } = range;
  return value < low || value > most || value % step !== 0 ? fault : undefined;
}

export function wrong(where: string, message: string): VigieError {
  return new VigieError('usage.wrong', message, { where });
}
