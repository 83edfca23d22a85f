import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Command, InvalidArgumentError, Option } from 'commander';
import { SystemClock } from '../adapters/clock/system.ts';
import type { BenchControls } from '../adapters/http/own-routes.ts';
import { generateKey, listKeys } from '../adapters/keys/index.ts';
import { type Level, StreamLog } from '../adapters/logging/stream.ts';
import { EmbeddedBroker } from '../adapters/mqtt/index.ts';
import { type ScenarioName, type SceneName, sceneNames } from '../adapters/simulated/index.ts';
import type { Log } from '../agent/ports.ts';
import { channelsOf } from '../assembly/callback-channels.ts';
import { makeDirectory } from '../assembly/directory.ts';
import { benchVehicle } from '../assembly/simulation.ts';
import { faultsOfTiles } from '../config/http.ts';
import { defined } from '../protocol/defined.ts';
import { VigieError } from '../protocol/errors.ts';
import type { MapTiles } from '../protocol/interface/own/car-description.ts';
import { commandKinds } from '../protocol/schema/remote.ts';
import { benchCallbacks } from './bench-callbacks.ts';
import { type BenchCar, startBenchCar } from './bench-car.ts';
import { benchControls } from './bench-controls.ts';
import { benchExits } from './bench-exits.ts';
import { introduction } from './bench-introduction.ts';
import { lanPage, STANDARD_LAN } from './bench-lan.ts';
import { AgentPlace } from './bench-place.ts';
import { BenchReport } from './bench-report.ts';
import type { BenchBroker } from './bench-words.ts';
import { certificates, loginOf } from './broker.ts';
import { isFree, portOf, STANDARD_BROKER, STANDARD_HTTP, sayElsewhere } from './ports.ts';
import { benchDirectory, type Rig, rigFile, vinOf } from './rig.ts';
import { untilSignal } from './signals.ts';

/** VIN of the bench car: VF is the code of the maker's country; no check digit outside North America (ISO 3779). */
const BENCH_VIN = 'VF3VGEBENCH000001';
/** Delay in ms of the first report about the car, and time in ms between two reports. */
const FIRST_REPORT = 10_000;
const REPORT_EVERY = 30_000;

interface Options {
  readonly data: string;
  readonly vin: string;
  readonly cars?: number;
  readonly fleet?: string;
  readonly lan?: true;
  readonly agent?: true;
  readonly broker?: string;
  readonly username?: string;
  readonly passwordFile?: string;
  readonly ca?: string;
  readonly cert?: string;
  readonly certKey?: string;
  readonly homeAssistant?: true;
  readonly port?: number;
  readonly log: Level;
  readonly http?: number;
  readonly scenario: ScenarioName;
  readonly scene?: SceneName;
  readonly tiles?: string;
  readonly tilesAttribution?: string;
}

export function benchCommand(): Command {
  return new Command('bench')
    .summary('runs a simulated car, a broker and the agent on one machine')
    .description(
      `Runs a simulated car at CAN level (it drives a loop in Paris with a stop on the way, charges, opens doors), an embedded MQTT broker and \
the agent, and prints the topics, addresses, commands to try, and the events of the car. Ctrl-C ends it; records stay \
for the next start.`,
    )
    .option('--data <dir>', 'directory of records and keys', benchDirectory)
    .option('--vin <vin>', 'the car’s identification number', vinOf, BENCH_VIN)
    .option('--cars <number>', 'so many cars, on a hub of their own (see `vigie hub`)', carsOf)
    .option('--fleet <name>', 'with --cars: registers the cars in this fleet, so that users need tokens')
    .option('--broker <url>', 'use this broker instead of the embedded one')
    .option('--username <name>', 'user name at that broker')
    .option('--password-file <file>', 'file that contains only the password for that broker')
    .option('--ca <file>', 'certificates (PEM) of the authorities of that broker, such as authority.pem of a hub')
    .option('--cert <file>', 'certificate (PEM) of the car to show to that broker')
    .option('--cert-key <file>', 'private key (PEM) of that certificate')
    .option(
      '--port <port>',
      `port of the embedded broker; 0: any free (default: ${STANDARD_BROKER}, or any free)`,
      portOf,
    )
    .option('--home-assistant', 'the broker also gets plain topics, and Home Assistant finds the car there')
    .option('--lan', 'serves the page over HTTPS in the local network, for those who have the token that it prints')
    .option('--http <port>', `port of the HTTP interface; 0: any free (default: ${STANDARD_HTTP}, or any free)`, portOf)
    .addOption(
      new Option('--scenario <name>', 'loop drives a loop, parked stays parked, day is a whole day with all events')
        .choices(['loop', 'parked', 'day'])
        .default('loop'),
    )
    .addOption(
      new Option('--scene <name>', 'begins with this scene in place of the scenario; the page plays them too').choices(
        sceneNames,
      ),
    )
    .option('--tiles <url>', 'tiles of the maps of the page: https://tiles.example/{z}/{x}/{y}.png', tilesOf)
    .option('--tiles-attribution <words>', 'words that maps with tiles show, such as their licence')
    .addOption(
      new Option('--log <level>', 'level of the log on standard error')
        .choices(['info', 'warn', 'error', 'silent'])
        .default('warn'),
    )
    .addOption(new Option('--agent', 'the agent alone; only a bench starts it so').hideHelp())
    .action(bench);
}

