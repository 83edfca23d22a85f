/** Parses a parameter according to its schema: strings become numbers and lists, and each fault names the rule. */
import { malformed } from '../../schema/monitor/input.ts';

/** Keywords that the schemas of parameters use. */
interface ValueSchema {
  readonly type: 'string' | 'integer' | 'number' | 'array';
  readonly enum?: readonly string[];
  readonly pattern?: string;
  readonly minLength?: number;
  readonly maxLength?: number;
  readonly minimum?: number;
  readonly maximum?: number;
  readonly items?: ValueSchema;
  readonly minItems?: number;
  readonly maxItems?: number;
}

const patterns = new Map<string, RegExp>();

/** Parses the strings of a parameter. @throws VigieError `input.malformed` naming the parameter and the rule */
export function readValues(name: string, schema: object, texts: readonly string[]): unknown {
  const rules = schema as ValueSchema;
  if (rules.type === 'array') return readList(name, rules, texts);
  const [text = '', ...others] = texts;
  if (others.length > 0) throw malformed(name, `must be given once, is given ${texts.length} times`);
  return readValue(name, rules, text);
}

function readList(name: string, { items, minItems = 0, maxItems = Infinity }: ValueSchema, texts: readonly string[]) {
  const parts = texts.flatMap((text) => text.split(','));
  if (parts.length < minItems || parts.length > maxItems) {
    throw malformed(name, `must have ${minItems} to ${maxItems} values, has ${parts.length}`);
  }
  return items === undefined ? parts : parts.map((part) => readValue(name, items, part));
}

function readValue(name: string, schema: ValueSchema, text: string): string | number {
  switch (schema.type) {
    case 'integer':
      return within(name, schema, text, /^-?\d{1,15}$/, 'a whole number');
    case 'number':
      return within(name, schema, text, /^-?\d{1,15}(\.\d{1,15})?$/, 'a number');
    default:
      return readText(name, schema, text);
  }
}

function within(name: string, schema: ValueSchema, text: string, form: RegExp, what: string): number {
  const { minimum = Number.NEGATIVE_INFINITY, maximum = Number.POSITIVE_INFINITY } = schema;
  const value = form.test(text) ? Number(text) : Number.NaN;
  if (value >= minimum && value <= maximum) return value;
  throw malformed(name, `must be ${what} from ${minimum} to ${maximum}, is ${shown(text)}`);
}

function readText(name: string, schema: ValueSchema, text: string): string {
  const { minLength = 0, maxLength = Infinity, pattern } = schema;
  if (schema.enum !== undefined) {
    if (schema.enum.includes(text)) return text;
    throw malformed(name, `must be one of ${schema.enum.join(', ')}, is ${shown(text)}`);
  }
  const length = Array.from(text).length;
  if (length < minLength || length > maxLength) {
    throw malformed(name, `must have ${minLength} to ${maxLength} characters, has ${length}`);
  }
  if (pattern !== undefined && !compiled(pattern).test(text)) {
    throw malformed(name, `must match ${pattern}, is ${shown(text)}`);
  }
  return text;
}

function compiled(pattern: string): RegExp {
  let found = patterns.get(pattern);
  if (found === undefined) {
    found = new RegExp(pattern, 'u');
    patterns.set(pattern, found);
  }
  return found;
}

/** Shortens a received string for an error message. */
function shown(text: string): string {
  return JSON.stringify(text.length > 80 ? `${text.slice(0, 80)}…` : text);
}
