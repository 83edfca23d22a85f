/** Messages of cars that are not registered: kept aside within bounds until somebody registers the car. */
import { DAY } from '../../protocol/calendar.ts';
import { VigieError } from '../../protocol/errors.ts';
import type { Kind } from '../../protocol/schema/kind.ts';
import { Looks } from './looks.ts';
import { type CarMessage, type RefusedMessage, readMessage } from './message.ts';
import type { HubLog, Timer } from './ports.ts';
import type { RetentionDays } from './retention.ts';

/** Largest number and size of messages of one car and of all cars. If there are more, the oldest are dropped. */
export interface UnregisteredBounds {
  readonly carMessages: number;
  readonly carBytes: number;
  readonly messages: number;
  readonly bytes: number;
  readonly cars: number;
}

/** Bounds of the payloads; keys and indexes take more space on the disk. */
export const UNREGISTERED_BOUNDS: UnregisteredBounds = {
  carMessages: 2_000,
  carBytes: 1_048_576,
  messages: 100_000,
  bytes: 67_108_864,
  cars: 10_000,
};

/** A message of a car that is not registered, as the broker delivered it. */
export interface UnregisteredMessage {
  readonly vin: string;
  readonly topic: string;
  /** If omitted, the hub cannot read the message. */
  readonly kind?: Kind;
  readonly payload: Uint8Array;
  readonly retained: boolean;
  /** UTC ms of the hub. */
  readonly received: number;
}

export interface UnregisteredTotals {
  readonly cars: number;
  readonly messages: number;
  /** Size of the payloads in bytes. */
  readonly bytes: number;
}

/** An unregistered car with messages. */
export interface UnregisteredCar {
  readonly vin: string;
  /** Arrival of its first and latest message in UTC ms of the hub. */
  readonly firstSeen: number;
  readonly lastSeen: number;
  readonly messages: number;
  readonly bytes: number;
  /** Number of its messages that were dropped because of the bounds or of retention. */
  readonly dropped: number;
}

export interface UnregisteredStore {
  /**
   * Resolves when the messages are on disk. `changed`: cars that were registered, removed or forgotten meanwhile, and
   * of which no message was kept. `dropped`: number of older messages that were dropped. Rejects with `store.failed`.
   */
  keep(
    messages: readonly UnregisteredMessage[],
  ): Promise<{ readonly changed: ReadonlySet<string>; readonly dropped: number }>;
  /** Cars whose messages were kept aside and that may send now, at most `limit`. */
  admitted(limit: number): Promise<readonly string[]>;
  totals(): Promise<UnregisteredTotals>;
  /** The cars with the latest messages, newest first, at most `limit`. */
  newest(limit: number): Promise<readonly UnregisteredCar[]>;
  /**
   * Drops messages of a kind that arrived before `before` (UTC ms of the hub), at most 500, in one commit. If `kind` is
   * undefined, drops messages that the hub cannot read. Resolves with the number of dropped messages.
   */
  removeBefore(kind: Kind | undefined, before: number): Promise<number>;
}

/** Reads a message that was kept aside: received at `now`, with the car heard when the message arrived. */
export function readUnregistered(
  { topic, payload, retained, received: heard }: Omit<UnregisteredMessage, 'vin' | 'kind'>,
  now: number,
): { readonly read: CarMessage } | { readonly refused: RefusedMessage } {
  try {
    return { read: { ...readMessage(topic, payload, now, retained), heard } };
  } catch (error) {
    if (!(error instanceof VigieError)) throw error;
    return { refused: { topic, reason: error.message, payload, received: now } };
  }
}

/** Time in ms between two searches for registered cars with messages. A registry change searches at once. */
const SEARCH_MS = 60_000;
/** Largest number of cars in one search. */
const CARS = 100;

interface UnregisteredCarsParts {
  readonly store: Pick<UnregisteredStore, 'admitted'>;
  /** Takes in the messages of these cars that were kept aside. */
  readonly takeIn: (vins: readonly string[]) => void;
  readonly after: Timer;
  readonly log: HubLog;
}

/** Takes in messages of cars that were registered, even if the cars send nothing more. */
export class UnregisteredCars {
  readonly #parts: UnregisteredCarsParts;
  readonly #looks: Looks;

  constructor(parts: UnregisteredCarsParts) {
    this.#parts = parts;
    this.#looks = new Looks({ after: parts.after, every: SEARCH_MS, look: () => this.#look() });
  }

  /** Call at the start, and when the registry has changed. */
  wake(): void {
    this.#looks.wake();
  }

  stop(): Promise<void> {
    return this.#looks.stop();
  }

  async #look(): Promise<void> {
    const { store, takeIn, log } = this.#parts;
    try {
      const vins = await store.admitted(CARS);
      if (vins.length > 0) takeIn(vins);
    } catch (error) {
      log.warn('hub.registry.unread', { error: (error as Error).message });
    }
  }
}

/** Largest number of commits of one kind in a row. */
const COMMITS = 10;

/** Drops messages that are older than the days of their kind; unreadable ones after the longest of these times. */
export async function expireUnregistered(
  store: Pick<UnregisteredStore, 'removeBefore'>,
  days: RetentionDays,
  now: number,
): Promise<number> {
  const longest = Math.max(0, ...Object.values(days));
  const periods: (readonly [Kind | undefined, number])[] = [
    ...(Object.entries(days) as [Kind, number][]),
    [undefined, longest],
  ];
  let dropped = 0;
  for (const [kind, period] of periods) {
    for (let commits = 0; commits < COMMITS; commits++) {
      const removed = await store.removeBefore(kind, now - period * DAY);
      if (removed === 0) break;
      dropped += removed;
    }
  }
  return dropped;
}