async function bench(options: Options): Promise<void> {
  if (options.agent === true) return (await import('./bench-agent.ts')).benchAgent();
  const tiles = tilesIn(options);
  if (options.cars !== undefined) return benchCars(options, options.cars, tiles);
  if (options.fleet !== undefined) {
    throw new VigieError('usage.wrong', '--fleet is for the cars of a hub: add --cars, or leave it out');
  }
  const { data, vin, scenario, homeAssistant = false } = options;
  const login = benchLogin(options);
  makeDirectory(data);
  const vehicle = benchVehicle(scenario);
  const clock = new SystemClock();
  const log = new StreamLog(process.stderr, options.log);
  const keys = await benchKeys(data);
  let receive: (topic: string, payload: Uint8Array) => void = () => undefined;
  const broker =
    options.broker === undefined
      ? await startBroker(options.port, async (topic, payload) => receive(topic, payload))
      : undefined;
  const url = options.broker ?? (broker?.url as string);
  const mqtt: BenchBroker = { url, ...login, ...defined({ tls: certificates(options, url) }) };
  const standard = options.lan === true ? STANDARD_LAN : STANDARD_HTTP;
  const free = options.http !== undefined || (await isFree(standard));
  const signalled = untilSignal();
  const say = (line: string): void => void process.stdout.write(`${line}\n`);
  const report = new BenchReport(() => clock.now(), say);
  const lan =
    options.lan === true
      ? lanPage(data, clock.now(), (token) => say(`a browser was let in; for another one: ${lanUrl(token)}`))
      : undefined;
  const trust = join(keys, 'trust.json');
  const take = (taker: typeof receive): void => {
    receive = taker;
  };
  let bench: BenchControls;
  const place = new AgentPlace(() => ({
    car,
    bench,
    report,
    say,
    clock,
    log,
    lan: lan?.serving,
    order: { vin, data, scenario, trust, mqtt, page: pageUrl(), tiles, homeAssistant, log: options.log },
    receive: broker === undefined ? undefined : take,
  }));
  const car: BenchCar = await startBenchCar({
    vin,
    vehicle,
    data,
    scenario,
    trust,
    mqtt,
    notificationChannels: channelsOf(benchCallbacks(data), () => clock.now()),
    http: { local: true, port: options.http ?? (free ? standard : 0), tiles, ...defined({ lan: lan?.serving }) },
    controls: (simulation, cable) => {
      bench = benchControls({ broker, car: simulation, cable, place, messages: report });
      return bench;
    },
    ...defined({ scene: options.scene }),
    ...(homeAssistant && { exits: benchExits(mqtt) }),
    log,
    clock,
    published: (topic, payload) => report.published(topic, payload),
  });
  const rig: Rig = { vin, broker: url, keys };
  listBench(rig, data, log);
  const interfaceUrl = car.interface?.url ?? '';
  const lanUrl = (token?: string): string => lan?.url(new URL(interfaceUrl).port, token) ?? '';
  if (!free) sayElsewhere(standard, 'HTTP interface', interfaceUrl, '--http');
  const pageUrl = (): string => (lan === undefined ? interfaceUrl : new URL(lanUrl()).origin);
  const page = lan && { url: lanUrl(), fingerprint: lan.fingerprint };
  process.stdout.write(introduction(rig, options, broker !== undefined, pageUrl(), page));
  const stopReporting = reportRepeatedly(() => {
    if (!place.tells()) report.tell(car.agent);
  });
  await Promise.race([signalled, place.failed]);
  stopReporting();
  process.stdout.write('stopping\n');
  await place.stop();
  await car.stop();
  await broker?.stop();
}

