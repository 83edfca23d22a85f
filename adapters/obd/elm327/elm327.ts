import { Backoff, type BackoffOptions } from '../../../agent/backoff.ts';
import type { Clock, Log, OpenLine, SourceHealth } from '../../../agent/ports.ts';
import { reasonOf, VigieError } from '../../../protocol/errors.ts';
import type { DiagnosticAddress, DiagnosticAnswer, DiagnosticRequest, DiagnosticRequester } from '../requester.ts';
import { Adapter, type AdapterFacts, AdapterFault } from './adapter.ts';
import { AdapterQuirks } from './adapter-quirks.ts';
import { Conversation } from './conversation.ts';
import { exchange, onlyReads } from './exchange.ts';
import { findProtocol, type Protocol, setProtocol } from './protocol.ts';

interface Elm327Options {
  readonly open: OpenLine;
  readonly clock: Clock;
  readonly log?: Log;
  /** Name of the adapter in errors and in the log, e.g. `/dev/ttyUSB0`. */
  readonly name?: string;
  /** Protocol of the car. If omitted, the adapter detects it with the first request. */
  readonly protocol?: Protocol;
  /** Delay in ms before the line is opened again: first and maximum; each delay is twice the previous one. */
  readonly backoff?: BackoffOptions;
}

/** Longest message in bytes of ISO 15765-2 with a 12-bit length. */
const LONGEST_REQUEST = 4095;

/** Number of consecutive refusals by the bus after which the protocol is detected again. */
const MOST_REFUSALS = 3;

const BACKOFF = { first: 1000, longest: 60_000 };

/**
 * Sends requests to the car through an ELM327, a clone, or an STN11xx/STN21xx. It tests which commands the adapter
 * supports and never relies on the version that the adapter claims. Sends nothing to the bus without a request. If no
 * protocol is configured, the adapter detects the car's protocol with the first request.
 */
