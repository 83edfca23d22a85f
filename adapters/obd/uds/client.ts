import type { Clock } from '../../../agent/ports.ts';
import { reasonOf, VigieError } from '../../../protocol/errors.ts';
import { hexByte } from '../../../protocol/hex.ts';
import { NEGATIVE, PENDING } from '../negative-response.ts';
import type { DiagnosticAddress, DiagnosticAnswer, DiagnosticRequest } from '../requester.ts';
import { NoAnswer, NotBegun, Refused } from './failures.ts';

/** Sends requests to control units, one at a time. */
export interface UdsRequester {
  readonly asleep?: boolean;
  /** Sends a request. `wake`: also on a bus that seems to sleep, since only the addressed control unit may be awake. */
  request(request: DiagnosticRequest & { readonly wake?: boolean }): Promise<readonly DiagnosticAnswer[]>;
}

/** One request, and the number of bytes after the service that a positive answer echoes. */
export interface DiagnosticStep {
  readonly payload: Uint8Array;
  readonly echoed: number;
}

/** Default answer time in ms: ten times the P2 of ISO 14229-2 §7.2, to allow for gateways. */
const ANSWER = 500;
/** Longest answer time in ms that a control unit may request with its own P2. */
const LONGEST_ANSWER = 5_000;
/** Time in ms until announced answers (P2*): the standard's value, and the longest that a control unit may request. */
const ANNOUNCED = 5_000;
const LONGEST_ANNOUNCED = 10_000;

/** busyRepeatRequest: the client must send the same request again (ISO 14229-1:2020 Table A.1). */
const BUSY = 0x21;
const REPEATS = 5;
const BETWEEN = 100;

const INPUT_OUTPUT_CONTROL = 0x2f;

export interface AskOptions {
  /** Number of attempts before the request counts as unanswered; 1 if a repetition might execute the action twice. */
  readonly attempts?: number;
  /**
   * Monotonic time in ms after which the request is not repeated. Also limits "response pending", but to at least 5 s.
   */
  readonly until?: number;
  /** Called before each attempt, when its turn arrives. Throws a VigieError if no request is allowed any more. */
  readonly allowed?: (() => void) | undefined;
}

/** Sends requests to one control unit, one at a time. */
export class UdsClient {
  readonly #requester: UdsRequester;
  readonly #address: DiagnosticAddress;
  readonly #clock: Clock;
  readonly #urgent: boolean;
  #timeout = ANSWER;
  #pending = ANNOUNCED;
  #heard = Number.NEGATIVE_INFINITY;

  /** @param urgent if true, requests precede those of others: a session would end while they wait */
  constructor(requester: UdsRequester, address: DiagnosticAddress, clock: Clock, urgent = true) {
    this.#urgent = urgent;
    this.#requester = requester;
    this.#address = address;
    this.#clock = clock;
  }

  /** True if no request may be sent because the bus sleeps. */
  get asleep(): boolean {
    return this.#requester.asleep === true;
  }

  /** Monotonic time in ms of its last answer. */
  get heard(): number {
    return this.#heard;
  }

  /** Sets the control unit's own times in ms: until an answer (P2), and until an announced answer (P2*). */
  timing(answer: number, pending: number): void {
    this.#timeout = Math.min(answer + ANSWER, LONGEST_ANSWER);
    this.#pending = Math.min(Math.max(ANNOUNCED, pending + ANSWER), LONGEST_ANNOUNCED);
  }

  /**
   * Sends a request and returns the positive answer.
   * @throws VigieError {@link Refused}; {@link NotBegun}; {@link NoAnswer}, if it is unknown whether it was executed;
   * the error of `allowed`, after an unanswered attempt; `command.actuation` if the request could not be sent
   */
  async ask({ payload, echoed }: DiagnosticStep, options: AskOptions = {}): Promise<Uint8Array> {
    const { attempts = 1, until = 0, allowed } = options;
    for (let tried = 1, busy = 0; ; ) {
      let forbidden: VigieError | undefined;
      const guard = (): void => {
        try {
          allowed?.();
        } catch (error) {
          if (error instanceof VigieError) forbidden = error;
          throw error;
        }
      };
      const longestPending = Math.max(ANNOUNCED, until - this.#clock.monotonic());
      const answer = await this.#once({ payload, longestPending, allowed: guard }).catch((error: unknown) => {
        if (forbidden === undefined) throw error;
        throw tried === 1 ? new NotBegun(forbidden) : forbidden;
      });
      if (answer !== undefined) {
        this.#heard = this.#clock.monotonic();
        if (matches(payload, answer, echoed)) return answer;
        const response = refusalOf(payload, answer);
        if (response === BUSY && busy++ < REPEATS) {
          await new Promise<void>((resolve) => this.#clock.after(BETWEEN, resolve));
          continue;
        }
        if (response !== undefined) throw new Refused(payload, response);
      }
      if (tried++ >= attempts || this.#clock.monotonic() >= until) throw new NoAnswer(payload, answer);
    }
  }

  /** Sends the request once. Undefined if no whole answer arrived. */
  async #once(
    asked: Pick<DiagnosticRequest, 'payload' | 'longestPending' | 'allowed'>,
  ): Promise<Uint8Array | undefined> {
    const request = {
      ...asked,
      address: this.#address,
      timeout: this.#timeout,
      pending: this.#pending,
      urgent: this.#urgent,
      // The first request requires an awake bus; after an answer, the control unit is known to be awake.
      wake: this.#heard !== Number.NEGATIVE_INFINITY,
    };
    try {
      const [answer] = await this.#requester.request(request);
      return answer?.payload;
    } catch (cause) {
      if (cause instanceof VigieError && cause.code === 'input.malformed') return undefined;
      const reason = reasonOf(cause);
      throw new VigieError('command.actuation', `service ${hexByte(asked.payload[0] ?? 0)}: ${reason}`, { cause });
    }
  }
}

/** Returns the code of a refusal of this request. "Response pending" alone is not one: it may still be executed. */
function refusalOf(request: Uint8Array, [first, service, response]: Uint8Array): number | undefined {
  return first === NEGATIVE && service === request[0] && response !== PENDING ? response : undefined;
}

function matches(request: Uint8Array, answer: Uint8Array, echoed: number): boolean {
  if (answer[0] !== (request[0] as number) + 0x40 || answer.length <= echoed) return false;
  for (let i = 1; i <= echoed; i++) if (answer[i] !== request[i]) return false;
  // Most control units echo the control parameter after the identifier (§13.2), which distinguishes a late answer to
  // taking control from the answer to returning it.
  return request[0] !== INPUT_OUTPUT_CONTROL || answer.length === 3 || answer[3] === request[3];
}
