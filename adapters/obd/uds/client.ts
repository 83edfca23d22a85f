import type { Clock } from '../../../agent/ports.ts';
import { VigieError } from '../../../protocol/errors.ts';
import { hexByte } from '../hex.ts';
import { NEGATIVE, PENDING } from '../negative-response.ts';
import type { DiagnosticAddress, DiagnosticAnswer, DiagnosticRequest } from '../requester.ts';
import { NoAnswer, NotBegun, Refused } from './failures.ts';

/** Asks control units, one thing after the other. */
export interface UdsRequester {
  readonly asleep?: boolean;
  /** `wake`: also on a bus that seems to sleep, since only the control unit that is asked may be awake. */
  request(request: DiagnosticRequest & { readonly wake?: boolean }): Promise<readonly DiagnosticAnswer[]>;
}

/** One request, and how many bytes behind the service a positive answer repeats. */
export interface DiagnosticStep {
  readonly payload: Uint8Array;
  readonly echoed: number;
}

/** Answers within, ms: ten times the P2 that ISO 14229-2 §7.2 gives a control unit, for gateways on the way. */
const ANSWER = 500;
/** Longest that a control unit may ask for by its own P2, ms. */
const LONGEST_ANSWER = 5_000;
/** Answers that were announced within (P2*), ms: what the standard gives, and the longest that may be asked for. */
const ANNOUNCED = 5_000;
const LONGEST_ANNOUNCED = 10_000;

/** busyRepeatRequest: the same request is to come again (ISO 14229-1:2020 Table A.1). */
const BUSY = 0x21;
const REPEATS = 5;
const BETWEEN = 100;

const INPUT_OUTPUT_CONTROL = 0x2f;

export interface AskOptions {
  /** Times that it is asked before it counts as not answered; 1 where asking twice might do twice what is asked. */
  readonly attempts?: number;
  /** Monotonic ms after which it is not asked again; so long, and 5 s at least, its answer may be announced. */
  readonly until?: number;
  /** Throws a VigieError that says why it must not be asked any more; called before each time, as it comes to its turn. */
  readonly allowed?: (() => void) | undefined;
}

/** Asks one control unit one thing after the other. */
export class UdsClient {
  readonly #requester: UdsRequester;
  readonly #address: DiagnosticAddress;
  readonly #clock: Clock;
  readonly #urgent: boolean;
  #timeout = ANSWER;
  #pending = ANNOUNCED;
  #heard = Number.NEGATIVE_INFINITY;

  /** @param urgent its requests go before those of others: a session would end while they wait */
  constructor(requester: UdsRequester, address: DiagnosticAddress, clock: Clock, urgent = true) {
    this.#urgent = urgent;
    this.#requester = requester;
    this.#address = address;
    this.#clock = clock;
  }

  /** No request may be sent: its bus sleeps. */
  get asleep(): boolean {
    return this.#requester.asleep === true;
  }

  /** When it answered last, monotonic ms. */
  get heard(): number {
    return this.#heard;
  }

  /** The control unit gave its own times, ms: until an answer (P2), and until one that it announced (P2*). */
  timing(answer: number, pending: number): void {
    this.#timeout = Math.min(answer + ANSWER, LONGEST_ANSWER);
    this.#pending = Math.min(Math.max(ANNOUNCED, pending + ANSWER), LONGEST_ANNOUNCED);
  }

  /**
   * The positive answer.
   * @throws VigieError {@link Refused}; {@link NotBegun}; {@link NoAnswer}, whether or not it was done; what `allowed`
   * throws, when it was asked before without an answer; `command.actuation` when it could not be asked
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

  /** Undefined when no whole answer came. */
  async #once(
    asked: Pick<DiagnosticRequest, 'payload' | 'longestPending' | 'allowed'>,
  ): Promise<Uint8Array | undefined> {
    const request = {
      ...asked,
      address: this.#address,
      timeout: this.#timeout,
      pending: this.#pending,
      urgent: this.#urgent,
      // The first request is of a bus that is awake; after that the control unit is.
      wake: this.#heard !== Number.NEGATIVE_INFINITY,
    };
    try {
      const [answer] = await this.#requester.request(request);
      return answer?.payload;
    } catch (cause) {
      if (cause instanceof VigieError && cause.code === 'input.malformed') return undefined;
      const reason = cause instanceof Error ? cause.message : String(cause);
      throw new VigieError('command.actuation', `service ${hexByte(asked.payload[0] ?? 0)}: ${reason}`, { cause });
    }
  }
}

/** The code of a refusal of this request. An announcement that nothing followed is none: it may be done yet. */
function refusalOf(request: Uint8Array, [first, service, response]: Uint8Array): number | undefined {
  return first === NEGATIVE && service === request[0] && response !== PENDING ? response : undefined;
}

function matches(request: Uint8Array, answer: Uint8Array, echoed: number): boolean {
  if (answer[0] !== (request[0] as number) + 0x40 || answer.length <= echoed) return false;
  for (let i = 1; i <= echoed; i++) if (answer[i] !== request[i]) return false;
  // Behind the identifier comes the control parameter (§13.2), though not from every control unit: the late answer to
  // taking control is none to returning it.
  return request[0] !== INPUT_OUTPUT_CONTROL || answer.length === 3 || answer[3] === request[3];
}
