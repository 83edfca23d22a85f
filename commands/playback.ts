/** Plays recorded logs through the agent: frames, fixes of a receiver, and tables of values. */
import { slice } from '../adapters/can/frames.ts';
import { type CandumpFile, type LogReader, openLog } from '../adapters/can/log/index.ts';
import type { ReplayClock } from '../adapters/clock/replay.ts';
import type { SystemClock } from '../adapters/clock/system.ts';
import type { Agent } from '../agent/agent.ts';
import type { FrameBatch } from '../agent/ports.ts';
import { decoderFor, type Vehicle } from '../assembly/vehicle.ts';
import { counted } from '../protocol/counted.ts';
import { defined } from '../protocol/defined.ts';
import type { Trip } from '../protocol/schema/trip.ts';
import { isOnlyFixLog } from './fix-logs.ts';
import { reportLog } from './log-summary.ts';
import { progressBar } from './output.ts';
import { pauses } from './pace.ts';
import { type FixPlay, replayFixes } from './replay-fixes.ts';
import type { ReplayOutput } from './replay-output.ts';
import { isValueLog, replayValues } from './value-log.ts';

/** Silence in ms that is simulated after tables of values, so that a trip's grace time passes and the trip ends. */
const SILENCE_BEHIND_VALUES = 10 * 60_000;

/** Options of `vigie replay` for reading logs. */
interface PlaybackOptions {
  readonly bus?: string;
  readonly columns?: string;
  readonly timeZone?: string;
  readonly speed?: number;
  readonly cbor?: string;
}

interface PlaybackParts {
  readonly vehicle: Vehicle;
  readonly options: PlaybackOptions;
  readonly agent: Agent;
  readonly clock: ReplayClock;
  /** Clock of this machine, for the playback speed. */
  readonly started: SystemClock;
  readonly output: ReplayOutput;
  readonly copy: CandumpFile | undefined;
}

/** Plays logs through the agent, one after the other, and counts their contents. */
export class Playback {
  frames = 0;
  fixes = 0;
  rows = 0;
  readonly #parts: PlaybackParts;
  readonly #buses: (readonly string[])[] = [];
  #begun = false;
  /** Time of the latest reading in ms. */
  #last = 0;

  constructor(parts: PlaybackParts) {
    this.#parts = parts;
  }

  /** Names of the buses in the logs. */
  get buses(): readonly string[] {
    return this.#buses.flat();
  }

  async play(path: string): Promise<void> {
    const { columns, cbor, timeZone } = this.#parts.options;
    if (columns === undefined && (await isOnlyFixLog(path))) {
      this.fixes += await replayFixes(path, this.#readingsAt(), cbor === undefined);
    } else if (columns === undefined && (await isValueLog(path))) {
      this.rows += await replayValues(path, this.#readingsAt(), timeZone);
    } else await this.#playFrames(path);
  }

  /** Ends the playback. @returns the trip that is unfinished at the end of the logs */
  async end(): Promise<Trip | undefined> {
    const { agent, clock, output } = this.#parts;
    // People stop the recording app when a trip ends, so only silence at the end of the log can end the trip.
    clock.advanceTo(this.#last + (this.rows > 0 ? SILENCE_BEHIND_VALUES : 0));
    const unfinished = this.#begun ? agent.putUnfinishedTrip() : undefined;
    await agent.stop();
    await output.flush();
    return unfinished;
  }

  #begin(at: number): void {
    if (this.#begun) return;
    this.#begun = true;
    const { agent, clock } = this.#parts;
    clock.advanceTo(at);
    agent.start();
    agent.up();
  }

  /** Returns the player for readings that are not frames. They follow the times of their own log. */
  #readingsAt(): FixPlay {
    const { agent, clock, options, output, started } = this.#parts;
    const pace = pauses(options.speed, started);
    return {
      agent,
      clock,
      advance: async (at: number) => {
        this.#begin(at);
        await pace(at);
        clock.advanceTo(at);
        this.#last = Math.max(this.#last, at);
      },
      played: () => output.flush(),
    };
  }

  async #playFrames(path: string): Promise<void> {
    const { vehicle, agent, clock, options, output, copy, started } = this.#parts;
    const log = await openLog(path, defined({ bus: options.bus, columns: options.columns }));
    const bar = await progressBar(log.size, options.cbor === undefined);
    this.#buses.push(log.buses);
    const intake = agent.intake(() => decoderFor(vehicle, agent.wanted, log.buses));
    let backwards = 0;
    const pace = pauses(options.speed, started);
    try {
      for await (const batch of log.batches()) {
        if (batch.count > 0) this.#begin(batch.at[0] as number);
        for (const part of parts(batch, clock)) {
          await pace(part.at[part.count - 1] as number);
          intake(part);
          // If the speed is limited, a person may be watching.
          if (output.full || options.speed !== undefined) await output.flush();
        }
        copy?.write(batch, log.buses);
        this.frames += batch.count;
        backwards += jumps(batch, this.#last);
        if (batch.count > 0) this.#last = batch.at[batch.count - 1] as number;
        bar.update(log.position, this.frames);
      }
    } finally {
      bar.stop();
      await log.close();
    }
    reportLog(log, path);
    warnEmpty(log, path, this.frames);
    if (backwards > 0)
      process.stderr.write(`${path}: time jumps back ${counted(backwards, 'time')}; order logs by time\n`);
  }
}

/**
 * Splits a batch at the time of each timer, so that the timer runs between the frames before and after that time,
 * regardless of how the reader divided the log into batches.
 */
function* parts(batch: FrameBatch, clock: ReplayClock): Generator<FrameBatch> {
  const { at, count } = batch;
  let from = 0;
  let due = clock.nextDue;
  for (let i = 0; i < count; i++) {
    if ((at[i] as number) < due) continue;
    if (i > from) yield slice(batch, from, i);
    from = i;
    clock.advanceTo(at[i] as number);
    due = clock.nextDue;
  }
  if (count > from) yield from === 0 ? batch : slice(batch, from, count);
}

/** Largest backward step in ms that can result from overlapping frames of several buses. */
const BACKWARDS = 1_000;

function jumps({ at, count }: FrameBatch, last: number): number {
  let jumps = count > 0 && (at[0] as number) < last - BACKWARDS ? 1 : 0;
  for (let i = 1; i < count; i++) if ((at[i] as number) < (at[i - 1] as number) - BACKWARDS) jumps++;
  return jumps;
}

function warnEmpty(log: LogReader, path: string, frames: number): void {
  if (frames === 0) process.stderr.write(`${path}: no frames (${log.format})\n`);
}
