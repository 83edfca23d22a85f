import { Backoff } from '../../../agent/backoff.ts';
import type { Clock, Log, ReadingSink, ReadingSource, SourceHealth, WantedSignal } from '../../../agent/ports.ts';
import { defined } from '../../../protocol/defined.ts';
import { VigieError } from '../../../protocol/errors.ts';
import { bytesOf, hexByte } from '../hex.ts';
import { NEGATIVE, negativeResponseMeaning } from '../negative-response.ts';
import type { DiagnosticAddress, DiagnosticAnswer, DiagnosticRequester } from '../requester.ts';
import type { SignalSet } from '../signal-set.ts';
import { timeoutOf } from './address.ts';
import type { Failure } from './asking-interval.ts';
import { planPolls } from './plan.ts';
import { type CommandCounts, type Poll, PollSchedule } from './schedule.ts';
import { defaultPollSettings, type PollSettings } from './settings.ts';
import { sharedParameter, splitAnswer } from './several.ts';
import { Units } from './units.ts';

export interface ObdSourceOptions {
  readonly clock: Clock;
  readonly requester: DiagnosticRequester;
  /** Later sets go before earlier ones. */
  readonly sets: readonly SignalSet[];
  /** The profile's name of this bus; signals of other buses are none of its concern. */
  readonly bus?: string;
  readonly settings?: Partial<PollSettings>;
  readonly log?: Log;
  /** Called when control units were found, at each ignition; `extended`: with 29-bit identifiers. */
  readonly found?: (extended: boolean) => void;
}

/** Refusals that no repetition changes: the unit lacks it, or wants a session or key that polling does not have. */
const UNSUPPORTED: ReadonlySet<number> = new Set([0x11, 0x12, 0x31, 0x33, 0x34, 0x7e, 0x7f]);

/** Milliseconds until the next try where nothing can be asked. Short: a car that wakes is to be seen. */
const RETRY = { first: 1000, longest: 5000 };

/** Without an answer for so long though it was asked, the next one counts as a new ignition, ms. */
const NEW_IGNITION = 60_000;

/** Requests in a row without any answer that make it the car, and not the command, that is silent. */
const SILENT = 3;

/** Unanswered requests for several parameters in a row after which the car is asked for one at a time. */
const GROUPS_TRIED = 2;

/**
 * Asks the car for the signals that a profile wants. One request at a time, no more in a second than the settings
 * allow, none while paused or while the requester says that the car sleeps. What the car does not answer is asked less
 * and less often, and anew after {@link ObdSource.resume}, after the car slept, or after a minute without any answer.
 *
 * Signals with a `map` in their set are delivered as raw numbers, since a profile maps raw values to its own names.
 */
export class ObdSource implements ReadingSource {
  readonly #options: ObdSourceOptions;
  readonly #settings: PollSettings;
  readonly #units: Units;
  readonly #counts = { requests: 0, answers: 0, refusals: 0, silences: 0, faults: 0, searches: 0, unavailable: 0 };
  #schedule: PollSchedule | undefined;
  #sink: ReadingSink | undefined;
  #running: Promise<void> | undefined;
  #stopped = false;
  #paused = false;
  /** Requests for several parameters in a row that brought nothing. */
  #groupsLost = 0;
  /** The same of any requests. */
  #silences = 0;
  /** The requester had no way to ask. */
  #cutOff = false;
  /** Reason why polling has stopped. Undefined while it runs. */
  #reason: string | undefined;
  #opening = true;
  readonly #backoff = new Backoff(RETRY);
  #nextRequest = Number.NEGATIVE_INFINITY;
  #lastAnswer = Number.NEGATIVE_INFINITY;
  #wake: (() => void) | undefined;

  constructor(options: ObdSourceOptions) {
    this.#options = options;
    this.#settings = { ...defaultPollSettings, ...options.settings };
    this.#units = new Units(options.requester, options.clock);
  }

