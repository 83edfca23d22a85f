/**
 * Reads the digest of the published interface that lies beside the test data: one `## Name: type` a schema, types
 * written as `{ members }`, `[items]`, `allOf(a + b)`, `@Name`, `?` (nothing known) or a JSON type with keywords.
 */
import { existsSync, readFileSync } from 'node:fs';
import { describeNeeding } from '../../needs.ts';
import { sharedData } from '../../shared.ts';

const folder = `${sharedData}../reference/`;

export interface Published {
  /** Name in enums.json, e.g. `BaseSafety.autoECallTriggering`. */
  readonly key: string;
  readonly type: string | undefined;
  readonly members: ReadonlyMap<string, { readonly required: boolean; readonly schema: Published }>;
  readonly items: Published | undefined;
  readonly values: readonly string[] | undefined;
  readonly minimum: number | undefined;
  readonly maximum: number | undefined;
}

/** `describe` for suites that read the digest; its absence is a failure where CI=true. */
export function describeReference(name: string, suite: () => void): void {
  describeNeeding(existsSync(folder), `${folder} is not there`, name, suite);
}

export function publishedEnumerations(release: string): Record<string, string[]> {
  return JSON.parse(readFileSync(`${folder}enums.json`, 'utf8'))[release];
}

/** One schema of a release such as `fleet-3.19.2`, its references resolved. */
export function published(release: string, name: string): Published {
  const text = readFileSync(`${folder}${release}.txt`, 'utf8');
  const definitions = new Map<string, string>();
  for (const part of text.slice(text.indexOf('=== schemas')).split('\n## ').slice(1)) {
    const colon = part.indexOf(':');
    definitions.set(part.slice(0, colon), part.slice(colon + 1).trim());
  }
  const definition = definitions.get(name);
  if (definition === undefined) throw new Error(`${release} has no schema ${name}`);
  return new Reader(definition, definitions).whole(name);
}

const nothing = (key: string): Published => ({
  key,
  type: undefined,
  members: new Map(),
  items: undefined,
  values: undefined,
  minimum: undefined,
  maximum: undefined,
});

class Reader {
  #at = 0;
  readonly #text: string;
  readonly #definitions: ReadonlyMap<string, string>;

  constructor(text: string, definitions: ReadonlyMap<string, string>) {
    this.#text = text;
    this.#definitions = definitions;
  }

  whole(key: string): Published {
    const result = this.#type(key);
    this.#match(/\s*/y);
    if (this.#at !== this.#text.length) throw new Error(`${key}: not understood: ${this.#text.slice(this.#at)}`);
    return result;
  }

  #type(key: string): Published {
    const result = this.#plain(key);
    const keywords = this.#keywords();
    // A block after allOf(…) belongs to the same schema.
    const block = this.#text.startsWith('{', this.#at) ? this.#type(key) : nothing(key);
    return merge(key, [result, { ...nothing(key), ...keywords }, block]);
  }

  #plain(key: string): Published {
    if (this.#match(/allOf\(/y)) return merge(key, this.#parts(`${key}.allOf`));
    if (this.#match(/oneOf\(/y)) {
      this.#parts(`${key}.oneOf`);
      return nothing(key);
    }
    if (this.#match(/\{/y)) return { ...nothing(key), type: 'object', members: this.#members(key) };
    if (this.#match(/\[/y)) {
      const items = this.#type(key);
      this.#expect(/\]/y);
      return { ...nothing(key), type: 'array', items };
    }
    if (this.#match(/\?/y)) return nothing(key);
    const reference = this.#match(/@(\w+)/y)?.[1];
    if (reference !== undefined) {
      const definition = this.#definitions.get(reference);
      if (definition === undefined) throw new Error(`${key}: no schema ${reference}`);
      return new Reader(definition, this.#definitions).whole(reference);
    }
    const type = this.#match(
      /string\/date-time|string\/\[\S*(?=\])|string\/\S+|(?:string|integer|number|boolean)\b(?:\/\w+)?/y,
    )?.[0];
    return type === undefined ? nothing(key) : { ...nothing(key), type: type.replace(/^number\/.*/, 'number') };
  }

  #parts(key: string): Published[] {
    const parts = [this.#type(key)];
    while (this.#match(/ \+ /y)) {
      // `deprecated=True` may stand where a part is expected.
      parts.push(this.#type(key));
    }
    this.#expect(/\)/y);
    return parts;
  }

  #members(key: string): Published['members'] {
    const members = new Map<string, { required: boolean; schema: Published }>();
    this.#match(/ req-not-in-props=\[[^\]]*\]/y);
    for (;;) {
      this.#match(/\s*/y);
      if (this.#match(/\}/y)) return members;
      const [, name, star] = this.#expect(/(\w+)(\*?): /y);
      members.set(name as string, { required: star === '*', schema: this.#type(`${key}.${name}`) });
    }
  }

  #keywords(): Partial<Published> {
    const found: { values?: string[]; minimum?: number; maximum?: number } = {};
    for (;;) {
      const values = this.#match(/ ?enum\[([^\]]*)\]/y);
      if (values) {
        found.values = [...(values[1] as string).matchAll(/'([^']*)'/g)].map((value) => value[1] as string);
        continue;
      }
      const bound = this.#match(/ (minimum|maximum)=(-?[\d.]+)/y);
      if (bound) found[bound[1] as 'minimum' | 'maximum'] = Number(bound[2]);
      else if (
        !this.#match(/ ?(?:deprecated=True|(?:default|pattern|minItems|maxItems)=(?:'[^']*'|[\w.]+))| (?=\{)/y)
      ) {
        return found;
      }
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
    if (match === null) throw new Error(`expected ${pattern} before ${this.#text.slice(this.#at, this.#at + 60)}`);
    return match;
  }
}

function merge(key: string, parts: readonly Published[]): Published {
  const values = parts.find((part) => part.values !== undefined);
  return {
    key: values?.key ?? key,
    type: parts.find((part) => part.type !== undefined)?.type,
    members: new Map(parts.flatMap((part) => [...part.members])),
    items: parts.find((part) => part.items !== undefined)?.items,
    values: values?.values,
    minimum: parts.find((part) => part.minimum !== undefined)?.minimum,
    maximum: parts.find((part) => part.maximum !== undefined)?.maximum,
  };
}
