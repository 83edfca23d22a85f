/** Converts errors of a generated validator to findings, each with the line, a sentence and the fix. */

import { suggestion } from '../protocol/nearest.ts';
import { partAt } from '../protocol/schema/walk.ts';
import { type Findings, pointer } from './findings.ts';
import type { SchemaFault, Validator } from './validator.ts';

interface Schema {
  readonly properties?: Readonly<Record<string, Schema>>;
  /** `false` if the object allows no other fields. A fault then never refers to another field. */
  readonly additionalProperties?: Schema;
  readonly propertyNames?: Schema;
  readonly items?: Schema;
  readonly minimum?: number;
  readonly exclusiveMinimum?: number;
  readonly maximum?: number;
  readonly minItems?: number;
  readonly 'x-expected'?: string;
}

/**
 * Checks the form of `data` and reports every fault.
 * @returns false if `data` has another format version, so that no further checks are possible
 */
export function checkForm(data: unknown, validator: Validator, schema: object, findings: Findings): boolean {
  if (validator(data)) return true;
  const all = validator.errors ?? [];
  // A version that is not a whole number is a typo: the rest of the data is worth checking.
  const slips = new Set(all.filter((fault) => fault.keyword === 'type').map((fault) => fault.instancePath));
  const faults = all.filter((fault) => fault.keyword !== 'const' || !slips.has(fault.instancePath));
  const version = faults.find((fault) => fault.keyword === 'const');
  if (version !== undefined) {
    const { allowedValue } = version.params;
    findings.error(
      version.instancePath,
      `format ${show(valueAt(data, version.instancePath))} is not one that this version of Vigie reads`,
      `write ${version.instancePath.slice(1)}: ${String(allowedValue)}, or use the version of Vigie it was made for`,
    );
    return false;
  }
  for (const fault of faults) report(fault, data, schema, findings);
  return true;
}

function report(fault: SchemaFault, data: unknown, schema: object, findings: Findings): void {
  const { instancePath: at, keyword, params } = fault;
  const around = schemaOf(fault, data, schema);
  if (keyword === 'additionalProperties') {
    const name = String(params['additionalProperty']);
    const known = Object.keys(around.properties ?? {});
    const fix = suggestion(name, known) ?? `known here: ${known.join(', ')}`;
    findings.error(at + pointer(name), `unknown member ${quoted(name)}`, fix);
    return;
  }
  if (keyword === 'required') {
    findings.distrust(at);
    findings.error(
      at,
      `${at === '' ? '' : `${nameOf(at, data)}: `}member ${quoted(String(params['missingProperty']))} is missing`,
    );
    return;
  }
  if (keyword === 'propertyNames') {
    // The separate error about the name contains the schema, and is reported instead.
    return;
  }
  if (fault.propertyName !== undefined) {
    const place = at + pointer(fault.propertyName);
    findings.distrust(place);
    findings.error(place, `${quoted(fault.propertyName)} must be ${around['x-expected'] ?? 'another name'}`);
    return;
  }
  findings.distrust(at);
  const value = valueAt(data, at);
  const subject = at === '' ? 'the document' : nameOf(at, data);
  if (keyword === 'minItems' && around.minItems === 1) findings.error(at, `${subject} must not be an empty list`);
  else
    findings.error(
      at,
      `${subject} must be ${expected(keyword, around)}, not ${show(value)}`,
      hint(value, keyword, params),
    );
}

function expected(keyword: string, around: Schema): string {
  const words = around['x-expected'] ?? 'of another form';
  if (keyword === 'minimum') return `${words}, at least ${around.minimum}`;
  if (keyword === 'exclusiveMinimum') return `${words}, more than ${around.exclusiveMinimum}`;
  if (keyword === 'maximum') return `${words}, at most ${around.maximum}`;
  return words;
}

/** Words that YAML 1.2 (clause 10.3.2) parses as text but that people write for true or false. */
const TRUTHS: Readonly<Record<string, boolean>> = {
  true: true,
  yes: true,
  on: true,
  y: true,
  false: false,
  no: false,
  off: false,
  n: false,
};

function hint(value: unknown, keyword: string, params: SchemaFault['params']): string | undefined {
  if (keyword === 'type') {
    const wanted = String(params['type']);
    if (wanted === 'string' && typeof value === 'number') return 'put it in quotes: YAML reads it as a number';
    if (wanted === 'string' && typeof value === 'boolean') return 'put it in quotes';
    const truth = wanted === 'boolean' && typeof value === 'string' ? TRUTHS[value.toLowerCase()] : undefined;
    if (truth !== undefined) return `write ${truth} without quotes`;
    if (/number|integer|boolean/.test(wanted) && typeof value === 'string')
      return 'take it out of quotes if it is in quotes';
    if (value === null) return 'give it a value or remove it';
  }
  if (keyword === 'enum' && typeof value === 'string') {
    const allowed = (params['allowedValues'] as readonly unknown[]).map(String);
    return suggestion(value, allowed);
  }
  return undefined;
}

/** Formats a value for a sentence: shortens long values, and removes credentials from addresses. */
export function show(value: unknown): string {
  if (value === null || value === undefined) return 'empty';
  if (Array.isArray(value)) return 'a list';
  if (typeof value === 'object') return 'a map';
  if (typeof value === 'string') return quoted(value.replace(/\/\/[^/\s]*@/, '//…@'));
  return String(value);
}

/** Quotes a string: makes control characters visible, and shortens it to a readable length. */
export function quoted(value: string): string {
  return JSON.stringify(value.length > 120 ? `${value.slice(0, 120)}…` : value);
}

function nameOf(at: string, data: unknown): string {
  const end = at.lastIndexOf('/');
  const step = unescaped(at.slice(end + 1));
  if (!Array.isArray(valueAt(data, at.slice(0, end)))) return step.replaceAll(/\p{Cc}/gu, '?');
  return `${end === 0 ? '' : `${nameOf(at.slice(0, end), data)}, `}entry ${Number(step) + 1}`;
}

function unescaped(step: string): string {
  return step.replaceAll('~1', '/').replaceAll('~0', '~');
}

/**
 * Returns the schema that contains the failed keyword. The schemas of files that people write have no alternatives
 * (fields.ts), so the position of a value determines its schema. The position of the keyword in the validator does not,
 * because the validator checks equal subschemas with the same function.
 */
function schemaOf({ instancePath, propertyName }: SchemaFault, data: unknown, schema: object): Schema {
  let found: Schema | undefined = schema;
  let value = data;
  for (const escaped of instancePath.split('/').slice(1)) {
    const step = unescaped(escaped);
    found = partAt(found, value, step);
    value = (value as Record<string, unknown> | null | undefined)?.[step];
  }
  return (propertyName === undefined ? found : found?.propertyNames) ?? {};
}

function valueAt(data: unknown, at: string): unknown {
  let found = data;
  for (const step of at.split('/').slice(1)) {
    found = (found as Record<string, unknown> | null | undefined)?.[unescaped(step)];
  }
  return found;
}
