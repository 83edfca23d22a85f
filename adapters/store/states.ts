/** States of the core's parts in the journal: the last stored value for each key. */
import type { Log, Memory } from '../../agent/ports.ts';
import type { Contents } from './contents.ts';
import { stateRecord, stateSeries } from './record-types.ts';
import { decodeValue, encodeValue, sameBytes } from './values.ts';

interface Kept {
  readonly number: number;
  /** The decoded value, if it cannot have changed since it was stored. */
  readonly frozen: unknown;
  readonly bytes: Uint8Array;
}

/** Collects states and stores those that have changed. The store calls `look` before it writes a group. */
export interface States extends Memory {
  look(): void;
}

/** `put` stores bytes under a key and returns the number of the state; `remove` deletes the state with this number. */
interface StateKeeper {
  readonly first: Iterable<readonly [key: string, number: number, bytes: Uint8Array]>;
  put(key: string, bytes: Uint8Array): number;
  remove(number: number): void;
}

export function statesIn(keeper: StateKeeper, log: Log | undefined): States {
  const kept = new Map<string, Kept>();
  const sources: (() => Iterable<readonly [string, unknown]>)[] = [];

  const keep = (key: string, value: unknown): void => {
    const before = kept.get(key);
    if (value === undefined) {
      if (before !== undefined) keeper.remove(before.number);
      kept.delete(key);
      return;
    }
    const frozen = Object.isFrozen(value) ? value : undefined;
    if (before !== undefined && before.frozen !== undefined && before.frozen === frozen) return;
    const bytes = encodeValue(value, `state ${key}`);
    if (before !== undefined && sameBytes(before.bytes, bytes)) {
      kept.set(key, { ...before, frozen });
      return;
    }
    const number = keeper.put(key, bytes);
    if (before !== undefined) keeper.remove(before.number);
    kept.set(key, { number, bytes: bytes.slice(), frozen });
  };

  for (const [key, number, bytes] of keeper.first) {
    const before = kept.get(key);
    // Damage can leave two states with one key: the one with the higher number is newer.
    if (before !== undefined) keeper.remove(before.number);
    kept.set(key, { number, bytes, frozen: undefined });
  }

  return {
    recall(key) {
      const bytes = kept.get(key)?.bytes;
      if (bytes === undefined) return undefined;
      try {
        return decodeValue(bytes);
      } catch (error) {
        log?.error('store.state', { key, error: String(error) });
        return undefined;
      }
    },
    keep(states) {
      sources.push(states);
    },
    look() {
      for (const states of sources) {
        // An error in one part of the core must not prevent messages from being stored.
        try {
          // Collect all states before storing any, so that either all change or none.
          for (const [key, value] of [...states()]) keep(key, value);
        } catch (error) {
          log?.error('store.state', { error: String(error) });
        }
      }
    },
  };
}

/** Stores states as entries of the journal. */
export function journalKeeper(contents: Contents): StateKeeper {
  const series = contents.series(stateSeries);
  const { rows } = series;
  return {
    get first() {
      const found: [string, number, Uint8Array][] = [];
      for (let row = rows.next(0); row >= 0; row = rows.next(rows.number(row) + 1)) {
        // The store must not open if the disk fails to return a state: it would count as missing and be replaced.
        const cursor = contents.read(series, row);
        if (cursor === undefined) continue;
        cursor.array();
        cursor.count();
        cursor.text();
        const number = cursor.count();
        const key = cursor.text();
        const bytes = cursor.bytes();
        if (number !== undefined && key !== undefined && bytes !== undefined) found.push([key, number, bytes.slice()]);
      }
      return found;
    },
    put(key, bytes) {
      const number = series.next;
      contents.append(series, number, [stateRecord, stateSeries, number, key, bytes], { at: 0, a: 0, b: 0 });
      return number;
    },
    remove(number) {
      const row = rows.find(number);
      if (row >= 0) contents.remove(series, row);
    },
  };
}