  async start(wanted: readonly WantedSignal[], sink: ReadingSink): Promise<void> {
    const { bus, sets, log } = this.#options;
    const own = wanted.map((want) =>
      want.bus === undefined || bus === undefined || want.bus === bus ? want : FOREIGN,
    );
    const { commands, missing } = planPolls(own, sets, this.#settings);
    for (const { message, signal } of missing) {
      // Signals without a bus may as well be another source's.
      if (bus !== undefined && own.some((want) => want.signal === signal && want.bus === bus)) {
        log?.warn('obd.unknownSignal', { bus, signal: `${message}.${signal}` });
      }
    }
    this.#sink = sink;
    this.#schedule = new PollSchedule(commands, this.#settings);
    if (commands.length > 0) this.#running = this.#run(this.#schedule);
  }

  /** Resolves when the request under way has ended. */
  async stop(): Promise<void> {
    this.#stopped = true;
    this.#wake?.();
    await this.#running;
  }

  /** Sends nothing more until {@link resume}; a request under way is waited for. */
  pause(): void {
    this.#paused = true;
    this.#wake?.();
  }

  /** Resumes polling as after a new ignition: asks everything again, also parameters that did not answer before. */
  resume(): void {
    if (!this.#paused) return;
    this.#paused = false;
    this.#renew();
    this.#wake?.();
  }

  /** Counts of the source, and of each command that had trouble: `7DF.010D silences`. */
  health(): SourceHealth {
    const polls = this.#schedule?.polls ?? [];
    const counts: Record<string, number> = {
      commands: polls.length,
      backedOff: polls.filter(({ backedOff }) => backedOff).length,
      ...this.#counts,
    };
    for (const { planned, counts: own } of polls) {
      for (const name of ['refusals', 'silences', 'faults'] as const) {
        if (own[name] > 0) counts[`${planned.command.id} ${name}`] = own[name];
      }
    }
    const reason = this.#paused ? 'paused' : this.#reason;
    if (reason !== undefined) return { state: 'waiting', reason, counts };
    return { state: this.#opening && polls.length > 0 ? 'opening' : 'running', counts };
  }

  /** Counts by command identifier, of every command in the plan. */
  commands(): ReadonlyMap<string, Readonly<CommandCounts>> {
    return new Map((this.#schedule?.polls ?? []).map(({ planned, counts }) => [planned.command.id, counts]));
  }

  async #run(schedule: PollSchedule): Promise<void> {
    while (!this.#stopped) {
      const now = this.#options.clock.monotonic();
      const due = this.#paused ? Number.POSITIVE_INFINITY : Math.max(schedule.nextRelease(), this.#nextRequest);
      const poll = due > now ? undefined : schedule.due(now);
      if (poll === undefined) await this.#sleep(due - now);
      else await this.#turn(schedule, poll, now);
    }
  }

  /** One request, or the search for who is there. Nothing it throws leaves it. */
  async #turn(schedule: PollSchedule, poll: Poll, now: number): Promise<void> {
    this.#nextRequest = now + 1000 / this.#settings.requestsPerSecond;
    try {
      if (this.#units.mustSearch(poll.planned.command)) {
        this.#counts.searches++;
        const [unit] = await this.#units.search();
        this.#reached();
        if (unit !== undefined) this.#options.found?.(unit.address.extended);
      } else await this.#ask(schedule, poll, now);
      this.#backoff.reset();
    } catch (error) {
      if (error instanceof VigieError && error.code === 'input.malformed') this.#failed(poll, 'fault', now);
      else this.#unavailable(error);
    }
  }

  async #ask(schedule: PollSchedule, first: Poll, now: number): Promise<void> {
    const way = this.#units.way(first.planned.command);
    if ('none' in way) {
      this.#failed(first, 'unsupported', now);
      return;
    }
    const group = this.#group(schedule, first, way.address, now);
    for (const poll of group) poll.counts.requests++;
    this.#counts.requests++;
    const { command } = first.planned;
    const timeout = timeoutOf(command);
    let answers: readonly DiagnosticAnswer[];
    try {
      answers = await this.#options.requester.request({
        address: way.address,
        payload: requestOf(group),
        ...defined({ timeout }),
      });
    } catch (error) {
      if (group.length > 1 && error instanceof VigieError && error.code === 'input.malformed')
        this.#ungroup(group, now, 1);
      throw error;
    }
    this.#reached();
    if (group.length > 1) this.#several(group, answers, now);
    else this.#one(first, answers, now);
  }

  /** Commands that share one request with the first. */
  #group(schedule: PollSchedule, first: Poll, address: DiagnosticAddress, now: number): Poll[] {
    const group = [first];
    if (this.#groupsLost >= GROUPS_TRIED || !this.#units.count || sharedParameter(first) === undefined) return group;
    for (const poll of schedule.companions(first, now)) {
      if (group.length >= this.#settings.parametersPerRequest) break;
      const parameter = sharedParameter(poll);
      if (parameter === undefined || group.some((other) => sharedParameter(other) === parameter)) continue;
      const way = this.#units.way(poll.planned.command);
      if ('address' in way && way.address.request === address.request) group.push(poll);
    }
    return group;
  }

  #one(poll: Poll, answers: readonly DiagnosticAnswer[], asked: number): void {
    const { command } = poll.planned;
    const echoed = bytesOf(`${hexByte(command.service + 0x40)}${command.parameter}`) as Uint8Array;
    const answer = answers.find(({ payload }) => echoed.every((byte, i) => payload[i] === byte));
    if (answer !== undefined) {
      this.#deliver([[poll, answer.payload.subarray(echoed.length)]], asked);
      return;
    }
    const code = answers.find(({ payload }) => payload[0] === NEGATIVE)?.payload[2];
    if (code !== undefined) this.#failed(poll, UNSUPPORTED.has(code) ? 'unsupported' : 'refusal', asked, code);
    else this.#failed(poll, answers.length === 0 ? 'silence' : 'fault', asked);
  }

