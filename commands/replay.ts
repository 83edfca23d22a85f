import { closeSync, openSync, writeSync } from 'node:fs';
import { Command, InvalidArgumentError, Option } from 'commander';
import { slice } from '../adapters/can/frames.ts';
import { CandumpFile, type LogReader, openLog } from '../adapters/can/log/index.ts';
import { ReplayClock } from '../adapters/clock/replay.ts';
import { SystemClock } from '../adapters/clock/system.ts';
import { StreamLog } from '../adapters/logging/stream.ts';
import { MemoryRecords, memoryOutboxStore, openStore, type Store } from '../adapters/store/index.ts';
import { Agent } from '../agent/agent.ts';
import type { AgentPorts } from '../agent/options.ts';
import type { FrameBatch } from '../agent/ports.ts';
import { emptyLedger } from '../agent/remotes/ledger.ts';
import { capturesOf } from '../assembly/captures.ts';
import { deflate } from '../assembly/deflate.ts';
import { makeDirectory } from '../assembly/directory.ts';
import { decoderFor, loadVehicle, signalsOf, type Vehicle } from '../assembly/vehicle.ts';
import { version } from '../assembly/version.ts';
import { counted } from '../protocol/counted.ts';
import { defined } from '../protocol/defined.ts';
import { VigieError } from '../protocol/errors.ts';
import type { Trip } from '../protocol/schema/trip.ts';
import { agentSettings } from '../protocol/settings.ts';
import { slotByPath } from '../protocol/slots.ts';
import { upKind } from '../protocol/topics.ts';
import { isOnlyFixLog } from './fix-logs.ts';
import { COLUMNS_HELP, reportLog } from './log-summary.ts';
import { type Format, formatOf, Lines, progressBar } from './output.ts';
import { pauses } from './pace.ts';
import { MessageReader } from './received.ts';
import { Refusals } from './refusals.ts';
import { type FixPlay, replayFixes } from './replay-fixes.ts';
import { vinOf } from './rig.ts';
import { isValueLog, replayValues, timeZoneOption } from './value-log.ts';

/** VIN for a car whose log has none. */
const REPLAY_VIN = 'VF3REPLAY00000001';

/** Time that passes without a reading behind tables of values: a trip ends after its grace time. ms */
const SILENCE_BEHIND_VALUES = 10 * 60_000;

interface Options {
  readonly profile: string;
  readonly dbc?: string[];
  readonly vin: string;
  readonly bus?: string;
  readonly columns?: string;
  readonly timeZone?: string;
  readonly speed?: number;
  readonly cbor?: string;
  readonly data?: string;
  readonly write?: string;
  readonly format?: string;
}

export function replayCommand(): Command {
  return new Command('replay')
    .summary('plays a recorded log through the agent and prints the messages that the car would have published')
    .description(
      `Plays CAN logs, and recordings of receivers (NMEA 0183, UBX, gpsd), through the same decoder, Status, recorders and outbox as in the car, in the log's own time, and \
tables of values (CSV of a phone or data logger) by the columns of the profile. A line per message: \
{topic, seq, at, body}. The same log gives the same bytes. A summary goes to standard error.`,
    )
    .argument('<log...>', 'log files in order of time, packed too (.gz, .zst, .zip, .tar); - reads standard input')
    .requiredOption('-p, --profile <name-or-path>', 'vehicle profile')
    .option('--dbc <file...>', 'network descriptions in addition to those of the profile')
    .option('--vin <vin>', 'the car’s identification number', vinOf, REPLAY_VIN)
    .option('--bus <name>', 'assign all frames to this bus of the profile')
    .option('--columns <names>', COLUMNS_HELP)
    .addOption(timeZoneOption())
    .option('--speed <factor>', '1 plays at the recorded speed (default: full speed)', factor)
    .option('--write <file>', 'write the frames as one candump log, from any format of input')
    .option('--data <dir>', 'keep records and unacknowledged messages there, as the agent in the car does')
    .option('--cbor <file>', 'write the messages as a CBOR sequence (RFC 8742) instead of printing them')
    .addOption(new Option('--format <format>', 'ndjson for programs, text for people').choices(['ndjson', 'text']))
    .addHelpText(
      'after',
      '\nExample:\n  vigie replay drive.log.gz --profile ./my-car --dbc my-car.dbc | grep doorsState',
    )
    .action(replay);
}

