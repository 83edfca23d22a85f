/** Random faults in the classes behind an input. */
import { onTestFinished } from 'vitest';

type Method = (this: unknown, ...args: unknown[]) => unknown;

/**
 * Makes methods of these classes sometimes throw, or reject if they are asynchronous, while `active`. A fault may come
 * before or after the work of the method.
 */
export class Faults {
  active = false;
  thrown = 0;
  #state = 1;

  constructor(classes: readonly { readonly prototype: object }[], spared: readonly string[] = []) {
    for (const { prototype } of classes) {
      for (const name of Object.getOwnPropertyNames(prototype)) {
        const { value, writable } = Object.getOwnPropertyDescriptor(prototype, name) ?? {};
        if (typeof value !== 'function' || writable !== true || name === 'constructor' || spared.includes(name))
          continue;
        this.#replace(prototype as Record<string, Method>, name, value as Method);
      }
    }
  }

  /** The same seed produces the same faults. */
  seed(value: number): void {
    this.#state = value | 1;
  }

  #replace(prototype: Record<string, Method>, name: string, original: Method): void {
    const faults = this;
    const isAsync = original.constructor.name === 'AsyncFunction';
    prototype[name] = function (...args) {
      const early = faults.#chance(8);
      if (early && isAsync) return Promise.reject(new TypeError(`fault in ${name}`));
      if (early) throw new TypeError(`fault in ${name}`);
      const result = original.apply(this, args);
      if (!isAsync || !faults.#chance(8)) return result;
      return (result as Promise<unknown>).then(() => Promise.reject(new TypeError(`fault after ${name}`)));
    };
    onTestFinished(() => {
      prototype[name] = original;
    });
  }

  /** Returns true once in `times` calls on average. */
  #chance(times: number): boolean {
    if (!this.active) return false;
    this.#state = (Math.imul(this.#state, 1_664_525) + 1_013_904_223) | 0;
    const hit = (this.#state >>> 8) % times === 0;
    if (hit) this.thrown++;
    return hit;
  }
}
