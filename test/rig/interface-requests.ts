/**
 * Requests generated from the OpenAPI document alone, by a careless, mistaken or hostile client: valid values, wrong
 * types, texts that are too long, all of Unicode, repeated and unknown parameters, every method.
 */
import fc from 'fast-check';
import type { DocumentOperation, DocumentParameter, DocumentSchema, InterfaceDocument } from './interface-document.ts';

export interface DocumentedRequest {
  /** As in the document. */
  readonly path: string;
  readonly operation: DocumentOperation;
  readonly method: string;
  /** Path and query as sent. */
  readonly address: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string | undefined;
}

/** Resources that requests can refer to. */
export interface Known {
  /** Existing ids, by the path of an operation and the name of a parameter. */
  ids(path: string, name: string): readonly string[];
  /** Valid values by name of member or parameter, where the document cannot express them. */
  readonly members: Readonly<Record<string, readonly unknown[]>>;
  /** Valid bodies of an operation. */
  bodies(path: string, method: string): readonly object[];
}

/** Texts as sent by faulty programs. */
const junk = fc.oneof(
  fc.string({ unit: 'grapheme', maxLength: 30 }),
  fc.string({ unit: 'binary', maxLength: 30 }),
  fc.constantFrom('', '0', '-1', '1e309', 'NaN', 'null', 'true', '[]', '{}', '../..', '%', '%00', '%zz', '\u0000'),
  fc.constantFrom('ÿ', '💥', '\u202e', 'ｆ', "' or 1=1 --", '$' + '{x}', '9'.repeat(400)),
  fc.integer().map(String),
  fc.integer({ min: 100, max: 20_000 }).map((length) => 'x'.repeat(length)),
);

/** Encoded properly, or not at all where the wire allows it. */
const written = fc.tuple(junk, fc.boolean()).map(([value, encoded]) => {
  const safe = encodeURIComponent(value.replace(/\p{Surrogate}/gu, '?'));
  return encoded || !/^[\x21\x24-\x3e\x41-\x7e]*$/.test(value) ? safe : value;
});

const methods = ['GET', 'HEAD', 'POST', 'PUT', 'DELETE', 'PATCH', 'OPTIONS', 'TRACE'];
const header = fc.string({ unit: fc.constantFrom(...'abz09 ,;=*/+.-_"q'), maxLength: 30 });

/** Values that a schema accepts, as far as it states. Deeper than `depth` only required members. */
class Values {
  readonly #document: InterfaceDocument;
  readonly #known: Known;

  constructor(document: InterfaceDocument, known: Known) {
    this.#document = document;
    this.#known = known;
  }

  of(given: DocumentSchema, name: string, depth = 6): fc.Arbitrary<unknown> {
    const schema = given.$ref === undefined ? given : this.#document.resolve<DocumentSchema>(given.$ref);
    const known = this.#known.members[name];
    if (known !== undefined) return fc.constantFrom(...known);
    if (schema.enum !== undefined) return fc.constantFrom(...schema.enum);
    switch (schema.type) {
      case 'object':
        return this.#object(schema, depth);
      case 'array': {
        const { minItems = 0, maxItems = minItems + 3, items = {} } = schema;
        return fc.array(this.of(items, name, depth - 1), {
          minLength: minItems,
          maxLength: Math.min(maxItems, minItems + 3),
        });
      }
      case 'boolean':
        return fc.boolean();
      case 'integer':
        return fc.integer({ min: Math.ceil(schema.minimum ?? -1e6), max: Math.floor(schema.maximum ?? 1e6) });
      case 'number':
        return fc.double({ min: schema.minimum ?? -1e6, max: schema.maximum ?? 1e6, noNaN: true });
      case 'string':
        return schema.format === 'date-time'
          ? fc.constantFrom('2026-03-10T08:00:00Z', '2026-03-10T08:00:00.5+01:00')
          : junk;
      default:
        return fc.jsonValue();
    }
  }

  #object({ properties = {}, required = [] }: DocumentSchema, depth: number): fc.Arbitrary<unknown> {
    const wanted = Object.entries(properties).filter(([name]) => depth > 0 || required.includes(name));
    const members = Object.fromEntries(wanted.map(([name, schema]) => [name, this.of(schema, name, depth - 1)]));
    return fc.record(members, { requiredKeys: required.filter((name) => name in members) });
  }
}

export function documentedRequests(document: InterfaceDocument, known: Known): fc.Arbitrary<DocumentedRequest> {
  const values = new Values(document, known);
  const all = [...document.operations()];
  return fc.constantFrom(...all).chain(({ path, method, operation }) => {
    const sends = operation.requestBody !== undefined;
    return fc
      .record({
        way: wayOf(path, known),
        query: queryOf(operation.parameters ?? [], values),
        headers: headersOf(sends),
        body: sends ? bodyOf(operation, known.bodies(path, method), values) : fc.constant(undefined),
        method: fc.oneof({ arbitrary: fc.constant(method), weight: 12 }, fc.constantFrom(...methods)),
      })
      .map(({ way, query, ...request }) => ({
        path,
        operation,
        address: query === '' ? way : `${way}?${query}`,
        ...request,
      }));
  });
}

