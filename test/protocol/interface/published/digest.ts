/**
 * Reads the shared digest of the published interface into {@link Facts}. Each paragraph is an operation or a model.
 * Models are written as `## Name: type`, types as `{ members }`, `[items]`, `allOf(a + b)`, `oneOf(a + b)`, `@Name`,
 * `?` (unknown) or a JSON type with keywords. It is independent of the project's schemas.
 */

import { readFileSync } from 'node:fs';
import { defined } from '../../../../protocol/defined.ts';
import { sharedData } from '../../../shared.ts';
import type { Facts, Model, PublishedOperation, PublishedParameter } from './facts.ts';

const folder = `${sharedData}../reference/`;
const read = (name: string): string => readFileSync(folder + name, 'utf8');

/** @throws Error for any text that it cannot parse; it skips nothing */
export function readFacts(release: string): Facts {
  const text = read(`${release}.txt`);
  const enumerations = JSON.parse(read('enums.json')) as Record<string, Facts['enumerations']>;
  const listed = enumerations[release];
  if (listed === undefined) throw new Error(`there are no enumerations of ${release}`);
  return { operations: operationsOf(text), models: modelsOf(text), enumerations: listed };
}

function section(text: string, name: string): string[] {
  const [, rest = ''] = text.split(`=== ${name}\n`);
  return (rest.split('\n=== ')[0] ?? '').split('\n').filter((line) => line !== '');
}

function parametersOf(text: string): ReadonlyMap<string, PublishedParameter> {
  return new Map(
    section(text, 'parameters').map((line) => {
      const found = /^(\w+) (\w+):([\w-]*)(\*?):(.*)$/.exec(line);
      if (found === null) throw new Error(`no parameter: ${line}`);
      const [, key = '', place = '', name = '', star, type = ''] = found;
      return [key, { in: place, name, required: star === '*', schema: new Reader(type, key).whole() }];
    }),
  );
}

function operationsOf(text: string): PublishedOperation[] {
  const parameters = parametersOf(text);
  const responses = new Map(section(text, 'responses').map((line) => [line.slice(0, line.indexOf(' ')), line]));
  const blocks = (text.split('\n=== ')[0] ?? '').split(/\n(?=[A-Z]+ \/)/).slice(1);
  return blocks.map((block) => {
    const [, method = '', path = '', deprecated] = /^([A-Z]+) (\S+)( DEPRECATED)?/.exec(block) ?? [];
    const names = /params: (.*)/.exec(block)?.[1]?.match(/\w+/g) ?? [];
    const statuses = [...block.matchAll(/^ +(2\d\d) (.*)$/gm)];
    const answer = statuses[0]?.[2] ?? '';
    const described = answer.startsWith('@') ? responses.get(answer.slice(1)) : answer;
    if (described === undefined) throw new Error(`${method} ${path}: nothing is known of ${answer}`);
    const body = /body: .*'@(\w+)'/.exec(block)?.[1];
    const media = /'(application\/[^']*)'/.exec(described)?.[1]?.trim();
    const schema = /'(?:allOf\()?@(\w+)/.exec(described)?.[1];
    return {
      method,
      path,
      deprecated: deprecated !== undefined,
      scopes: [...(/scopes=(.*)/.exec(block)?.[1] ?? '').matchAll(/'([\w]+:[\w:]+)'/g)].map(([, scope]) => scope ?? ''),
      parameters: names.map((name) => {
        const parameter = parameters.get(name);
        if (parameter === undefined) throw new Error(`${method} ${path}: no parameter ${name}`);
        return parameter;
      }),
      ...defined({ body }),
      statuses: statuses.map(([, status]) => Number(status)),
      ...defined({ media, schema }),
    };
  });
}

function modelsOf(text: string): Record<string, Model> {
  const models: Record<string, Model> = {};
  for (const part of text.slice(text.indexOf('=== schemas')).split('\n## ').slice(1)) {
    const colon = part.indexOf(':');
    const name = part.slice(0, colon);
    models[name] = new Reader(part.slice(colon + 1).trim(), name).whole();
  }
  return models;
}

/** Parses a type. */
class Reader {
  readonly #text: string;
  readonly #name: string;
  #at = 0;

  constructor(text: string, name: string) {
    this.#text = text;
    this.#name = name;
  }

