/** Validates data that an earlier run stored. */

export type Shape =
  | 'number'
  | 'text'
  | 'flag'
  | { readonly oneOf: readonly string[] }
  | { readonly nullable: Shape }
  | { readonly optional: Shape }
  | { readonly list: Shape }
  | { readonly members: Readonly<Record<string, Shape>> };

export const nullable = (shape: Shape): Shape => ({ nullable: shape });
export const list = (shape: Shape): Shape => ({ list: shape });
/** An object; other fields are not checked. */
export const members = (shapes: Readonly<Record<string, Shape>>): Shape => ({ members: shapes });
export const oneOf = (names: readonly string[]): Shape => ({ oneOf: names });

/** Returns the path of the first part of `value` that does not match the shape, or undefined if all match. */
export function misfit(value: unknown, shape: Shape, path = ''): string | undefined {
  const here = path === '' ? '.' : path;
  if (shape === 'number') return typeof value === 'number' && Number.isFinite(value) ? undefined : here;
  if (shape === 'text') return typeof value === 'string' ? undefined : here;
  if (shape === 'flag') return typeof value === 'boolean' ? undefined : here;
  if ('oneOf' in shape) return typeof value === 'string' && shape.oneOf.includes(value) ? undefined : here;
  if ('optional' in shape) return value === undefined ? undefined : misfit(value, shape.optional, path);
  if ('nullable' in shape) return value === null ? undefined : misfit(value, shape.nullable, path);
  if ('list' in shape) {
    if (!Array.isArray(value)) return here;
    return first(value.map((item, index) => misfit(item, shape.list, `${path}[${index}]`)));
  }
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return here;
  const given = value as Readonly<Record<string, unknown>>;
  return first(Object.entries(shape.members).map(([name, inner]) => misfit(given[name], inner, `${path}.${name}`)));
}

function first(misfits: readonly (string | undefined)[]): string | undefined {
  return misfits.find((found) => found !== undefined);
}

/** Returns a copy of data of CBOR's types, so that returned data does not change later. */
export function copy<T>(value: T): T {
  if (Array.isArray(value)) return value.map(copy) as T;
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([name, inner]) => [name, copy(inner)])) as T;
}