function wayOf(path: string, known: Known): fc.Arbitrary<string> {
  const parts = path.split('/').map((part) => {
    if (!part.startsWith('{')) return fc.constant(part);
    const right = known.ids(path, part.slice(1, -1)).map((id) => encodeURIComponent(id));
    const wrong = written.map((value) => (/^\.{0,2}$/.test(value) ? 'x' : value.replaceAll(/[/\\]/g, '_')));
    return fc.oneof({ arbitrary: right.length === 0 ? wrong : fc.constantFrom(...right), weight: 14 }, wrong);
  });
  return fc.tuple(...parts).map((made) => made.join('/'));
}

function queryOf(parameters: readonly DocumentParameter[], values: Values): fc.Arbitrary<string> {
  const own = parameters.filter((one) => one.in === 'query');
  const right = own.map(({ name, schema }) =>
    values.of(schema, name).map(
      (value) =>
        `${name}=${[value]
          .flat()
          .map((one) => encodeURIComponent(wellFormed(one)))
          .join(',')}`,
    ),
  );
  const names = own.map(({ name }) => name);
  const name = names.length === 0 ? written : fc.oneof({ arbitrary: fc.constantFrom(...names), weight: 5 }, written);
  const wrong = fc.tuple(name, written).map(([key, value]) => `${key}=${value}`);
  const pair = right.length === 0 ? wrong : fc.oneof({ arbitrary: fc.oneof(...right), weight: 3 }, wrong);
  // Several parameters, including repeated names.
  return fc.oneof(fc.constant([]), fc.array(pair, { maxLength: 5 })).map((pairs) => pairs.join('&'));
}

function wellFormed(value: unknown): string {
  return String(value).replace(/\p{Surrogate}/gu, '?');
}

function headersOf(sends: boolean): fc.Arbitrary<Record<string, string>> {
  const accept = fc.oneof(header, fc.constant('text/html'), {
    arbitrary: fc.constantFrom('*/*', 'application/json', 'application/hal+json'),
    weight: 9,
  });
  return fc.record(
    {
      accept,
      'content-type': fc.oneof({ arbitrary: fc.constant('application/json'), weight: 15 }, header),
      'idempotency-key': fc.oneof(fc.uuid(), header),
      authorization: header,
      vid: header,
      'x-request-id': header,
    },
    { requiredKeys: sends ? ['content-type'] : [] },
  );
}

/** A body by the schema, or a known valid one, often with one member replaced, or arbitrary data. */
function bodyOf(
  { requestBody }: DocumentOperation,
  bodies: readonly object[],
  values: Values,
): fc.Arbitrary<string | undefined> {
  const schema = requestBody?.content['application/json']?.schema ?? {};
  const whole = fc.oneof({ arbitrary: values.of(schema, ''), weight: 2 }, fc.constantFrom(...bodies));
  const nearly = whole.chain((value) => {
    const places = placesIn(value);
    if (places.length === 0) return fc.constant(value);
    return fc
      .tuple(fc.constantFrom(...places), fc.oneof(fc.jsonValue(), junk, fc.constant(undefined)))
      .map(([place, other]) => replaced(value, place, other));
  });
  const strange = fc.oneof(
    fc.json(),
    fc.constantFrom('', '{', 'null', '[]', '"x"', '{"__proto__":{"x":1}}', '{"constructor":1}', '\ufeff{}'),
    fc.integer({ min: 1, max: 300 }).map((depth) => `${'{"a":['.repeat(depth)}${']}'.repeat(depth)}`),
    fc.constantFrom(50_000, 2 ** 20, 3_000_000).map((length) => JSON.stringify({ label: 'x'.repeat(length) })),
    fc.string({ unit: 'binary' }),
  );
  const text = (value: unknown): string => JSON.stringify(value) ?? '';
  return fc.oneof(
    { arbitrary: whole.map(text), weight: 8 },
    { arbitrary: nearly.map(text), weight: 8 },
    strange,
    fc.constant(undefined),
  );
}

function placesIn(value: unknown, way: readonly string[] = []): string[][] {
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value).flatMap(([key, member]) => [[...way, key], ...placesIn(member, [...way, key])]);
}

function replaced(value: unknown, [key, ...way]: readonly string[], other: unknown): unknown {
  if (key === undefined) return other;
  const copy: Record<string, unknown> | unknown[] = Array.isArray(value) ? [...value] : { ...(value as object) };
  Object.assign(copy, { [key]: replaced((value as Record<string, unknown>)[key], way, other) });
  return copy;
}
