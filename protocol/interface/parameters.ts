/** Parses the parameters of a request, as its operation declares them. */
import { malformed } from '../schema/monitor/input.ts';
import type { Operation, Parameter } from './operation.ts';
import { readPeriods } from './parameters/periods.ts';
import { readValues } from './parameters/values.ts';

export { covers, type Period } from './parameters/periods.ts';

/** Inclusive bounds; without `max` there is no upper bound. `indexRange` counts from 0. */
export interface Range {
  readonly min: number;
  readonly max?: number;
}

/**
 * Returns the query parameters by name: numbers as numbers, lists as arrays, `timestamps` as readonly Period[],
 * `distance` (km), `duration` (s) and `indexRange` as {@link Range}. Omits those that were not sent, even if they
 * have a default, and ignores those that the operation does not have. `now` is UTC ms.
 * @throws VigieError `input.malformed` whose message starts with the parameter's name and contains the rule
 */
export function readQuery(
  operation: Operation,
  given: Iterable<readonly [string, string]>,
  now: number,
): Readonly<Record<string, unknown>> {
  const sent = new Map<string, string[]>();
  for (const [name, text] of given) {
    const texts = sent.get(name);
    if (texts === undefined) sent.set(name, [text]);
    else texts.push(text);
  }
  const values: Record<string, unknown> = {};
  for (const parameter of operation.parameters) {
    if (parameter.in !== 'query') continue;
    const texts = sent.get(parameter.name);
    if (texts !== undefined) values[parameter.name] = readParameter(parameter, texts, now);
    else if (parameter.required) throw missing(parameter);
  }
  return values;
}

/**
 * Returns the path parameters by name, from the decoded segments.
 * @throws VigieError `input.malformed` as {@link readQuery}
 */
export function readPath(
  operation: Operation,
  given: Readonly<Record<string, string | undefined>>,
): Readonly<Record<string, string>> {
  return readTexts(operation, 'path', (name) => given[name]);
}

/**
 * Returns the declared headers that were sent, by lower-case name. `header` returns a header by its lower-case name.
 * @throws VigieError `input.malformed` as {@link readQuery}
 */
export function readHeaders(
  operation: Operation,
  header: (name: string) => string | null | undefined,
): Readonly<Record<string, string>> {
  return readTexts(operation, 'header', (name) => header(name.toLowerCase()) ?? undefined);
}

function readTexts(
  operation: Operation,
  place: 'path' | 'header',
  given: (name: string) => string | undefined,
): Readonly<Record<string, string>> {
  const values: Record<string, string> = {};
  for (const parameter of operation.parameters) {
    if (parameter.in !== place) continue;
    const { name, schema, required } = parameter;
    const text = given(name);
    if (text !== undefined) {
      values[place === 'header' ? name.toLowerCase() : name] = readValues(name, schema, [text]) as string;
    } else if (required) throw missing(parameter);
  }
  return values;
}

function readParameter({ name, schema, form }: Parameter, texts: readonly string[], now: number): unknown {
  const value = readValues(name, schema, texts);
  if (form === 'periods') return readPeriods(value as readonly string[], now);
  return form === undefined ? value : readRange(name, value as string);
}

/** Returns the bounds of `min-max` or `min-`, whose form the schema has checked. */
function readRange(name: string, text: string): Range {
  const [min = '', max = ''] = text.split('-');
  const range = max === '' ? { min: Number(min) } : { min: Number(min), max: Number(max) };
  if (range.max !== undefined && range.max < range.min) {
    throw malformed(name, `must not end below where it begins, is ${text}`);
  }
  return range;
}

function missing({ name }: Parameter): Error {
  return malformed(name, 'is missing');
}
