/** Models of the receivers of callbacks: they accept, fail, hang, accept a part, or are unreachable. */
import type { Notifier, Receipt } from '../../agent/callbacks/notifier.ts';
import type { Chance } from './chance.ts';
import type { WorldTime } from './time.ts';

/** Behaviour of a receiver on a request. */
export type Answering = 'works' | 'fails' | 'hangs' | 'takes a part' | 'busy' | 'offline';

/** Time-out of a request, ms. */
const TIMEOUT = 10_000;

export interface ReceiversParts {
  readonly time: WorldTime;
  readonly chance: Chance;
  /** A notification was repeated although its receiver had confirmed it in this run. */
  readonly again: (id: string) => void;
}

export class Receivers {
  answering: Answering = 'works';
  /** Ids of delivered notifications, by the name of the receiver in the car. */
  readonly delivered = new Map<string, Set<string>>();
  readonly #parts: ReceiversParts;

  constructor(parts: ReceiversParts) {
    this.#parts = parts;
  }

  /** Notifier for one run of an agent. */
  notifier(alive: () => boolean): Notifier {
    const { time, chance, again } = this.#parts;
    const answered = new Set<string>();
    const send = async (receiver: string, ids: readonly string[]): Promise<Receipt> => {
      if (!alive()) return new Promise<never>(() => undefined);
      const answering = this.answering;
      if (answering === 'offline') return { outcome: 'offline', reason: 'there is no network' };
      for (const id of ids) if (answered.has(`${receiver} ${id}`)) again(`${receiver} ${id}`);
      await time.wait(chance.between(5, 500));
      const count = this.#taken(answering, ids.length);
      const known = this.delivered.get(receiver) ?? new Set();
      this.delivered.set(receiver, known);
      for (const id of ids.slice(0, count)) known.add(id);
      await time.wait(answering === 'hangs' ? TIMEOUT : chance.between(5, 500));
      if (!alive()) return new Promise<never>(() => undefined);
      const receipt = receiptOf(answering, count);
      const taken =
        receipt.outcome === 'delivered' ? ids.length : 'delivered' in receipt ? (receipt.delivered ?? 0) : 0;
      for (const id of ids.slice(0, taken)) answered.add(`${receiver} ${id}`);
      return receipt;
    };
    return {
      check: () => undefined,
      batch: (receiver, _to, items) => {
        const ids = items.map(({ id }) => id);
        return { count: ids.length, send: () => send(receiver, ids) };
      },
      release: () => undefined,
    };
  }

  /** Number of messages that the receiver accepts. */
  #taken(answering: Answering, count: number): number {
    const { chance } = this.#parts;
    if (answering === 'works') return count;
    if (answering === 'takes a part') return chance.below(count + 1);
    // A receiver that does not answer may still have accepted all.
    return answering === 'hangs' && chance.happens(0.5) ? count : 0;
  }
}

function receiptOf(answering: Answering, count: number): Receipt {
  if (answering === 'works') return { outcome: 'delivered' };
  const reason = `the receiver ${answering}`;
  if (answering === 'takes a part') return { outcome: 'failed', reason, delivered: count };
  return { outcome: 'failed', reason, ...(answering === 'busy' ? { after: 30_000 } : {}) };
}
