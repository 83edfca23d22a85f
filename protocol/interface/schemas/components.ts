/** Moves schemas with a title to the components of a document, and replaces them by references. */
import { mapParts, partsOf } from '../../schema/walk.ts';
import type { Side } from '../operation.ts';
import type { JsonSchema } from './json.ts';

interface Variant {
  readonly content: string;
  readonly schema: JsonSchema;
  readonly sides: Set<Side>;
}

const sideNames: Readonly<Record<Side, string>> = { fleet: 'Fleet', user: 'User' };

/**
 * Schemas by name. The name is the title; if the sides differ, the side and the title. The use of a schema, not the
 * component, marks a field as deprecated.
 */
export class Components {
  readonly #variants = new Map<string, Variant[]>();

  /** Adds a schema of one side with all nested schemas. Add every schema before using any. */
  add(schema: JsonSchema, side: Side): void {
    for (const part of partsOf(schema)) this.add(part, side);
    const { title } = schema;
    if (title === undefined) return;
    const content = contentOf(schema);
    const known = this.#variants.get(title) ?? [];
    this.#variants.set(title, known);
    const same = known.find((variant) => variant.content === content);
    if (same !== undefined) same.sides.add(side);
    else known.push({ content, schema, sides: new Set([side]) });
  }

  /** Returns the schema for the document: a reference if it has a title. */
  use(schema: JsonSchema, side: Side): object {
    if (schema.title === undefined) return this.#inline(schema, side);
    const reference = { $ref: `#/components/schemas/${this.#name(schema, schema.title, side)}` };
    return schema.deprecated === true ? { ...reference, deprecated: true } : reference;
  }

  /** All schemas by name, in alphabetical order. */
  get all(): Readonly<Record<string, object>> {
    const named = [...this.#variants].flatMap(([title, variants]) =>
      variants.map(({ schema, sides }) => {
        const [side = 'fleet'] = sides;
        const { title: _, deprecated: __, ...rest } = schema;
        return [this.#name(schema, title, side), this.#inline(rest, side)] as const;
      }),
    );
    return Object.fromEntries(named.toSorted(([a], [b]) => (a < b ? -1 : 1)));
  }

  #inline(schema: JsonSchema, side: Side): object {
    return mapParts(schema, (part) => this.use(part, side) as JsonSchema);
  }

  #name(schema: JsonSchema, title: string, side: Side): string {
    const variants = this.#variants.get(title) ?? [];
    if (variants.length < 2) return title;
    const content = contentOf(schema);
    const ours = variants.filter((variant) => variant.sides.has(side));
    // Further variants of a side have their position in their names.
    const place = ours.findIndex((variant) => variant.content === content);
    return `${sideNames[side]}${title.slice(0, 1).toUpperCase()}${title.slice(1)}${place > 0 ? place + 1 : ''}`;
  }
}

function contentOf({ deprecated: _, ...schema }: JsonSchema): string {
  return JSON.stringify(schema);
}
