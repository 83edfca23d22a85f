/**
 * Requests with an `Idempotency-Key` (draft-ietf-httpapi-idempotency-key-header-07): requests with the same key and
 * body are executed once and get the same response, for 24 h within the memory limit. Later, and after a restart, the
 * created resource is recognised by its id: see {@link ./resources/ids.ts}.
 */

import { createHash } from 'node:crypto';
import type { Clock } from '../../agent/ports.ts';
import { DAY } from '../../protocol/calendar.ts';
import { VigieError } from '../../protocol/errors.ts';
import type { Answer, Call, Once } from './call.ts';

/** Lifetime in ms of a stored response. */
const KEPT = DAY;
const MOST = 1_000;

/** Returns the digests that identify a request with this key. */
export function onceOf({ operation, path, caller, body }: Omit<Call, 'once'>, key: string): Once {
  return {
    key: digest([caller.name, operation.id, Object.entries(path).sort(), key]),
    body: digest(body ?? null),
  };
}

/** Rejects a key that was used with another body. @throws VigieError `input.malformed` */
export function refuseOther(): never {
  throw new VigieError('input.malformed', 'Idempotency-Key: was used with another body; choose a new key');
}

interface Done {
  readonly body: string;
  readonly answer: Promise<Answer>;
  /** Expiry of the response in monotonic ms. */
  readonly until: number;
}

export class IdempotentAnswers {
  readonly #clock: Clock;
  readonly #done = new Map<string, Done>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /**
   * Returns the response of `carryOut`, or the stored response to the same call. A failed call had no effect, so its
   * response is not stored and the client may retry with the same key.
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

  /** Removes expired responses. The map is in order of creation, so the oldest are first. */
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
