/** `T` without the members whose value is undefined: those that may be undefined are optional. */
type Defined<T extends object> = {
  [K in keyof T as undefined extends T[K] ? never : K]: T[K];
} & {
  [K in keyof T as undefined extends T[K] ? K : never]?: Exclude<T[K], undefined>;
};

/** A copy of `members` without those that are undefined, for types whose optional members must not hold `undefined`. */
export function defined<T extends object>(members: T): Defined<T> {
  const present: Record<string, unknown> = {};
  for (const name in members) {
    if (members[name] !== undefined) present[name] = members[name];
  }
  return present as Defined<T>;
}
