/** Persisted callbacks of the car, each with its receivers. */
import { VigieError } from '../../protocol/errors.ts';
import type { Callback } from '../../protocol/schema/callback.ts';
import type { Log, Memory } from '../ports.ts';
import { callbackDestinations, type Destination } from './destination.ts';

const HEAD = 'callbacks';
const keyOf = (id: string): string => `callback/${id}`;

export interface StoredCallback {
  readonly callback: Callback;
  /** Destinations, keyed by receiver. */
  readonly receivers: ReadonlyMap<string, Destination>;
  /** Device numbers by endpoint: a device keeps its number, and so its queue, when others are added or removed. */
  readonly numbers: ReadonlyMap<string, number>;
}

interface Head {
  readonly made: number;
  readonly ids: readonly string[];
}

export class CallbackStore {
  readonly #entries = new Map<string, StoredCallback>();
  readonly #byReceiver = new Map<string, StoredCallback>();
  #made = 0;
  #headChanged = false;
  readonly #changed = new Set<string>();

  get size(): number {
    return this.#entries.size;
  }

  get all(): readonly Callback[] {
    return [...this.#entries.values()].map(({ callback }) => callback);
  }

  get(id: string): StoredCallback | undefined {
    return this.#entries.get(id);
  }

  ofReceiver(receiver: string): StoredCallback | undefined {
    return this.#byReceiver.get(receiver);
  }

  /** Returns a new id, unique in this car: the time and a counter that is never reset. */
  newId(at: number): string {
    this.#made++;
    this.#headChanged = true;
    return `${Math.max(0, Math.round(at)).toString(16)}-${this.#made.toString(16)}`;
  }

  /** Adds or replaces a callback. Returns the receivers that no longer exist. */
  set(callback: Callback): string[] {
    const before = this.#entries.get(callback.callbackId);
    const entry = entryOf(callback, before?.numbers ?? new Map());
    this.#place(entry);
    this.#headChanged = true;
    this.#changed.add(callback.callbackId);
    const gone = [...(before?.receivers.keys() ?? [])].filter((receiver) => !entry.receivers.has(receiver));
    for (const receiver of gone) this.#byReceiver.delete(receiver);
    return gone;
  }

  delete(id: string): StoredCallback | undefined {
    const entry = this.#entries.get(id);
    if (entry === undefined) return undefined;
    this.#entries.delete(id);
    for (const receiver of entry.receivers.keys()) this.#byReceiver.delete(receiver);
    this.#headChanged = true;
    this.#changed.add(id);
    return entry;
  }

  *states(): Generator<readonly [key: string, value: unknown]> {
    if (this.#headChanged) {
      this.#headChanged = false;
      yield [HEAD, { made: this.#made, ids: [...this.#entries.keys()] } satisfies Head];
    }
    for (const id of this.#changed) {
      const entry = this.#entries.get(id);
      yield [keyOf(id), entry && { callback: entry.callback, numbers: [...entry.numbers] }];
    }
    this.#changed.clear();
  }

  /** Restores the callbacks. Unreadable ones are omitted and logged. */
  recall(memory: Pick<Memory, 'recall'>, log: Log): void {
    const attempt = (key: string, take: (state: unknown) => void): void => {
      const state = memory.recall(key);
      if (state === undefined) return;
      try {
        take(state);
      } catch (error) {
        log.error('callbacks.unreadable', { key, error: (error as Error).message });
      }
    };
    attempt(HEAD, (head) => {
      const { made, ids } = head as Partial<Head>;
      if (!Number.isSafeInteger(made) || !Array.isArray(ids)) throw unreadable(HEAD);
      this.#made = made as number;
      for (const id of ids as readonly string[]) {
        attempt(keyOf(id), (state) => {
          const { callback, numbers } = state as { callback?: Callback; numbers?: [string, number][] };
          if (callback?.callbackId !== id) throw unreadable(keyOf(id));
          this.#place(entryOf(callback, new Map(numbers)));
        });
      }
    });
  }

  #place(entry: StoredCallback): void {
    this.#entries.set(entry.callback.callbackId, entry);
    for (const receiver of entry.receivers.keys()) this.#byReceiver.set(receiver, entry);
  }
}

function entryOf(callback: Callback, before: ReadonlyMap<string, number>): StoredCallback {
  const destinations = callbackDestinations(callback);
  const base = `callback/${callback.callbackId}`;
  const numbers = new Map<string, number>();
  let next = Math.max(-1, ...before.values());
  const receivers = new Map<string, Destination>();
  for (const [endpoint, destination] of destinations) {
    if (endpoint === '') receivers.set(base, destination);
    else {
      const number = before.get(endpoint) ?? ++next;
      numbers.set(endpoint, number);
      receivers.set(`${base}/device${number}`, destination);
    }
  }
  return { callback, receivers, numbers };
}

function unreadable(key: string): VigieError {
  return new VigieError('input.malformed', 'the stored value is not a callback', { where: key });
}
