import { Backoff } from '../../../agent/backoff.ts';
import type { Clock, Log, ReadingSink, ReadingSource, SourceHealth, WantedSignal } from '../../../agent/ports.ts';
import { defined } from '../../../protocol/defined.ts';
import { reasonOf, VigieError } from '../../../protocol/errors.ts';
import { hexByte } from '../../../protocol/hex.ts';
import { bytesOf } from '../hex.ts';
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
  /** Signal sets; later sets take precedence. */
  readonly sets: readonly SignalSet[];
  /** Name of this bus in the profile; signals of other buses are ignored. */
  readonly bus?: string;
  readonly settings?: Partial<PollSettings>;
  readonly log?: Log;
  /** Called when control units were found, at each ignition; `extended`: with 29-bit identifiers. */
  readonly found?: (extended: boolean) => void;
}

/**
 * Permanent refusals: the unit does not support the request, or requires a session or key that polling does not have.
 */
const UNSUPPORTED: ReadonlySet<number> = new Set([0x11, 0x12, 0x31, 0x33, 0x34, 0x7e, 0x7f]);

/** Delay in ms until the next try if requests are impossible. Short, so that a waking car is noticed. */
const RETRY = { first: 1000, longest: 5000 };

/** Time in ms without an answer to any request after which the next answer counts as a new ignition. */
const NEW_IGNITION = 60_000;

/** Number of consecutive unanswered requests after which the car, not the command, counts as silent. */
const SILENT = 3;

/** Number of consecutive unanswered requests for several parameters after which each parameter is requested alone. */
const GROUPS_TRIED = 2;

/**
 * Requests the signals that a profile wants from the car. Sends one request at a time, at most as many per second as
 * the settings allow, none while paused or while the requester reports that the car sleeps. Requests unanswered
 * commands less and less often, and starts over after {@link ObdSource.resume}, after a sleep of the car, or after a
 * minute without answers.
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
  /** Number of consecutive requests for several parameters without a result. */
  #groupsLost = 0;
  /** Number of consecutive requests of any kind without a result. */
  #silences = 0;
  /** True if the requester could not send requests. */
  #cutOff = false;
  /** Reason why polling has stopped; undefined while it runs. */
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
      // Signals without a bus may belong to another source.
      if (bus !== undefined && own.some((want) => want.signal === signal && want.bus === bus)) {
        log?.warn('obd.unknownSignal', { bus, signal: `${message}.${signal}` });
      }
    }
    this.#sink = sink;
    this.#schedule = new PollSchedule(commands, this.#settings);
    if (commands.length > 0) this.#running = this.#run(this.#schedule);
  }

  /** Stops polling. Resolves when the running request has ended. */
  async stop(): Promise<void> {
    this.#stopped = true;
    this.#wake?.();
    await this.#running;
  }

  /** Stops sending until {@link resume}; a running request continues. */
  pause(): void {
    this.#paused = true;
    this.#wake?.();
  }

  /** Resumes polling as after a new ignition: requests everything again, also parameters that did not answer before. */
  resume(): void {
    if (!this.#paused) return;
    this.#paused = false;
    this.#renew();
    this.#wake?.();
  }

  /** Returns counts of the source, and of each command with failures: `7DF.010D silences`. */
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

  /** Returns the counts of every command in the plan, by command identifier. */
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

  /** Sends one request, or searches for control units. Never throws. */
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

  /** Returns the commands that can share one request with the first. */
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
      // The unit declares this parameter but omitted it: a request for it alone may succeed.
      else poll.alone = true;
    }
    this.#deliver(delivered, asked);
  }

  /** Makes all polls of an unanswered group due again; repeated losses end the grouping. */
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

  /** Notes that the car can be reached, whatever it answers. */
  #reached(): void {
    this.#opening = false;
    if (!this.#cutOff) return;
    this.#cutOff = false;
    this.#reason = undefined;
    this.#schedule?.renew(this.#options.clock.monotonic());
  }

  /** Handles impossible requests: the line is gone, the bus down or asleep. The command does not count as failed. */
  #unavailable(error: unknown): void {
    this.#opening = false;
    this.#cutOff = true;
    this.#counts.unavailable++;
    this.#reason = reasonOf(error);
    // Another control unit may answer after this.
    this.#units.forget();
    this.#nextRequest = this.#options.clock.monotonic() + this.#backoff.next();
  }

  #renew(): void {
    this.#units.forget();
    this.#groupsLost = 0;
    this.#schedule?.renew(this.#options.clock.monotonic());
  }

  /** Resolves after this delay (ms) or after a change. */
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

/** Placeholder for a signal of another bus, so that the indexes of the other signals stay the same. */
const FOREIGN: WantedSignal = { message: '', signal: '' };

function requestOf(group: readonly Poll[]): Uint8Array {
  const [first] = group as [Poll];
  const parameters = group.map(({ planned }) => planned.command.parameter).join('');
  return bytesOf(`${hexByte(first.planned.command.service)}${parameters}`) as Uint8Array;
}
