/**
 * The published interface as validators: its digest (one operation or schema a paragraph, in a notation of its own) read
 * into JSON Schema by a reader that knows nothing of the project's schemas.
 */
import { existsSync, readFileSync } from 'node:fs';
import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js';
import type { Side } from '../../../../protocol/interface/operation.ts';
import { describeNeeding } from '../../../needs.ts';
import { sharedData } from '../../../shared.ts';

const folder = `${sharedData}../reference/`;
const files: Readonly<Record<Side, string>> = { fleet: 'fleet-3.19.2.txt', user: 'user-4.17.2.txt' };

/** `describe` for suites that read the digest. */
export function describeReference(name: string, suite: () => void): void {
  describeNeeding(existsSync(folder), `${folder} is not there`, name, suite);
}

type Schema = Record<string, unknown>;

/** Operations of the user line that the digest leaves out; its schemas have their answers. */
const omitted: Readonly<Record<string, string>> = {
  'GET /user/vehicles/{id}/trips': 'Trips',
  'GET /user/vehicles/{id}/trips/{tid}': 'Trip',
  'GET /user/vehicles/{id}/trips/{tid}/alerts': 'Alerts',
  'GET /user/vehicles/{id}/trips/{tid}/alerts/{aid}': 'Alert',
  'GET /user/vehicles/{id}/trips/{tid}/collisions': 'Collisions',
  'GET /user/vehicles/{id}/trips/{tid}/collisions/{cid}': 'Collision',
  'GET /user/vehicles/{id}/trips/{tid}/wayPoints': 'WayPoints',
  'GET /user/vehicles/{id}/trips/{tid}/telemetry': 'Telemetries',
};

/** The answers of one line, as published. */
export class Reference {
  readonly #ajv = new Ajv2020({ strict: false, allErrors: true });
  readonly #answers = new Map<string, string>();
  readonly #validators = new Map<string, ValidateFunction>();
  /** The published models as JSON Schema, by name. */
  readonly definitions: Readonly<Record<string, object>>;

  constructor(side: Side) {
    const text = readFileSync(`${folder}${files[side]}`, 'utf8');
    const $defs = definitionsOf(text);
    this.definitions = $defs as Readonly<Record<string, object>>;
    this.#ajv.addFormat('date-time', /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d:\d\d)$/);
    this.#ajv.addSchema({ $id: 'reference', $defs });
    for (const [operation, answer] of answersOf(text)) this.#answers.set(operation, answer);
    if (side === 'user') for (const [operation, name] of Object.entries(omitted)) this.#answers.set(operation, name);
  }