  #several(group: readonly Poll[], answers: readonly DiagnosticAnswer[], asked: number): void {
    const parameters = group.map((poll) => sharedParameter(poll) as number);
    const parts = answers.map(({ payload }) => splitAnswer(payload, parameters)).find((found) => found !== undefined);
    if (parts === undefined) {
      const refused = answers.some(({ payload }) => payload[0] === NEGATIVE);
      this.#ungroup(group, asked, refused ? GROUPS_TRIED : 1);
      return;
    }
    this.#groupsLost = 0;
    const delivered: [Poll, Uint8Array][] = [];
    for (const [i, poll] of group.entries()) {
      const data = parts.get(parameters[i] as number);
      if (data !== undefined) delivered.push([poll, data]);
      // The unit declares this parameter but left it out: a request for it alone may get more.
      else poll.alone = true;
    }
    this.#deliver(delivered, asked);
  }

  /** The car did not answer several parameters at once: they are due again, before long one by one. */
  #ungroup(group: readonly Poll[], now: number, lost: number): void {
    this.#groupsLost += lost;
    for (const poll of group) poll.release = now;
    if (this.#groupsLost >= GROUPS_TRIED) this.#options.log?.info('obd.oneByOne', { bus: this.#options.bus ?? '' });
  }

  #deliver(answered: readonly (readonly [Poll, Uint8Array])[], asked: number): void {
    const { clock } = this.#options;
    const at = clock.now();
    const now = clock.monotonic();
    if (this.#silences >= SILENT && now - this.#lastAnswer > NEW_IGNITION) this.#renew();
    this.#lastAnswer = now;
    this.#silences = 0;
    this.#reason = undefined;
    for (const [poll, data] of answered) {
      this.#counts.answers++;
      poll.answered(asked);
      for (const planned of poll.planned.signals) {
        if ('readText' in planned) {
          const text = planned.readText(data);
          if (text !== undefined) this.#sink?.text?.(planned.index, text, at);
          continue;
        }
        const sample = planned.read(data);
        if (sample !== undefined) this.#sink?.reading(planned.index, sample.value, sample.raw, at);
      }
    }
    this.#sink?.settled(at);
  }

  #failed(poll: Poll, failure: Failure, asked: number, code?: number): void {
    if (failure === 'silence') {
      this.#counts.silences++;
      this.#silences++;
      if (this.#silences >= SILENT) this.#reason = 'no control unit answers';
    } else if (failure === 'fault') this.#counts.faults++;
    else this.#counts.refusals++;
    const before = poll.backedOff;
    poll.failed(failure, asked);
    if (before || !poll.backedOff) return;
    const why = code === undefined ? failure : negativeResponseMeaning(code);
    this.#options.log?.info('obd.backOff', { command: poll.planned.command.id, why });
  }

  /** The way to the car is open, whatever it answers. */
  #reached(): void {
    this.#opening = false;
    if (!this.#cutOff) return;
    this.#cutOff = false;
    this.#reason = undefined;
    this.#schedule?.renew(this.#options.clock.monotonic());
  }

  /** There is no way to ask now: the line is gone, the bus down or asleep. Nothing is held against the command. */
  #unavailable(error: unknown): void {
    this.#opening = false;
    this.#cutOff = true;
    this.#counts.unavailable++;
    this.#reason = error instanceof Error ? error.message : String(error);
    // After this another control unit may answer than before.
    this.#units.forget();
    this.#nextRequest = this.#options.clock.monotonic() + this.#backoff.next();
  }

  #renew(): void {
    this.#units.forget();
    this.#groupsLost = 0;
    this.#schedule?.renew(this.#options.clock.monotonic());
  }

  /** Until the time has passed (ms) or something changed. */
  #sleep(delay: number): Promise<void> {
    return new Promise((resolve) => {
      const cancel = delay === Number.POSITIVE_INFINITY ? undefined : this.#options.clock.after(delay, () => wake());
      const wake = (): void => {
        cancel?.();
        this.#wake = undefined;
        resolve();
      };
      this.#wake = wake;
    });
  }
}

/** Stands in the list for a signal of another bus, so that the places of the others stay. */
const FOREIGN: WantedSignal = { message: '', signal: '' };

function requestOf(group: readonly Poll[]): Uint8Array {
  const [first] = group as [Poll];
  const parameters = group.map(({ planned }) => planned.command.parameter).join('');
  return bytesOf(`${hexByte(first.planned.command.service)}${parameters}`) as Uint8Array;
}