export class Elm327 implements DiagnosticRequester {
  readonly #options: Elm327Options;
  readonly #quirks = new AdapterQuirks();
  readonly #counts = {
    requests: 0,
    answered: 0,
    unanswered: 0,
    failed: 0,
    strays: 0,
    resyncs: 0,
    resets: 0,
    restarts: 0,
  };
  #conversation: Conversation | undefined;
  #adapter: Adapter | undefined;
  #first: Promise<void> | undefined;
  /** True while a request is running. */
  #busy = false;
  /** Waiting requests: urgent ones first, the others in order. */
  readonly #waiting: { readonly urgent: boolean; readonly begin: () => void }[] = [];
  #protocol: Protocol | undefined;
  #refusals = 0;
  /** Reason why requests are impossible now. */
  #reason: string | undefined = 'not started';
  /** Reason why the last request got no answer from the car or the adapter. */
  #silence: string | undefined;
  #opening = false;
  #closed = false;
  readonly #backoff: Backoff;
  #cancel: (() => void) | undefined;

  constructor(options: Elm327Options) {
    this.#options = options;
    this.#backoff = new Backoff(options.backoff ?? BACKOFF);
    this.#protocol = options.protocol;
  }

  /** The adapter on the line; undefined while no adapter answers. */
  get adapter(): AdapterFacts | undefined {
    return this.#adapter?.facts;
  }

  /** Protocol of the car; undefined until it is known. */
  get protocol(): Protocol | undefined {
    return this.#protocol;
  }

  /** Opens the line and sets up the adapter. Resolves after the first attempt; more attempts follow with back-off. */
  start(): Promise<void> {
    this.#first ??= this.#open();
    return this.#first;
  }

  /** Sends a request; starts the adapter if {@link start} was not called. Errors as in `DiagnosticRequester`. */
  async request(request: DiagnosticRequest): Promise<readonly DiagnosticAnswer[]> {
    const { length } = request.payload;
    if (length === 0 || length > LONGEST_REQUEST) {
      throw this.#located(
        new VigieError('input.malformed', `a request has 1 to ${LONGEST_REQUEST} bytes, not ${length}`),
      );
    }
    await this.start();
    return this.#inTurn(() => this.#request(request), request.urgent);
  }

  /**
   * Measures the voltage in V at the adapter's connector, that of the car's 12 V battery (`ATRV`), to a few tenths.
   * @throws VigieError `input.unreadable` if there is no adapter now or it cannot measure
   */
  async voltage(): Promise<number> {
    await this.start();
    return this.#inTurn(async () => {
      const answer = await this.#mended(true, (adapter) => adapter.command('ATRV'));
      const volts = /^(\d{1,2}(?:\.\d+)?) ?V?$/i.exec(answer ?? '')?.[1];
      if (volts === undefined) throw new VigieError('input.unreadable', 'the adapter does not measure its voltage');
      return Number(volts);
    });
  }

  health(): SourceHealth {
    const counts = { ...this.#counts };
    if (this.#opening) return { state: 'opening', counts };
    const reason = this.#reason ?? this.#silence;
    return reason === undefined ? { state: 'running', counts } : { state: 'waiting', reason, counts };
  }

  /** Closes the line without changing the adapter; waiting requests reject with `input.unreadable`. */
  async close(): Promise<void> {
    this.#closed = true;
    this.#cancel?.();
    this.#adapter = undefined;
    this.#reason = 'closed';
    await this.#conversation?.close();
  }

  async #request(request: DiagnosticRequest): Promise<readonly DiagnosticAnswer[]> {
    this.#counts.requests++;
    const reads = onlyReads(request.payload);
    for (let attempt = 0; ; attempt++) {
      const outcome = await this.#mended(reads, async (adapter) => {
        const protocol = await this.#protocolFor(adapter, request.address);
        const { clock } = this.#options;
        return exchange({ adapter, clock, protocol, quirks: this.#quirks }, request);
      });
      if ('answers' in outcome) {
        this.#heard(outcome.answers.length);
        this.#counts.strays += outcome.strays;
        return outcome.answers;
      }
      if (attempt > 0 || !outcome.again || !reads) {
        this.#refused(outcome.error);
        throw outcome.error;
      }
    }
  }

  /** Runs the action with a synchronised adapter. After a loss of synchronisation, retries once if that is harmless. */
  async #mended<T>(again: boolean, action: (adapter: Adapter) => Promise<T>): Promise<T> {
    for (let attempt = 0; ; attempt++) {
      const adapter = this.#adapter;
      if (adapter === undefined) {
        throw new VigieError('input.unreadable', `there is no adapter now: ${this.#reason ?? 'the line is closed'}`);
      }
      const { remedy } = adapter;
      if (remedy !== undefined) await this.#mend(adapter, remedy);
      try {
        return await action(adapter);
      } catch (error) {
        if (!(error instanceof AdapterFault)) throw error;
        this.#options.log?.warn('elm327.fault', { adapter: this.#options.name, error: error.message });
        await this.#mend(adapter, error.remedy);
        if (attempt > 0 || !again) throw error;
      }
    }
  }

  async #mend(adapter: Adapter, remedy: AdapterFault['remedy']): Promise<void> {
    if (remedy === 'restart') this.#counts.resets++;
    else this.#counts.resyncs++;
    try {
      if (remedy === 'restart') await adapter.start();
      else await adapter.resync();
    } catch (error) {
      // If the text on the line makes no sense, open the line again: the adapter may have been replaced.
      const conversation = this.#conversation;
      if (this.#adapter === adapter) this.#down(reasonOf(error));
      await this.#leave(conversation);
      throw error;
    }
  }

  async #protocolFor(adapter: Adapter, { extended }: DiagnosticAddress): Promise<Protocol> {
    const { protocol, log, name } = this.#options;
    if (this.#protocol === undefined) {
      this.#protocol = await findProtocol(adapter);
      log?.info('elm327.protocol', { adapter: name, protocol: this.#protocol });
    }
    return setProtocol(adapter, protocol ?? this.#protocol, extended);
  }

  #heard(answers: number): void {
    this.#refusals = 0;
    this.#silence = undefined;
    if (answers > 0) this.#counts.answered++;
    else this.#counts.unanswered++;
  }

  #refused(error: VigieError): void {
    if (error.code !== 'input.unreadable') return;
    this.#refusals++;
    if (this.#refusals < MOST_REFUSALS || this.#options.protocol !== undefined) return;
    this.#refusals = 0;
    this.#protocol = undefined;
    this.#adapter?.renew();
  }

  /** Runs one job at a time: an adapter aborts a request if it receives another character. */
  async #inTurn<T>(job: () => Promise<T>, urgent = false): Promise<T> {
    if (this.#busy) {
      await new Promise<void>((begin) => {
        const behind = urgent ? this.#waiting.findIndex((other) => !other.urgent) : -1;
        this.#waiting.splice(behind < 0 ? this.#waiting.length : behind, 0, { urgent, begin });
      });
    }
    this.#busy = true;
    try {
      return await job();
    } catch (error) {
      if (!(error instanceof VigieError)) throw error;
      this.#counts.failed++;
      if (error.code === 'input.unreadable' && this.#adapter !== undefined) this.#silence = error.message;
      throw this.#located(error);
    } finally {
      const next = this.#waiting.shift();
      // Start the next job at once, so that no later request overtakes it.
      if (next === undefined) this.#busy = false;
      else next.begin();
    }
  }

  async #open(): Promise<void> {
    if (this.#closed) return;
    const { open, clock, log, name } = this.#options;
    this.#opening = true;
    let conversation: Conversation | undefined;
    try {
      conversation = await Conversation.open(open, clock, (reason) => {
        if (this.#adapter !== undefined) this.#down(reason);
      });
      this.#conversation = conversation;
      const adapter = new Adapter(conversation);
      if (!this.#closed) await adapter.start();
      if (this.#closed) throw new VigieError('input.unreadable', 'closed');
      this.#adapter = adapter;
      this.#reason = undefined;
      this.#silence = undefined;
      this.#backoff.reset();
      log?.info('elm327.ready', { adapter: name, ...adapter.facts });
    } catch (error) {
      await this.#leave(conversation);
      this.#down(reasonOf(error));
    } finally {
      this.#opening = false;
    }
  }

  #down(reason: string): void {
    this.#adapter = undefined;
    this.#conversation = undefined;
    if (this.#closed) return;
    this.#reason = reason;
    const { clock, log, name } = this.#options;
    const wait = this.#backoff.next();
    log?.warn('elm327.waiting', { adapter: name, reason, wait });
    this.#cancel?.();
    this.#cancel = clock.after(wait, () => {
      this.#counts.restarts++;
      void this.#open();
    });
  }

  /** Closes a line that is no longer needed; only logs its errors. */
  async #leave(conversation: Conversation | undefined): Promise<void> {
    try {
      await conversation?.close();
    } catch (error) {
      const reason = reasonOf(error);
      this.#options.log?.warn('elm327.close', { adapter: this.#options.name, error: reason });
    }
  }

  #located(error: VigieError): VigieError {
    const { name } = this.#options;
    return name === undefined ? error : new VigieError(error.code, error.message, { where: name, cause: error });
  }
}