  /** Operations that answer with a body, e.g. `GET /fleets/{fid}`. */
  get operations(): readonly string[] {
    return [...this.#answers.keys()];
  }

  /** The name of the model of an operation's answer. */
  answerOf(operation: string): string | undefined {
    return this.#answers.get(operation);
  }

  /** What is wrong with the answer of an operation; empty: it is as published. Entries of lists are not told apart. */
  faults(operation: string, body: unknown): string[] {
    const name = this.#answers.get(operation);
    if (name === undefined) return [`the interface has no ${operation} that answers with a body`];
    const validate = this.validator(name);
    if (validate(body)) return [];
    const faults = (validate.errors ?? []).map(({ instancePath, message }) => {
      return `${name}${instancePath.replace(/\/\d+/g, '/*')} ${message}`;
    });
    return [...new Set(faults)];
  }

  /** The validator of one published schema. */
  validator(name: string): ValidateFunction {
    const validate = this.#validators.get(name) ?? this.#ajv.compile({ $ref: `reference#/$defs/${name}` });
    this.#validators.set(name, validate);
    return validate;
  }
}

/** Operation to the name of the schema of its answer. */
function answersOf(text: string): Map<string, string> {
  const named = new Map<string, string>();
  for (const [, name, schema] of text.matchAll(/^(\w+) \{'application\/[\w.+-]+ ?': '@(\w+)'\}$/gm)) {
    named.set(name as string, schema as string);
  }
  const found = new Map<string, string>();
  let operation = '';
  for (const line of text.slice(0, text.indexOf('=== securitySchemes')).split('\n')) {
    const head = /^(GET|POST|PUT|DELETE) (\S+)/.exec(line);
    if (head !== null) operation = `${head[1]} ${head[2]}`;
    const answer = /^ {4}20\d (?:@(\w+)|\{'[^']*': '(?:allOf\()?@(\w+)\)?'\})$/.exec(line);
    if (answer === null) continue;
    const schema = answer[2] ?? named.get(answer[1] as string);
    if (schema === undefined) throw new Error(`${operation}: nothing is known of ${answer[1]}`);
    found.set(operation, schema);
  }
  return found;
}

function definitionsOf(text: string): Schema {
  const $defs: Schema = {};
  for (const part of text.slice(text.indexOf('=== schemas')).split('\n## ').slice(1)) {
    const colon = part.indexOf(':');
    const name = part.slice(0, colon);
    $defs[name] = new Reader(part.slice(colon + 1).trim(), name).whole();
  }
  return $defs;
}

/** Reads one type. */
class Reader {
  readonly #text: string;
  readonly #name: string;
  #at = 0;

  constructor(text: string, name: string) {
    this.#text = text;
    this.#name = name;
  }

  whole(): Schema {
    const schema = this.#type();
    this.#match(/\s*/y);
    if (this.#at < this.#text.length) throw this.#fault('its end');
    return schema;
  }

  #type(): Schema {
    const parts = [this.#plain(), this.#keywords()];
    // What follows allOf(…) in braces belongs to the same schema.
    if (this.#match(/ ?(?=\{)/y)) parts.push(this.#plain(), this.#keywords());
    const known = parts.filter((part) => Object.keys(part).length > 0);
    const [only] = known;
    if (known.length <= 1) return only ?? {};
    const words = known.flatMap((part) => Object.keys(part));
    return new Set(words).size === words.length ? Object.assign({}, ...known) : { allOf: known };
  }

  #plain(): Schema {
    if (this.#match(/allOf\(/y)) return { allOf: this.#parts() };
    // Both branches of the published oneOf are strings, of which every variable matches two.
    if (this.#match(/oneOf\(/y)) return { anyOf: this.#parts() };
    if (this.#match(/\{/y)) return this.#object();
    if (this.#match(/\[/y)) {
      const items = this.#type();
      this.#expect(/\]/y);
      return { type: 'array', items };
    }
    if (this.#match(/\?/y)) return {};
    const reference = this.#match(/@(\w+)/y)?.[1];
    if (reference !== undefined) return { $ref: `#/$defs/${reference}` };
    const [, type, format] =
      this.#match(/(string|integer|number|boolean)(?:\/((?:\[[^\]]*\]|\([^)]*\)|[\w?-])+))?/y) ?? [];
    if (type === undefined) return {};
    if (type !== 'string' || format === undefined) return { type };
    return format === 'date-time' ? { type, format } : { type, pattern: format };
  }

  #parts(): Schema[] {
    const parts = [this.#type()];
    while (this.#match(/ \+ /y)) parts.push(this.#type());
    this.#expect(/\)/y);
    return parts;
  }

  #object(): Schema {
    const listed = this.#match(/ req-not-in-props=\[([^\]]*)\]/y)?.[1] ?? '';
    // Required of the vehicle read by its VIN although it is gone: the release notes say that it has none.
    const required = this.#name === 'VehicleCapabilities' ? [] : namesIn(listed);
    const properties: Schema = {};
    for (;;) {
      this.#match(/\s*/y);
      if (this.#match(/\}/y)) return { type: 'object', properties, required };
      const [, name, star] = this.#expect(/(\w+)(\*?): /y);
      if (star === '*') required.push(name as string);
      properties[name as string] = this.#type();
    }
  }

  #keywords(): Schema {
    const words: Schema = {};
    for (;;) {
      const names = this.#match(/ ?enum\[([^\]]*)\]/y);
      if (names !== null) {
        words['enum'] = namesIn(names[1] as string);
        continue;
      }
      const word = this.#match(
        / ?(minimum|maximum|minItems|maxItems|pattern|default|deprecated)=('(?:[^'])*'|[\w.-]+)/y,
      );
      if (word === null) return words;
      const [, name = '', value = ''] = word;
      if (name === 'pattern') words['pattern'] = patternOf(value.slice(1, -1).replaceAll('\\\\', '\\'));
      else if (name !== 'default' && name !== 'deprecated') words[name] = Number(value);
    }
  }

  #match(pattern: RegExp): RegExpExecArray | null {
    pattern.lastIndex = this.#at;
    const match = pattern.exec(this.#text);
    if (match !== null) this.#at = pattern.lastIndex;
    return match;
  }

  #expect(pattern: RegExp): RegExpExecArray {
    const match = this.#match(pattern);
    if (match === null) throw this.#fault(String(pattern));
    return match;
  }

  #fault(expected: string): Error {
    return new Error(`${this.#name}: expected ${expected} before ${this.#text.slice(this.#at, this.#at + 60)}`);
  }
}

/** The published pattern of the names of triggers has quotes in it, which no name has. */
function patternOf(pattern: string): string {
  return pattern.startsWith('"') ? '^[a-zA-Z]+[._-]?[0-9]*$' : pattern;
}

function namesIn(list: string): string[] {
  return Array.from(list.matchAll(/'([^']*)'/g), ([, name]) => name as string);
}
