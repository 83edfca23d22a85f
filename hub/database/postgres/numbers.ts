/** Message numbers of the cars of one commit: read once, changed by the new messages, and written once. */
import { excessOf, numberChangesOf, type PlacedMessage } from '../../core/commit.ts';
import type { CarMessage } from '../../core/message.ts';
import { ClassNumbers } from '../../core/numbers.ts';
import type { CarExcess } from '../../core/ports.ts';
import { numbersIn } from '../queries.ts';
import { columns } from './database.ts';
import type { Execute } from './execute.ts';

/** A message of a known car. */
export type OwnMessage = CarMessage & { readonly vehicle: number };

/** Numbers of one class of a car. */
interface OwnNumbers {
  readonly vehicle: number;
  readonly class: number;
  readonly value: ClassNumbers;
}

export class CommitNumbers {
  readonly #all: ReadonlyMap<string, OwnNumbers>;

  private constructor(all: ReadonlyMap<string, OwnNumbers>) {
    this.#all = all;
  }

  /** Reads the numbers that the messages may change. The vehicles must be locked. */
  static async read(execute: Execute, messages: readonly OwnMessage[]): Promise<CommitNumbers> {
    const all = new Map<string, OwnNumbers>();
    for (const one of messages) {
      for (const { class: priority } of numberChangesOf(one)) {
        const key = `${one.vehicle}/${priority}`;
        if (!all.has(key)) all.set(key, { vehicle: one.vehicle, class: priority, value: new ClassNumbers() });
      }
    }
    const rows = await execute(
      `SELECT numbers.* FROM unnest($1::bigint[], $2::smallint[]) AS given (vehicle, class)
       JOIN numbers ON numbers.vehicle = given.vehicle AND numbers.class = given.class`,
      columns([...all.values()].map(({ vehicle, class: priority }) => [vehicle, priority])),
    );
    for (const row of rows) {
      const [vehicle, priority] = [row['vehicle'] as number, row['class'] as number];
      all.set(`${vehicle}/${priority}`, { vehicle, class: priority, value: numbersIn(row) });
    }
    return new CommitNumbers(all);
  }

  /** Returns the numbers of the class of a message that was passed to {@link read}. */
  of({ vehicle, class: priority }: OwnMessage): ClassNumbers {
    return this.#own(vehicle, priority).value;
  }

  /** Adds new messages, and messages that arrived again, and writes the changed numbers. Returns those beyond the bounds. */
  async add(execute: Execute, kept: readonly PlacedMessage[], repeated: readonly OwnMessage[]): Promise<CarExcess[]> {
    const changed = new Map<OwnNumbers, number>();
    for (const one of kept) {
      for (const change of numberChangesOf(one)) {
        const own = this.#own(one.vehicle, change.class);
        change.apply(own.value);
        changed.set(own, one.received);
      }
    }
    for (const one of repeated) {
      const own = this.#own(one.vehicle, one.class);
      own.value.arriveAgain(one.message);
      changed.set(own, one.received);
    }
    const rows = [...changed].filter(([{ value }]) => !value.isEmpty);
    if (rows.length === 0) return [];
    await execute(
      `INSERT INTO numbers (vehicle, class, arrived, given_up, starts, unsure_below, missing, due)
       SELECT * FROM unnest($1::bigint[], $2::smallint[], $3::text[], $4::text[], $5::text[], $6::bigint[], $7::bigint[],
         $8::bigint[])
       ON CONFLICT (vehicle, class) DO UPDATE
       SET arrived = excluded.arrived, given_up = excluded.given_up, starts = excluded.starts,
         unsure_below = excluded.unsure_below, missing = excluded.missing,
         due = CASE WHEN numbers.missing = 0 AND excluded.missing > 0 THEN excluded.due ELSE numbers.due END,
         attempts = CASE WHEN excluded.missing = 0 THEN 0 ELSE numbers.attempts END,
         requested = CASE WHEN excluded.missing = 0 THEN 0 ELSE numbers.requested END`,
      columns(
        rows.map(([{ vehicle, class: priority, value }, received]) => {
          const { arrived, givenUp, starts, unsureBelow = 0 } = value.kept;
          const runs = [arrived, givenUp, starts].map((one) => JSON.stringify(one));
          return [vehicle, priority, ...runs, unsureBelow, value.missing, received];
        }),
      ),
    );
    return excessOf(changed.keys(), kept);
  }

  #own(vehicle: number, priority: number): OwnNumbers {
    return this.#all.get(`${vehicle}/${priority}`) as OwnNumbers;
  }
}