async function benchCars(options: Options, cars: number, tiles: MapTiles | undefined): Promise<void> {
  if (options.broker !== undefined || options.vin !== BENCH_VIN) {
    const option = options.broker === undefined ? '--vin' : '--broker';
    throw new VigieError('usage.wrong', `--cars brings its own broker and VINs: leave out ${option}`);
  }
  if (options.scene !== undefined || options.lan === true || options.homeAssistant === true) {
    const option = options.lan === true ? '--lan' : options.scene === undefined ? '--home-assistant' : '--scene';
    throw new VigieError('usage.wrong', `${option} is for one car: leave out --cars or ${option}`);
  }
  return (await import('./bench-fleet.ts')).benchFleet({ ...options, cars, fleet: options.fleet, tiles });
}

function benchLogin(options: Options): ReturnType<typeof loginOf> {
  const login = loginOf(options);
  if (options.broker !== undefined) return login;
  const { username, ca, cert, certKey } = options;
  const given = Object.entries({ username, ca, cert, 'cert-key': certKey }).find(([, value]) => value !== undefined);
  if (given === undefined) return login;
  throw new VigieError('usage.wrong', `--${given[0]} is for a broker of yours: add --broker, or leave it out`);
}

/** @returns the directory of the keys, which contains at least one key */
async function benchKeys(data: string): Promise<string> {
  const keys = join(data, 'keys');
  if ((await listKeys(keys)).length === 0) {
    makeDirectory(keys, { of: 'keys', choose: '--data', mode: 0o700 });
    await generateKey(keys, 'bench', { algorithm: 'ES256', kinds: [...commandKinds] });
  }
  return keys;
}

/** Writes the file that lets `vigie watch` and `vigie send` find the bench. */
function listBench(rig: Rig, data: string, log: Log): void {
  try {
    writeFileSync(rigFile(data), `${JSON.stringify(rig, undefined, 2)}\n`);
  } catch (error) {
    log.error('bench.unlisted', { error: (error as Error).message });
  }
}

/** Calls `tell` regularly. @returns a function that ends the reports */
function reportRepeatedly(tell: () => void): () => void {
  const first = setTimeout(tell, FIRST_REPORT);
  const reporting = setInterval(tell, REPORT_EVERY);
  return () => {
    clearTimeout(first);
    clearInterval(reporting);
  };
}

type Accept = NonNullable<ConstructorParameters<typeof EmbeddedBroker>[0]>['accept'] & {};

/** Starts the broker on the requested or standard port; on any free port if the standard port is in use. */
async function startBroker(asked: number | undefined, accept: Accept): Promise<EmbeddedBroker> {
  const broker = new EmbeddedBroker({ port: asked ?? STANDARD_BROKER, accept });
  try {
    await broker.start();
    return broker;
  } catch (error) {
    if (asked !== undefined || !(error instanceof VigieError)) throw error;
  }
  const elsewhere = new EmbeddedBroker({ port: 0, accept });
  await elsewhere.start();
  sayElsewhere(STANDARD_BROKER, 'broker', elsewhere.url, '--port');
  return elsewhere;
}

function tilesIn({ tiles: url, tilesAttribution: attribution }: Options): MapTiles | undefined {
  if (url !== undefined) return { url, ...defined({ attribution }) };
  if (attribution === undefined) return undefined;
  throw new VigieError('usage.wrong', '--tiles-attribution is for --tiles: add it, or leave both out');
}

function tilesOf(text: string): string {
  const [fault] = faultsOfTiles(text);
  if (fault === undefined) return text;
  throw new InvalidArgumentError(`the address is wrong: ${fault.join(': ')}.`);
}

/** Largest number of cars: each is a whole agent in this process. */
const MOST_CARS = 100;

function carsOf(text: string): number {
  const value = Number(text);
  if (Number.isInteger(value) && value >= 1 && value <= MOST_CARS) return value;
  throw new InvalidArgumentError(`a number of cars is 1 to ${MOST_CARS}.`);
}
