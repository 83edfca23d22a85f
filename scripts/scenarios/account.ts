/**
 * Accounts for every message number of the car: each must be stored or received, or else listed in a gap record exactly
 * if it will never arrive.
 */
import { crc32c } from '../../adapters/store/crc32c.ts';
import type { OutboxReference, OutboxStore } from '../../agent/ports.ts';
import { ReceivedNumbers } from '../../commands/received.ts';
import { decodeMessage } from '../../protocol/cbor/message.ts';
import { classOf } from '../../protocol/classes.ts';
import type { Gap } from '../../protocol/schema/gap.ts';

interface Put {
  readonly kind: string;
  readonly at: number;
  readonly bytes: number;
  readonly sum: number;
}

interface Missing {
  count: number;
  bytes: number;
  from: number;
  to: number;
}

export class Account {
  deliveries = 0;
  received = 0;
  /** Descriptions of faults. */
  readonly faults: string[] = [];
  readonly gaps: Gap[] = [];
  readonly #put = new Map<string, Put>();
  readonly #arrived = new Set<string>();
  /** The receiver's filter as shipped. It must drop exactly the messages that have already arrived. */
  readonly #numbers = new ReceivedNumbers();

  get published(): number {
    return this.#put.size;
  }

  /** Returns the store, extended so that every appended message is recorded. */
  noting(store: OutboxStore): OutboxStore {
    return Object.defineProperties(Object.create(store) as OutboxStore, {
      append: {
        value: (entry: Parameters<OutboxStore['append']>[0]) => {
          const { class: priority, seq, kind, at, payload } = entry;
          const key = `${priority}/${seq}`;
          if (this.#put.has(key)) this.faults.push(`${key} was given out twice`);
          this.#put.set(key, { kind, at, bytes: payload.length, sum: crc32c(payload) });
          store.append(entry);
        },
      },
      bytes: { get: () => store.bytes },
    });
  }

  /** Records a delivery. */
  take(payload: Uint8Array): void {
    const { kind, seq, body } = decodeMessage(payload);
    const key = `${classOf(kind)}/${seq}`;
    this.deliveries++;
    const before = this.#arrived.has(key);
    if (this.#numbers.admit(payload) === before)
      this.faults.push(`the receiver ${before ? 'took' : 'left out'} ${key}`);
    const put = this.#put.get(key);
    if (put === undefined) this.faults.push(`${key} arrived and was never put`);
    else if (put.sum !== crc32c(payload)) this.faults.push(`${key} arrived with other bytes`);
    if (before) return;
    this.#arrived.add(key);
    this.received++;
    if (kind === 'gap') this.gaps.push(body as Gap);
  }

  /** Numbers of messages that were stored and have never arrived. */
  get missing(): number {
    return this.#put.size - this.#arrived.size;
  }

  /**
   * Compares the missing numbers with the gap records, and adds every difference to {@link faults}. `kept`: messages
   * that are still in the store, which the agent sends after its next start.
   */
  settle(kept: Iterable<Pick<OutboxReference, 'class' | 'seq'>>): void {
    for (const { class: priority, seq } of kept) {
      const key = `${priority}/${seq}`;
      if (!this.#arrived.has(key)) this.#put.delete(key);
    }
    const missing = new Map<string, Missing>();
    for (const [key, { kind, at, bytes }] of this.#put) {
      if (!this.#arrived.has(key)) add(missing, kind, { count: 1, bytes, from: at, to: at });
    }
    const numbers = new Set<string>();
    for (const { class: priority, numbers: runs = [] } of this.gaps) {
      for (const [first, last] of runs) for (let seq = first; seq <= last; seq++) numbers.add(`${priority}/${seq}`);
    }
    for (const key of this.#put.keys()) {
      const arrived = this.#arrived.has(key);
      if (arrived === numbers.has(key))
        this.faults.push(`${key} is ${arrived ? 'both' : 'neither'} received and in a gap`);
      numbers.delete(key);
    }
    for (const key of numbers) this.faults.push(`${key} is in a gap record and was never put`);
    const told = new Map<string, Missing>();
    for (const { lost = 'unknown', count, bytes = 0, from = 0, to = 0 } of this.gaps) {
      add(told, lost, { count, bytes, from, to });
    }
    for (const kind of new Set([...missing.keys(), ...told.keys()])) {
      const [is, said] = [JSON.stringify(missing.get(kind)), JSON.stringify(told.get(kind))];
      if (is !== said) this.faults.push(`missing of ${kind}: ${is}; the gap records say ${said}`);
    }
  }
}

function add(all: Map<string, Missing>, kind: string, { count, bytes, from, to }: Missing): void {
  const one = all.get(kind) ?? { count: 0, bytes: 0, from, to };
  one.count += count;
  one.bytes += bytes;
  one.from = Math.min(one.from, from);
  one.to = Math.max(one.to, to);
  all.set(kind, one);
}
