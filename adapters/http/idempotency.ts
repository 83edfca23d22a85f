/**
 * Requests with an `Idempotency-Key` (draft-ietf-httpapi-idempotency-key-header-07): the same key and body are executed
 * once and get the same answer, for 24 h within the memory limit. After that, and after a restart, the resource that
 * they created is recognised by its id: see {@link ./resources/ids.ts}.
 */

import { createHash } from 'node:crypto';
import type { Clock } from '../../agent/ports.ts';
import { DAY } from '../../protocol/calendar.ts';
import { VigieError } from '../../protocol/errors.ts';
import type { Answer, Call, Once } from './call.ts';

/** Lifetime of a stored answer, ms. */
const KEPT = DAY;
const MOST = 1_000;

/** Returns the identity by which a request with this key is recognised. */
export function onceOf({ operation, path, caller, body }: Omit<Call, 'once'>, key: string): Once {
  return {
    key: digest([caller.name, operation.id, Object.entries(path).sort(), key]),
    body: digest(body ?? null),
  };
}

/** @throws VigieError `input.malformed` */
export function refuseOther(): never {
  throw new VigieError('input.malformed', 'Idempotency-Key: was used with another body; choose a new key');
}

interface Done {
  readonly body: string;
  readonly answer: Promise<Answer>;
  /** Expiry of the answer, monotonic ms. */
  readonly until: number;
}

export class IdempotentAnswers {
  readonly #clock: Clock;
  readonly #done = new Map<string, Done>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /**
   * Returns the answer of `carryOut`, or the stored answer to the same call. A failed call had no effect, so its answer
   * is not stored: the same key may try again.
   * @throws VigieError `input.malformed` if the key was used with another body
   */
  answer({ key: name, body }: Once, carryOut: () => Answer | Promise<Answer>): Promise<Answer> {
    const now = this.#clock.monotonic();
    const known = this.#done.get(name);
    if (known !== undefined && now < known.until) {
      return known.body === body ? known.answer : refuseOther();
    }
    this.#forget(now);
    const answer = Promise.resolve().then(carryOut);
    this.#done.delete(name);
    this.#done.set(name, { body, answer, until: now + KEPT });
    answer.catch(() => {
      if (this.#done.get(name)?.answer === answer) this.#done.delete(name);
    });
    return answer;
  }

  /** Removes expired answers. They are in the order of creation, so the oldest are first. */
  #forget(now: number): void {
    for (const [name, { until }] of this.#done) {
      if (until > now && this.#done.size < MOST) return;
      this.#done.delete(name);
    }
  }
}

function digest(value: unknown): string {
  return createHash('sha256').update(JSON.stringify(value)).digest('hex');
}