async function replay(logs: string[], options: Options): Promise<void> {
  const vehicle = loadVehicle(options.profile, options.dbc);
  const { bus } = options;
  const known = vehicle.profile.buses.map(({ name }) => name);
  if (bus !== undefined && !known.includes(bus)) {
    throw new VigieError(
      'usage.wrong',
      `profile ${vehicle.profile.name} has no bus ${bus}; known: ${known.join(', ')}`,
    );
  }
  if (options.data !== undefined) makeDirectory(options.data);
  const output = options.cbor === undefined ? printer(formatOf(options.format)) : cborWriter(options.cbor);
  const copy = options.write === undefined ? undefined : new CandumpFile(options.write);
  const store = options.data === undefined ? undefined : await openStore(options.data);
  const clock = new ReplayClock();
  const kinds = new Map<string, number>();
  const refusals = new Refusals();
  const agent = new Agent(
    vehicle.profile,
    {
      clock,
      log: new StreamLog(process.stderr, 'warn'),
      ...(store === undefined ? forgetting() : stored(store)),
      ledger: { data: emptyLedger, write: async () => undefined },
      deflate,
      refusals,
      ...(await signalsOf(vehicle)),
      ...(await capturesOf(vehicle)),
      link: {
        connected: true,
        publish: async ({ topic, payload }) => {
          const kind = upKind(topic);
          kinds.set(kind, (kinds.get(kind) ?? 0) + 1);
          output.write(topic, payload);
        },
      },
      actuator: {
        actions: new Set<string>(),
        actuate: async (action) => {
          throw new VigieError('command.unsupported', `a log cannot be commanded: ${action}`);
        },
      },
      verifier: { key: () => undefined, verify: () => false, digest: () => '' },
    },
    {
      vin: options.vin,
      version,
      boot: 1,
      settings: agentSettings({ outbox: { limit: Number.POSITIVE_INFINITY } }),
      quality: () => 'none',
      window: () => Number.POSITIVE_INFINITY,
    },
  );
  agent.status.observe(refusals);
  agent.channels.observe(refusals);
  const started = new SystemClock();
  const from = started.monotonic();
  let frames = 0;
  let fixes = 0;
  let rows = 0;
  let first = true;
  let last = 0;
  const heard: (readonly string[])[] = [];
  const begin = (at: number): void => {
    if (!first) return;
    first = false;
    clock.advanceTo(at);
    agent.start();
    agent.up();
  };
  /** How readings that are not frames are played: at the pace of their own log. */
  const playAt = (): FixPlay => {
    const pace = pauses(options.speed, started);
    return {
      agent,
      clock,
      advance: async (at: number) => {
        begin(at);
        await pace(at);
        clock.advanceTo(at);
        last = Math.max(last, at);
      },
      played: () => output.flush(),
    };
  };
  try {
    for (const path of logs) {
      if (options.columns === undefined && (await isOnlyFixLog(path))) {
        fixes += await replayFixes(path, playAt(), options.cbor === undefined);
        continue;
      }
      if (options.columns === undefined && (await isValueLog(path))) {
        rows += await replayValues(path, playAt(), options.timeZone);
        continue;
      }
      const log = await openLog(path, defined({ bus, columns: options.columns }));
      const bar = await progressBar(log.size, options.cbor === undefined);
      heard.push(log.buses);
      const intake = agent.intake(() => decoderFor(vehicle, agent.wanted, log.buses));
      let backwards = 0;
      const pace = pauses(options.speed, started);
      try {
        for await (const batch of log.batches()) {
          if (batch.count > 0) begin(batch.at[0] as number);
          for (const part of parts(batch, clock)) {
            await pace(part.at[part.count - 1] as number);
            intake(part);
            // At the log's pace somebody may be looking on.
            if (output.full || options.speed !== undefined) await output.flush();
          }
          copy?.write(batch, log.buses);
          frames += batch.count;
          backwards += jumps(batch, last);
          if (batch.count > 0) last = batch.at[batch.count - 1] as number;
          bar.update(log.position, frames);
        }
      } finally {
        bar.stop();
        await log.close();
      }
      reportLog(log, path);
      warnEmpty(log, path, frames);
      if (backwards > 0)
        process.stderr.write(`${path}: time jumps back ${counted(backwards, 'time')}; order logs by time\n`);
    }
    // A driver ends the recording app with the drive: only silence at the end of the log shows that the trip is over.
    clock.advanceTo(last + (rows > 0 ? SILENCE_BEHIND_VALUES : 0));
    const unfinished = first ? undefined : agent.putUnfinishedTrip();
    await agent.stop();
    await output.flush();
    await store?.close();
    if (unfinished !== undefined) process.stderr.write(`${unfinishedLine(unfinished)}\n`);
  } finally {
    output.close();
    copy?.close();
  }
  if (fixes > 0 && agent.readings === 0) {
    process.stderr.write('no fix carried a signal of the profile: has it a bus with `gnss: true`?\n');
  }
  if (frames > 0 && agent.readings === 0) {
    process.stderr.write(`no frame carried a signal of the profile: ${unheard(vehicle, heard.flat())}\n`);
  }
  if (agent.readings > 0) {
    const known = (path: string): boolean => {
      const slot = slotByPath.get(path);
      return slot !== undefined && agent.status.value(slot) !== undefined;
    };
    for (const line of refusals.lines(vehicle.profile.sources, known)) process.stderr.write(`${line}\n`);
  }
  const seconds = (started.monotonic() - from) / 1000;
  const counts = [...kinds].sort().map(([kind, count]) => `${kind} ${count}`);
  process.stderr.write(
    `${rows === 0 ? '' : `${counted(rows, 'row')} and `}${counted(frames, 'frame')}${fixes === 0 ? '' : `, ${counted(fixes, 'fix', 'fixes')}`} in ${seconds.toFixed(2)} s (${(frames / seconds / 1e6).toFixed(2)} million/s); ` +
      `messages: ${counts.join(', ') || 'none'}; readings refused: ${agent.refused}\n`,
  );
}

