/** State of the buses while their view is shown: rows for identifiers, and values of signals. */
import type {
  BusFrames,
  BusIdentifier,
  BusIdentifiers,
  BusPrivacy,
  BusRow,
  BusSignal,
  BusValues,
} from '../../protocol/interface/own/bus.ts';
import { followWhileVisible, type LostStream, type ServerEvent } from '../shared/connection.ts';

/** A row of the list. Each frame replaces it with a new object. */
export interface Row {
  readonly identifier: BusIdentifier;
  /** Address such as `body/0A8`. Stays the same if the car renumbers its keys. */
  readonly address: string;
  readonly shown: Omit<BusRow, 'changed' | 'data'>;
  readonly bytes: readonly number[];
  /** Recently changed bits, by byte. */
  readonly glow: readonly number[];
}

/** Values of one signal, oldest first. */
export interface Samples {
  /** UTC ms. */
  readonly times: number[];
  readonly values: number[];
}

/** Time in ms for which a bit glows after a change; longer with reduced motion, where the glow does not fade. */
const GLOW_MS = { fading: 300, steady: 1_000 };
const SWEEP_INTERVAL_MS = 100;
/** Time in ms. If a value is older than the newest one by more than this, the clock was set back. */
const CLOCK_JUMP_MS = 10_000;
/** Time in ms for which values are kept. */
export const VALUES_KEPT_MS = 600_000;

class BusStore {
  /** Undefined until the car has sent its setting. */
  privacy: BusPrivacy | undefined;
  /** Reason why the buses cannot be followed. */
  fault: Error | undefined;
  lost: LostStream | undefined;
  /** True if the car has more identifiers than it lists. */
  left = false;
  paused = false;
  /** Rows by bus and identifier. */
  readonly rows = new Map<string, Row>();
  readonly samples = new Map<string, Samples>();
  /** Time of the newest value in UTC ms. */
  newest = 0;
  readonly #keys = new Map<number, string>();
  readonly #changes = new Map<string, (readonly [until: number, mask: readonly number[]])[]>();
  readonly #listeners = new Map<string, Set<() => void>>();
  readonly #dirty = new Set<string>();
  #frame: number | undefined;

  /** Follows the frames. Returns a function that stops this. */
  follow(): () => void {
    const sweeping = setInterval(() => this.#sweep(), SWEEP_INTERVAL_MS);
    const end = followWhileVisible({
      path: '/vigie/v1/bus',
      opened: () => this.#clearFault(),
      event: (event) => this.#event(event),
      lost: (error) => this.#lost(error),
    });
    return () => {
      clearInterval(sweeping);
      end();
      this.#forget();
      this.privacy = undefined;
      this.fault = undefined;
      this.lost = undefined;
    };
  }

  /** Follows the values of only these signals (e.g. `body/0A8/Speed`). Returns a function that stops this. */
  followSignals(addresses: readonly string[]): () => void {
    for (const known of this.samples.keys()) if (!addresses.includes(known)) this.samples.delete(known);
    if (addresses.length === 0) return () => undefined;
    const query = addresses.map((address) => `signal=${encodeURIComponent(address)}`).join('&');
    return followWhileVisible({
      path: `/vigie/v1/bus/signals?${query}`,
      opened: () => this.#clearFault(),
      event: ({ name, data }) => {
        if (name === 'privacy' && !(data as BusPrivacy).shown) this.samples.clear();
        if (name === 'values' && !this.paused) this.#note(addresses, data as BusValues);
      },
      lost: (error) => this.#lost(error),
    });
  }

  /** Notifies `listener` of changes to `list`, `values` or the row at this address. Returns a function to stop. */
  listen(topic: string, listener: () => void): () => void {
    const set = this.#listeners.get(topic) ?? new Set();
    this.#listeners.set(topic, set);
    set.add(listener);
    return () => set.delete(listener);
  }

  pause(paused: boolean): void {
    this.paused = paused;
    this.#changed('list');
  }

  #event({ name, data }: ServerEvent): void {
    if (name === 'privacy') {
      this.privacy = data as BusPrivacy;
      if (!this.privacy.shown) this.#forget();
      this.#changed('list');
    } else if (name === 'identifiers') this.#list(data as BusIdentifiers);
    else if (name === 'frames' && !this.paused) for (const row of (data as BusFrames).frames) this.#take(row);
  }

