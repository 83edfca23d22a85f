/** Dictionary of one language, for programs that show or speak its words. */

/** Names of values by code. */
type Names = Readonly<Record<string, string>>;

export interface Dictionary {
  readonly language: string;
  /** By path of Status. */
  readonly paths: Readonly<Record<string, readonly [name: string, values?: Names]>>;
  /** By group, such as `alerts`. */
  readonly terms: Readonly<Record<string, Names>>;
}

/** Returns the name of a path of Status, such as “Driver’s door”; undefined if Status does not have the path. */
export function nameOfPath({ paths }: Dictionary, path: string): string | undefined {
  return Object.hasOwn(paths, path) ? paths[path]?.[0] : undefined;
}

/** Returns the word for a value, or for each value of a set; undefined if it has no name, like numbers and strings. */
export function nameOfValue({ paths }: Dictionary, path: string, value: unknown): string | undefined {
  const names = Object.hasOwn(paths, path) ? paths[path]?.[1] : undefined;
  if (names === undefined) return undefined;
  const all = Array.isArray(value) ? value : [value];
  const found = all.flatMap((one) => (Object.hasOwn(names, String(one)) ? [names[String(one)]] : []));
  return found.length === 0 || found.length < all.length ? undefined : found.join(', ');
}

/** Returns the word for a code of a group; undefined if the group does not have it. */
export function termOf(terms: Dictionary['terms'], group: string, code: unknown): string | undefined {
  const names = Object.hasOwn(terms, group) ? terms[group] : undefined;
  return names !== undefined && Object.hasOwn(names, String(code)) ? names[String(code)] : undefined;
}