function unfinishedLine({ duration = 0, distance }: Trip): string {
  const time = duration < 120 ? `${duration} s` : `${Math.round(duration / 60)} min`;
  const soFar = distance === undefined ? time : `${time}, ${distance} km`;
  return `the log ends before its last trip (${soFar} so far): the trip is written as it is then, marked Unfinished`;
}

/** Why nothing of a log may have been of use. Several buses of a profile are known by the names that the log has. */
function unheard({ profile }: Vehicle, heard: readonly string[]): string {
  const buses = profile.buses.filter(({ kind }) => kind === 'can').map(({ name }) => name);
  if (buses.length < 2 || buses.some((name) => heard.includes(name))) return 'is it the right car, and the right bus?';
  const log = [...new Set(heard)].join(', ');
  return `the log has bus ${log}, profile ${profile.name} has ${buses.join(', ')}; rename them in the log, or give --bus`;
}

/**
 * Cuts a batch where a timer falls due, so that what the timer does stands between the frames before and after it
 * and does not depend on how the reader cut its batches.
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

/** A replay leaves nothing behind, and no client reads its series. */
function forgetting() {
  const records = new MemoryRecords({ unread: new Set(['telemetry', 'waypoint', 'signals', 'capture']) });
  return { store: memoryOutboxStore(), records, memory: { recall: () => undefined, keep: () => undefined } };
}

function stored({ outbox, memory, records }: Store): Pick<AgentPorts, 'store' | 'memory' | 'records'> {
  return { store: outbox, memory, records };
}

interface Output {
  write(topic: string, payload: Uint8Array): void;
  readonly full: boolean;
  flush(): Promise<void>;
  close(): void;
}

function printer(format: Format): Output {
  const lines = new Lines();
  const reader = new MessageReader();
  return {
    write: (topic, payload) => {
      const line = reader.line(topic, payload);
      lines.line(format === 'ndjson' ? JSON.stringify(line) : `${topic} #${line.seq} ${JSON.stringify(line.body)}`);
    },
    get full() {
      return lines.full;
    },
    flush: () => lines.flush(),
    close: () => undefined,
  };
}

/** Bytes of messages that are written together. */
const GATHERED = 64 * 1024;

function cborWriter(file: string): Output {
  let descriptor: number;
  try {
    descriptor = openSync(file, 'w');
  } catch (error) {
    throw new VigieError('input.unreadable', `cannot be written: ${(error as Error).message}`, {
      where: file,
      cause: error,
    });
  }
  const room = new Uint8Array(GATHERED);
  let gathered = 0;
  // The link may not fail for it: the outbox would wait for a better time, which a log does not have.
  let fault: VigieError | undefined;
  const write = (bytes: Uint8Array): void => {
    if (fault !== undefined) return;
    try {
      for (let from = 0; from < bytes.length; ) from += writeSync(descriptor, bytes, from);
    } catch (error) {
      fault = new VigieError('store.failed', `cannot be written on: ${(error as Error).message}`, {
        where: file,
        cause: error,
      });
    }
  };
  const empty = (): void => {
    write(room.subarray(0, gathered));
    gathered = 0;
  };
  return {
    write: (_topic, payload) => {
      if (gathered + payload.length > room.length) empty();
      if (payload.length > room.length) {
        write(payload);
        return;
      }
      room.set(payload, gathered);
      gathered += payload.length;
    },
    get full() {
      return fault !== undefined;
    },
    flush: async () => {
      empty();
      if (fault !== undefined) throw fault;
    },
    close: () => {
      // Messages from before a log ended early.
      empty();
      closeSync(descriptor);
    },
  };
}

/** A log that steps back by more than frames of several buses may overtake each other, ms. */
const BACKWARDS = 1_000;

function jumps({ at, count }: FrameBatch, last: number): number {
  let jumps = count > 0 && (at[0] as number) < last - BACKWARDS ? 1 : 0;
  for (let i = 1; i < count; i++) if ((at[i] as number) < (at[i - 1] as number) - BACKWARDS) jumps++;
  return jumps;
}

function warnEmpty(log: LogReader, path: string, frames: number): void {
  if (frames === 0) process.stderr.write(`${path}: no frames (${log.format})\n`);
}

function factor(value: string): number {
  const number = Number(value);
  if (!Number.isFinite(number) || number <= 0) throw new InvalidArgumentError('a positive factor, 1 is real time.');
  return number;
}