  #list({ anew, identifiers, left = false }: BusIdentifiers): void {
    if (anew) {
      this.#keys.clear();
      this.rows.clear();
      this.#changes.clear();
    }
    this.left = left;
    for (const identifier of identifiers) {
      const address = addressOf(identifier);
      const { key } = identifier;
      this.#keys.set(key, address);
      this.rows.set(address, { identifier, address, shown: { key, count: 0, length: 0 }, bytes: [], glow: [] });
    }
    this.#changed('list');
  }

  #take({ data, changed, ...shown }: BusRow): void {
    const address = this.#keys.get(shown.key) ?? '';
    const row = this.rows.get(address);
    if (row === undefined) return;
    const mask = bytesOf(changed);
    if (mask.some((byte) => byte !== 0)) {
      const still = matchMedia('(prefers-reduced-motion: reduce)').matches;
      const until = performance.now() + (still ? GLOW_MS.steady : GLOW_MS.fading);
      this.#changes.set(address, [...(this.#changes.get(address) ?? []), [until, mask]]);
    }
    const bytes = bytesOf(data);
    this.rows.set(address, { ...row, shown, bytes, glow: this.#glow(address, bytes.length) });
    this.#changed(address);
  }

  #glow(address: string, length: number): readonly number[] {
    const masks = this.#changes.get(address) ?? [];
    return Array.from({ length }, (_, byte) => masks.reduce((all, [, mask]) => all | (mask[byte] ?? 0), 0));
  }

  /** Ends the glow of bits that have stopped changing. */
  #sweep(): void {
    const now = performance.now();
    for (const [address, masks] of this.#changes) {
      const rest = masks.filter(([until]) => until > now);
      if (rest.length === masks.length) continue;
      if (rest.length === 0) this.#changes.delete(address);
      else this.#changes.set(address, rest);
      const row = this.rows.get(address);
      if (row === undefined) continue;
      this.rows.set(address, { ...row, glow: this.#glow(address, row.bytes.length) });
      this.#changed(address);
    }
  }

  #note(addresses: readonly string[], { values }: BusValues): void {
    for (const { signal, at, value } of values) {
      const address = addresses[signal] ?? '';
      const samples = this.samples.get(address) ?? { times: [], values: [] };
      this.samples.set(address, samples);
      // If the clock was set back, start again: time on the plot only increases.
      const last = samples.times.at(-1) ?? 0;
      if (at < last - CLOCK_JUMP_MS) {
        samples.times.length = 0;
        samples.values.length = 0;
        this.newest = 0;
      } else if (at <= last) continue;
      samples.times.push(at);
      samples.values.push(value);
      this.newest = Math.max(this.newest, at);
      const old = samples.times.findIndex((time) => time >= at - VALUES_KEPT_MS);
      if (old < 100) continue;
      samples.times.splice(0, old);
      samples.values.splice(0, old);
    }
    this.#changed('values');
  }

  #lost(error: Error): void {
    this.fault = error;
    this.lost = { since: this.lost?.since ?? Date.now(), reason: error.message };
    this.#changed('list');
  }

  #clearFault(): void {
    this.fault = undefined;
    this.lost = undefined;
    this.#changed('list');
  }

  #forget(): void {
    this.#keys.clear();
    this.rows.clear();
    this.#changes.clear();
    this.samples.clear();
    this.newest = 0;
    this.#changed('values');
  }

  #changed(topic: string): void {
    this.#dirty.add(topic);
    this.#frame ??= requestAnimationFrame(() => {
      this.#frame = undefined;
      const dirty = [...this.#dirty];
      this.#dirty.clear();
      for (const one of dirty) for (const listener of this.#listeners.get(one) ?? []) listener();
    });
  }
}

export const busStore = new BusStore();

export function digitsOf({ id, extended }: Pick<BusIdentifier, 'id' | 'extended'>): string {
  return id
    .toString(16)
    .toUpperCase()
    .padStart(extended ? 8 : 3, '0');
}

export function addressOf(identifier: Pick<BusIdentifier, 'bus' | 'id' | 'extended'>): string {
  return `${identifier.bus}/${digitsOf(identifier)}`;
}

/** Returns the name that the DBC has for the value, if there is one. */
export function choiceOf({ factor, offset, choices }: BusSignal, value: number): string | undefined {
  const raw = Math.round((value - offset) / factor);
  return choices?.find((one) => one.raw === raw)?.name;
}

function bytesOf(text: string): readonly number[] {
  return Array.from({ length: text.length / 2 }, (_, i) => Number.parseInt(text.slice(2 * i, 2 * i + 2), 16));
}
