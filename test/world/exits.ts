/** Models of the receivers of exits: they confirm records, fail, hang, or refuse some for good. */
import type { NumberedItem } from '../../adapters/exits/forwarder.ts';
import type { NumberedRecords } from '../../agent/ports.ts';
import { VigieError } from '../../protocol/errors.ts';
import type { Chance } from './chance.ts';
import { findMark } from './marks.ts';
import type { WorldTime } from './time.ts';

/** Behaviour of the receiver of an exit on a request. */
export type ExitAnswering = 'works' | 'fails' | 'hangs' | 'refuses';

/** The collection that is sent. */
export const EXIT_COLLECTION = 'telemetry';
/** Time-out of a request, ms. */
const TIMEOUT = 30_000;
/** A receiver that refuses records refuses each one whose number is a multiple of this. */
const REFUSED = 3;

export interface ExitReceiverParts {
  readonly time: WorldTime;
  readonly chance: Chance;
  readonly broken: (invariant: 'exitOrder' | 'exitContents' | 'private', what: string) => void;
}

export class ExitReceiver {
  answering: ExitAnswering = 'works';
  readonly #parts: ExitReceiverParts;
  /** Contents of the records that arrived, by number. */
  readonly #contents = new Map<number, string>();
  readonly #refused = new Set<number>();

  constructor(parts: ExitReceiverParts) {
    this.#parts = parts;
  }

  /** The data directory of the car was replaced, so its numbers begin again. */
  forget(): void {
    this.#contents.clear();
    this.#refused.clear();
  }

  /** Function of one run of an agent that sends records to the receiver. */
  writer(alive: () => boolean): (items: readonly NumberedItem[]) => Promise<void> {
    const { time, chance, broken } = this.#parts;
    let confirmed = -1;
    return async (items) => {
      const answering = this.answering;
      await time.wait(chance.between(5, 500));
      const numbers = items.map(({ number }) => number);
      if (!numbers.every((number, place) => number > (numbers[place - 1] ?? confirmed)))
        broken('exitOrder', `${numbers.join(', ')} after ${confirmed}`);
      if (answering === 'fails') throw new VigieError('link.lost', 'the receiver fails');
      const refused = numbers.filter((number) => number % REFUSED === 0);
      if (answering === 'refuses' && refused.length > 0) {
        if (items.length === 1) for (const number of refused) this.#refused.add(number);
        throw new VigieError('message.malformed', 'the receiver refuses a record');
      }
      // A receiver that does not answer may still have accepted all.
      if (answering !== 'hangs' || chance.happens(0.5)) this.#accept(items);
      await time.wait(answering === 'hangs' ? TIMEOUT : chance.between(5, 500));
      if (!alive()) return new Promise<never>(() => undefined);
      if (answering === 'hangs') throw new VigieError('link.lost', 'the receiver does not answer');
      confirmed = numbers.at(-1) ?? confirmed;
    };
  }

  /** Records of the car that the receiver neither accepted nor refused. */
  missing(records: NumberedRecords): number[] {
    return [...records.from(EXIT_COLLECTION, 0)].flatMap(({ number, stored }) =>
      stored === undefined || this.#contents.has(number) || this.#refused.has(number) ? [] : [number],
    );
  }

  #accept(items: readonly NumberedItem[]): void {
    const { broken } = this.#parts;
    for (const { number, stored } of items) {
      const mark = findMark(stored.record);
      if (mark !== undefined) broken('private', `sends ${mark} to an exit`);
      const contents = JSON.stringify([stored.id, stored.at, digestible(stored.record)]);
      const known = this.#contents.get(number);
      if (known !== undefined && known !== contents) broken('exitContents', `record ${number}`);
      this.#contents.set(number, contents);
    }
  }
}

/** A form of a record without bytes, for comparisons. */
function digestible(record: unknown): unknown {
  return JSON.parse(
    JSON.stringify(record, (_, value) => (ArrayBuffer.isView(value) ? Array.from(value as Uint8Array) : value)),
  );
}
