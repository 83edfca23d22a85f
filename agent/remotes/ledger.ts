import type { FailureCause } from '../../protocol/errors.ts';
import type { RemoteStatus, RemoteType } from '../../protocol/schema/remote.ts';
import type { Document } from '../ports.ts';
import { type CounterWindow, use } from './window.ts';

/** What became of one command. */
export interface ActionRecord {
  readonly id: string;
  readonly type: RemoteType;
  /** Profile action, e.g. `doors.lock`; empty when the command was refused before it had one. */
  readonly action: string;
  readonly status: RemoteStatus;
  readonly failureCause?: FailureCause;
  readonly detail?: string;
  /** UTC ms of the last transition. */
  readonly at: number;
}

export interface LedgerData {
  /** By key id, hexadecimal. */
  readonly counters: Readonly<Record<string, CounterWindow>>;
  /** Oldest first. */
  readonly actions: readonly ActionRecord[];
}

/** Commands remembered; an id older than these is still refused by its key's counter window. */
const REMEMBERED = 256;

export const emptyLedger: LedgerData = { counters: {}, actions: [] };

/** States no further transition follows. */
export function final(status: RemoteStatus): boolean {
  return status === 'Success' || status === 'AlreadyDone' || status === 'Failed';
}

/** What must survive a power cut so that nothing is carried out twice: used counters and commands with their state. */
export class Ledger {
  readonly #document: Document<LedgerData>;
  #data: LedgerData;

  constructor(document: Document<LedgerData>) {
    this.#document = document;
    this.#data = document.data;
  }

  find(id: string): ActionRecord | undefined {
    return this.#data.actions.find((action) => action.id === id);
  }

  /** Commands that an earlier run left without a final state. */
  unfinished(): readonly ActionRecord[] {
    return this.#data.actions.filter((action) => !final(action.status));
  }

  /** Marks a counter as used; false when it was used before. On disk with the next `record`. */
  use(key: string, counter: number): boolean {
    const next = use(this.#data.counters[key], counter);
    if (next === undefined) return false;
    this.#data = { ...this.#data, counters: { ...this.#data.counters, [key]: next } };
    return true;
  }

  /** Sets a command's state; resolves when it is on disk. */
  async record(action: ActionRecord): Promise<void> {
    const others = this.#data.actions.filter((other) => other.id !== action.id);
    this.#data = { ...this.#data, actions: [...others, action].slice(-REMEMBERED) };
    await this.#document.write(this.#data);
  }
}
