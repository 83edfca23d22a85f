/** Answers questions that are asked in the same turn of the event loop with one statement. Caches nothing. */

/** Largest number of keys in one statement. */
const MAX_KEYS = 512;

interface Waiting<V> {
  resolve(value: V | undefined): void;
  reject(error: unknown): void;
}

export class Batches<K, V> {
  readonly #nameOf: (key: K) => string;
  readonly #read: (keys: readonly K[]) => Promise<ReadonlyMap<string, V>>;
  #keys = new Map<string, K>();
  #waiting = new Map<string, Waiting<V>[]>();

  /** `nameOf` returns a different name for each key; `read` returns the values by these names. */
  constructor(nameOf: (key: K) => string, read: (keys: readonly K[]) => Promise<ReadonlyMap<string, V>>) {
    this.#nameOf = nameOf;
    this.#read = read;
  }

  /** Resolves with undefined if there is no value for the key. */
  load(key: K): Promise<V | undefined> {
    return new Promise((resolve, reject) => {
      if (this.#keys.size === 0) setImmediate(() => this.#flush());
      const name = this.#nameOf(key);
      this.#keys.set(name, key);
      const others = this.#waiting.get(name);
      if (others === undefined) this.#waiting.set(name, [{ resolve, reject }]);
      else others.push({ resolve, reject });
    });
  }

  #flush(): void {
    const [keys, waiting] = [[...this.#keys], this.#waiting];
    this.#keys = new Map();
    this.#waiting = new Map();
    for (let begin = 0; begin < keys.length; begin += MAX_KEYS) {
      const part = keys.slice(begin, begin + MAX_KEYS);
      const settle = (how: (one: Waiting<V>, name: string) => void): void => {
        for (const [name] of part) for (const one of waiting.get(name) ?? []) how(one, name);
      };
      this.#read(part.map(([, key]) => key)).then(
        (values) => settle((one, name) => one.resolve(values.get(name))),
        (error: unknown) => settle((one) => one.reject(error)),
      );
    }
  }
}

/** Repeats the last key until their number is a power of two, so that few different statements are prepared. */
export function padded<K>(keys: readonly K[]): readonly K[] {
  const last = keys.at(-1);
  const length = 2 ** Math.ceil(Math.log2(Math.max(1, keys.length)));
  return last === undefined ? [] : [...keys, ...Array.from({ length: length - keys.length }, () => last)];
}
