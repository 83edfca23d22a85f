import { VigieError } from '../../../protocol/errors.ts';
import { hexByte } from '../../../protocol/hex.ts';
import { NEGATIVE, PENDING } from '../negative-response.ts';
import type { DiagnosticAnswer } from '../requester.ts';
import { readControl } from './control.ts';
import { deferred } from './deferred.ts';
import { answersRequest } from './matching.ts';
import { Reception } from './reception.ts';
import type { IsotpRoute, Responder } from './route.ts';
import type { IsotpWire } from './settings.ts';
import { Transmission } from './transmission.ts';

/** Maximum number of responders; a functional request with 11 bits reaches eight (ISO 15765-4 §6.3.2.2). */
const MOST_RESPONDERS = 16;

/** Maximum number of answers to one request; more are a flood. */
const MOST_ANSWERS = 64;

interface ExchangeOptions {
  readonly wire: Omit<IsotpWire, 'send'>;
  readonly route: IsotpRoute;
  readonly payload: Uint8Array;
  /** Time in ms until the first answer. */
  readonly timeout: number;
  /** Sends a frame to the bus, with this identifier and first byte. */
  send(id: number, target: number | undefined, data: Uint8Array): Promise<void>;
}

/** One request and its answers. */
export class Exchange {
  /** The answers; empty if there are none. Rejects as `DiagnosticRequester.request` does. */
  readonly answers: Promise<readonly DiagnosticAnswer[]>;
  /** Number of messages that do not answer this request, e.g. late answers to the previous one. */
  strays = 0;
  /** Faults of answers that began and remained incomplete. */
  readonly faults: VigieError[] = [];
  readonly #options: ExchangeOptions;
  readonly #request: Transmission;
  readonly #receptions = new Map<number, Reception>();
  readonly #answers: DiagnosticAnswer[] = [];
  /** By identifier: monotonic time in ms by which the answer after “response pending” must arrive. */
  readonly #pending = new Map<number, number>();
  readonly #outcome = deferred<readonly DiagnosticAnswer[]>();
  readonly #begun: number;
  #deadline = Number.POSITIVE_INFINITY;
  #ended = false;
  #cancel: (() => void) | undefined;

  constructor(options: ExchangeOptions) {
    this.#options = options;
    const { wire, route, payload, send } = options;
    this.#begun = wire.clock.monotonic();
    this.answers = this.#outcome.promise;
    this.#request = new Transmission({ ...wire, send: (data) => send(route.request, route.target, data) }, payload);
    this.#request.done.then(
      () => this.#sent(),
      (error: unknown) => this.#end(() => this.#outcome.reject(error)),
    );
  }

  /** Processes a frame of the bus. Returns true if a possible responder sent it. */
  frame(id: number, extended: boolean, data: Uint8Array): boolean {
    const { route, wire } = this.#options;
    const responder = this.#ended || extended !== route.extended ? undefined : route.responder(id, data[0]);
    if (responder === undefined) return false;
    const message = wire.address === 0 ? data : data.subarray(1);
    const control = readControl(message, wire.address);
    if (control === undefined) return true;
    if (control.kind === 'flow') this.#request.flow(control);
    else this.#reception(id, responder)?.frame(control, message);
    this.#review();
    return true;
  }

  /** Ends the exchange; `answers` rejects with `error`. */
  abort(error: VigieError): void {
    this.#end(() => this.#outcome.reject(error));
  }

  #sent(): void {
    if (this.#ended) return;
    this.#deadline = this.#options.wire.clock.monotonic() + this.#options.timeout;
    this.#review();
  }

  #reception(id: number, responder: Responder): Reception | undefined {
    const known = this.#receptions.get(id);
    if (known !== undefined || this.#receptions.size >= MOST_RESPONDERS) return known;
    const { wire, send } = this.#options;
    const reception = new Reception(
      { ...wire, send: (data) => send(responder.flowControl, responder.target, data) },
      {
        received: (payload) => this.#received(id, payload),
        failed: (error, replaced) => {
          if (replaced) this.faults.push(error);
          else this.#failed(id, error);
        },
      },
    );
    this.#receptions.set(id, reception);
    return reception;
  }

  #received(id: number, payload: Uint8Array): void {
    if (!answersRequest(this.#options.payload, payload)) {
      this.strays++;
      return;
    }
    const { clock, settings } = this.#options.wire;
    if (payload[0] === NEGATIVE && payload[2] === PENDING) {
      // Endless "response pending" counts as no answer (ISO 14229-2 §7.2 does not limit the number of repetitions).
      if (clock.monotonic() - this.#begun > settings.longestPending) this.#failed(id, this.#unanswered(id));
      else this.#pending.set(id, clock.monotonic() + settings.pending);
      return;
    }
    this.#pending.delete(id);
    this.#answers.push({ id, payload });
    if (!this.#options.route.functional || this.#answers.length >= MOST_ANSWERS) this.#finish();
  }

  #failed(id: number, error: VigieError): void {
    this.#pending.delete(id);
    this.faults.push(error);
    if (this.#options.route.functional) this.#review();
    else this.#finish();
  }

  /** Ends the exchange if no answer is outstanding; else sets the timer for the next review. */
  #review(): void {
    this.#cancel?.();
    this.#cancel = undefined;
    if (this.#ended || this.#deadline === Number.POSITIVE_INFINITY) return;
    const now = this.#options.wire.clock.monotonic();
    for (const [id, until] of this.#pending) {
      if (until > now || this.#receptions.get(id)?.active === true) continue;
      this.#pending.delete(id);
      this.faults.push(this.#unanswered(id));
    }
    // The timeout of an answer in reception calls this method again.
    for (const reception of this.#receptions.values()) if (reception.active) return;
    const until = Math.max(this.#deadline, ...this.#pending.values());
    if (until <= now) this.#finish();
    else this.#cancel = this.#options.wire.clock.after(until - now, () => this.#review());
  }

  #unanswered(id: number): VigieError {
    return new VigieError(
      'input.malformed',
      `${id.toString(16).toUpperCase()} said "response pending" to service ${hexByte(this.#options.payload[0] ?? 0)}, and no answer followed`,
    );
  }

  /** Ends the exchange. Complete answers count even if the answer of another control unit is incomplete. */
  #finish(): void {
    const [fault] = this.faults;
    if (this.#answers.length > 0 || fault === undefined) this.#end(() => this.#outcome.resolve(this.#answers));
    else this.#end(() => this.#outcome.reject(fault));
  }

  #end(settle: () => void): void {
    if (this.#ended) return;
    this.#ended = true;
    this.#cancel?.();
    this.#cancel = undefined;
    for (const reception of this.#receptions.values()) reception.close();
    settle();
    this.#request.abort(new VigieError('input.unreadable', 'the request has ended'));
  }
}
