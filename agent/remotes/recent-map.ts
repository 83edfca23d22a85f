/** A map of bounded size: a full generation replaces the previous one, but values in use are kept. */
export class RecentMap<V> {
  readonly #capacity: number;
  #current = new Map<string, V>();
  #previous = new Map<string, V>();

  /** Keeps the last `capacity` used keys, and at most twice that number. */
  constructor(capacity: number) {
    this.#capacity = capacity;
  }

  get(key: string): V | undefined {
    const value = this.#current.get(key);
    if (value !== undefined) return value;
    const earlier = this.#previous.get(key);
    if (earlier !== undefined) this.set(key, earlier);
    return earlier;
  }

  set(key: string, value: V): void {
    if (this.#current.size >= this.#capacity && !this.#current.has(key)) {
      this.#previous = this.#current;
      this.#current = new Map();
    }
    this.#current.set(key, value);
  }
}
