import { Command, InvalidArgumentError, Option } from 'commander';
import { CandumpFile } from '../adapters/can/log/index.ts';
import { ReplayClock } from '../adapters/clock/replay.ts';
import { SystemClock } from '../adapters/clock/system.ts';
import { StreamLog } from '../adapters/logging/stream.ts';
import { MemoryRecords, memoryOutboxStore, openStore, type Store } from '../adapters/store/index.ts';
import { Agent } from '../agent/agent.ts';
import type { AgentPorts } from '../agent/options.ts';
import { emptyLedger } from '../agent/remotes/ledger.ts';
import { capturesOf } from '../assembly/captures.ts';
import { deflate } from '../assembly/deflate.ts';
import { makeDirectory } from '../assembly/directory.ts';
import { loadVehicle, signalsOf, type Vehicle } from '../assembly/vehicle.ts';
import { version } from '../assembly/version.ts';
import { counted } from '../protocol/counted.ts';
import { VigieError } from '../protocol/errors.ts';
import type { Trip } from '../protocol/schema/trip.ts';
import { agentSettings } from '../protocol/settings.ts';
import { slotByPath } from '../protocol/slots.ts';
import { upKind } from '../protocol/topics.ts';
import { COLUMNS_HELP } from './log-summary.ts';
import { formatOf } from './output.ts';
import { Playback } from './playback.ts';
import { Refusals } from './refusals.ts';
import { cborWriter, printer } from './replay-output.ts';
import { vinOf } from './rig.ts';
import { timeZoneOption } from './value-log.ts';

/** VIN of the replayed car if `--vin` is omitted: logs contain none. */
const REPLAY_VIN = 'VF3REPLAY00000001';

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
  const ports = {
    clock,
    refusals,
    ...(store === undefined ? forgetting() : stored(store)),
    ...(await signalsOf(vehicle)),
    ...(await capturesOf(vehicle)),
  };
  const agent = replayAgent(vehicle, options.vin, ports, (topic, payload) => {
    const kind = upKind(topic);
    kinds.set(kind, (kinds.get(kind) ?? 0) + 1);
    output.write(topic, payload);
  });
  agent.status.observe(refusals);
  agent.channels.observe(refusals);
  const started = new SystemClock();
  const from = started.monotonic();
  const playback = new Playback({ vehicle, options, agent, clock, started, output, copy });
  try {
    for (const path of logs) await playback.play(path);
    const unfinished = await playback.end();
    await store?.close();
    if (unfinished !== undefined) process.stderr.write(`${unfinishedLine(unfinished)}\n`);
  } finally {
    output.close();
    copy?.close();
  }
  const { frames, fixes, rows } = playback;
  if (fixes > 0 && agent.readings === 0) {
    process.stderr.write('no fix carried a signal of the profile: has it a bus with `gnss: true`?\n');
  }
  if (frames > 0 && agent.readings === 0) {
    process.stderr.write(`no frame carried a signal of the profile: ${unheard(vehicle, playback.buses)}\n`);
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

/** Ports of the agent that a replay does not replace with its own. */
type ReplayPorts = Omit<AgentPorts, 'log' | 'ledger' | 'deflate' | 'link' | 'actuator' | 'verifier'>;

/** Returns an agent that sends all messages to `publish` and refuses commands. */
function replayAgent(
  vehicle: Vehicle,
  vin: string,
  ports: ReplayPorts,
  publish: (topic: string, payload: Uint8Array) => void,
): Agent {
  return new Agent(
    vehicle.profile,
    {
      log: new StreamLog(process.stderr, 'warn'),
      ledger: { data: emptyLedger, write: async () => undefined },
      deflate,
      ...ports,
      link: { connected: true, publish: async ({ topic, payload }) => publish(topic, payload) },
      actuator: {
        actions: new Set<string>(),
        actuate: async (action) => {
          throw new VigieError('command.unsupported', `a log cannot be commanded: ${action}`);
        },
      },
      verifier: { key: () => undefined, verify: () => false, digest: () => '' },
    },
    {
      vin,
      version,
      boot: 1,
      settings: agentSettings({ outbox: { limit: Number.POSITIVE_INFINITY } }),
      quality: () => 'none',
      window: () => Number.POSITIVE_INFINITY,
    },
  );
}

function unfinishedLine({ duration = 0, distance }: Trip): string {
  const time = duration < 120 ? `${duration} s` : `${Math.round(duration / 60)} min`;
  const soFar = distance === undefined ? time : `${time}, ${distance} km`;
  return `the log ends before its last trip (${soFar} so far): the trip is written as it is then, marked Unfinished`;
}

/** Returns possible reasons why no frame was used. If the profile has several buses, the log must name them. */
function unheard({ profile }: Vehicle, heard: readonly string[]): string {
  const buses = profile.buses.filter(({ kind }) => kind === 'can').map(({ name }) => name);
  if (buses.length < 2 || buses.some((name) => heard.includes(name))) return 'is it the right car, and the right bus?';
  const log = [...new Set(heard)].join(', ');
  return `the log has bus ${log}, profile ${profile.name} has ${buses.join(', ')}; rename them in the log, or give --bus`;
}

/** Returns stores in memory: a replay leaves no files, and no client reads its series. */
function forgetting() {
  const records = new MemoryRecords({ unread: new Set(['telemetry', 'waypoint', 'signals', 'capture']) });
  return { store: memoryOutboxStore(), records, memory: { recall: () => undefined, keep: () => undefined } };
}

function stored({ outbox, memory, records }: Store): Pick<AgentPorts, 'store' | 'memory' | 'records'> {
  return { store: outbox, memory, records };
}

function factor(value: string): number {
  const number = Number(value);
  if (!Number.isFinite(number) || number <= 0) throw new InvalidArgumentError('a positive factor, 1 is real time.');
  return number;
}