  whole(): Model {
    const model = this.#type();
    this.#match(/\s*/y);
    if (this.#at < this.#text.length) throw this.#fault('its end');
    return model;
  }

  #type(): Model {
    const parts = [this.#plain(), this.#keywords()];
    // Braces after allOf(…) belong to the same model.
    if (this.#match(/ ?(?=\{)/y)) parts.push(this.#plain(), this.#keywords());
    const words = parts.flatMap((part) => Object.keys(part));
    if (new Set(words).size < words.length) throw this.#fault('no keyword twice');
    return Object.assign({}, ...parts);
  }

  #plain(): Model {
    if (this.#match(/allOf\(/y)) return { allOf: this.#parts() };
    if (this.#match(/oneOf\(/y)) return { oneOf: this.#parts() };
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
    // JSON does not define how many bits a number has.
    return { type: type as 'string', ...(type === 'string' && format !== undefined ? { format } : {}) };
  }

  #parts(): Model[] {
    const parts = [this.#type()];
    while (this.#match(/ \+ /y)) parts.push(this.#type());
    this.#expect(/\)/y);
    return parts;
  }

  #object(): Model {
    const required = namesIn(this.#match(/ req-not-in-props=\[([^\]]*)\]/y)?.[1] ?? '');
    const properties: Record<string, Model> = {};
    for (;;) {
      this.#match(/\s*/y);
      if (this.#match(/\}/y)) return { type: 'object', properties, required };
      const [, name = '', star] = this.#expect(/(\w+)(\*?): /y);
      if (star === '*') required.push(name);
      properties[name] = this.#type();
    }
  }

  #keywords(): Model {
    const words: Record<string, unknown> = {};
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
      if (name === 'deprecated') continue;
      if (value.startsWith("'")) words[name] = value.slice(1, -1).replaceAll('\\\\', '\\');
      else if (value === 'True' || value === 'False') words[name] = value === 'True';
      else if (Number.isFinite(Number(value))) words[name] = Number(value);
      else throw this.#fault(`a value of ${name}`);
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

function namesIn(list: string): string[] {
  return Array.from(list.matchAll(/'([^']*)'/g), ([, name]) => name as string);
}

const symbols: Readonly<Record<string, string>> = { '=': 'equalsTo', '>': 'greaterThan', '<': 'lowerThan' };

/** From sentences in interface.md §3 such as `onChange/equalsTo: a.b, c.d/e (note).` */
export function readOperatorsByData(): Record<string, readonly string[]> {
  const paragraph = /^ +Number ops [\s\S]*?(?=^- )/m.exec(read('interface.md'))?.[0] ?? '';
  const sentences = paragraph.matchAll(/([A-Za-z/]+(?: only| ops \([^)]*\))?): ((?:[^.:]|\.(?! |$|\n))+)\.(?= |$|\n)/g);
  const found: Record<string, readonly string[]> = {};
  for (const [, head = '', list = ''] of sentences) {
    const operators = head.startsWith('Number')
      ? [...(/\(([^)]*)\)/.exec(head)?.[1] ?? '')].flatMap((symbol) => symbols[symbol] ?? [])
      : head.replace(' only', '').split('/');
    for (const entry of list.replaceAll(/ ?\([^)]*\)/g, '').split(',')) {
      // `energy.fuel.level/autonomy` means two names that differ in the last part.
      const [first = '', ...others] = entry.trim().split('/');
      const stem = first.slice(0, first.lastIndexOf('.') + 1);
      for (const name of [first, ...others.map((other) => stem + other)]) {
        found[name.replace(/^vehicle\./, '')] = operators;
      }
    }
  }
  return found;
}

/** From brief.md: numbers of entries for each resource of part 2, for the states of part 3, and for part 8. */
export function readRequestedEntries(): Record<string, number> {
  const brief = read('brief.md');
  const part = (number: number): string => brief.split(/^## /m).find((text) => text.startsWith(`${number}. `)) ?? '';
  const entries = (text: string): number => text.split('\n').filter((line) => line.startsWith('- ')).length;
  const found: Record<string, number> = {};
  for (const resource of part(2).split(/^### /m).slice(1)) {
    const title = resource.split('\n')[0]?.replace(/ \(.*\)$/, '') ?? '';
    found[`2 ${title}`] = entries(resource);
  }
  const states = part(3)
    .split('\n')
    .filter((line) => line.startsWith('| '));
  found['3 States'] = states.length - 1;
  found['8 Limits'] = entries(part(8));
  return found;
}
