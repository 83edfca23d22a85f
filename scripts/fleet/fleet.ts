/** Runs a fleet against hubs: cars drive, processes are killed. Prints the cost per message and per car. */
import { setTimeout as after } from 'node:timers/promises';
import { defined } from '../../protocol/defined.ts';
import { recordDrive } from '../scenarios/drive.ts';
import { costOf } from './cost.ts';
import { Crowd, type CrowdOptions, dueAfter } from './crowd.ts';
import {
  brokers,
  clusters,
  type FleetBroker,
  type FleetDatabase,
  FleetHub,
  sqliteIn,
  startPostgres,
} from './engines.ts';
import { type BrokerFloor, brokerFloor, copyFloor } from './floors.ts';
import { Questions } from './questions.ts';
import { recutTelemetry } from './recut.ts';
import { countStored, readingsIn } from './stored.ts';
import { type FleetMoment, type FleetOptions, type FleetReport, tableOf } from './table.ts';

/** Fractions of the drive after which all cars have departed, the hub is killed, and PostgreSQL is killed. */
const LEFT = 0.25;
const HUB_KILLED = 0.6;
const DATABASE_KILLED = 0.75;
/** Time in ms for which a killed hub, and a killed server, stay down. */
const HUB_AWAY = 3_000;
const DATABASE_AWAY = 5_000;
const NODE_AWAY = 5_000;
/** Time in ms without new messages after which missing messages count as lost. */
const SILENCE = 60_000;
const MAX_CONNECTING_MS = 600_000;

/** Resolves with the problems that were found, one line each. */
export async function runFleet(options: FleetOptions): Promise<readonly string[]> {
  const { cars, minutes, speed, database: kind, say } = options;
  const began = performance.now();
  const tell = (text: string): void =>
    say(`${String(Math.round((performance.now() - began) / 1000)).padStart(4)} s  ${text}`);
  const ends: (() => Promise<void>)[] = [];
  const make = (options.nodes > 1 ? clusters : brokers)[options.broker];
  try {
    tell(`the agent drives ${minutes} minutes, for its messages`);
    const whole = await recordDrive(minutes);
    const drive = options.readings === undefined ? whole : recutTelemetry(whole, options.readings);
    if (drive.length >= 65_000) return [`a car numbers up to 65,000 messages on a drive, and this has ${drive.length}`];
    const broker = await startBroker(make, ends);
    const floor = make !== undefined && options.nodes === 1 ? await floorOf(make, options, drive, tell) : undefined;
    tell(`${kind} and hubs start`);
    const server = kind === 'postgresql' ? await startPostgres() : undefined;
    if (server !== undefined) ends.push(() => server.remove());
    const hubs = await startHubs(broker, server, ends);
    const [first] = hubs;
    const database = server ?? sqliteIn(first.data);
    const empty = await database.size();

    const driving = (minutes * 60_000) / speed;
    const crowded: CrowdOptions = {
      host: '127.0.0.1',
      ports: broker?.ports ?? [first.brokerPort],
      version: broker?.version ?? 4,
      first: 0,
      cars,
      drive,
      speed,
      leaving: driving * LEFT,
    };
    const crowd = Crowd.of(crowded);
    ends.push(() => crowd.end());
    const alone = costOf(...(broker?.pids ?? [])).resident;
    const connecting = performance.now();
    const connected = await untilConnected(crowd, cars);
    if (connected < cars) return [`only ${connected} of ${cars} cars connected in 10 minutes`];
    const connectedIn = (performance.now() - connecting) / 1000;
    const connectionBytes = (costOf(...(broker?.pids ?? [])).resident - alone) / cars;
    tell(`${cars} cars are connected; each drives for ${Math.round(driving / 1000)} s`);

    const fleet: DrivingFleet = { hubs, crowd, broker, server, dueAt: (elapsed) => dueAfter(elapsed, crowded) };
    const { questions, from, to, state } = await driveFleet(fleet, options, driving, ends, tell);
    tell(`the broker has acknowledged ${state.taken} messages (${state.repeated} were sent again)`);
    await untilStored(database, state.taken, tell);
    const stored = countStored(await database.payloads(), drive, cars);
    if (stored.lost > 0) for (const hub of hubs) say(`hub ${hub.name} said last:\n${hub.said}`);
    for (const hub of hubs) await hub.end('SIGTERM');
    const databaseBytes = (await database.size()) - empty;
    const tables = (await database.tables?.()) ?? new Map();
    const copy =
      server?.server && server.url ? await copyFloor(server.server, server.url, Math.max(1, stored.stored)) : undefined;
    const report: FleetReport = {
      options,
      drive,
      readings: readingsIn(drive),
      connectedIn,
      connectionBytes,
      acknowledged: state.taken,
      repeated: state.repeated,
      mqttBytes: state.bytes,
      ...stored,
      databaseBytes,
      tables,
      questions,
      steady: { seconds: (to.at - from.at) / 1000, from, to },
      floors: { ...(floor && { broker: floor }), ...(copy && { copy }) },
    };
    say(tableOf(report));
    return [
      ...(state.arrived < cars ? [`${cars - state.arrived} cars did not come to their end`] : []),
      ...faultsOf(stored),
      ...(state.refused === undefined ? [] : [`the broker refused a car: ${state.refused}`]),
    ];
  } finally {
    for (const end of ends.toReversed()) await end();
  }
}

interface DrivingFleet {
  readonly hubs: readonly [FleetHub, ...FleetHub[]];
  readonly crowd: Crowd;
  readonly broker: FleetBroker | undefined;
  readonly server: FleetDatabase | undefined;
  /** Returns how many messages are due at the time `elapsed` in ms after the start of the drive. */
  dueAt(elapsed: number): number;
}

/** Runs all cars to the end of the drive, with the requested failures. Rates are measured from `from` to `to`. */
async function driveFleet(
  { hubs, crowd, broker, server, dueAt }: DrivingFleet,
  { cars, failures }: FleetOptions,
  driving: number,
  ends: (() => Promise<void>)[],
  tell: (text: string) => void,
): Promise<{ questions: Questions; from: FleetMoment; to: FleetMoment; state: Awaited<ReturnType<Crowd['state']>> }> {
  const questions = new Questions(hubs, cars);
  const start = performance.now();
  crowd.drive();
  questions.begin();
  const at = (part: number): Promise<void> => after(Math.max(0, start + part * driving - performance.now()));
  const progress = setInterval(async () => {
    const { connected, taken, arrived } = await crowd.state();
    const due = dueAt(performance.now() - start);
    tell(`${connected} connected, ${taken} acknowledged of ${due} due by now, ${arrived} cars at their end`);
  }, 10_000);
  ends.unshift(async () => clearInterval(progress));
  const moment = async (): Promise<FleetMoment> => ({
    at: performance.now(),
    hubs: costOf(...hubs.map(({ pid }) => pid)).cpu,
    broker: costOf(...(broker?.pids ?? [])).cpu,
    cars: costOf(crowd.pid).cpu,
    database: costOf(server?.server?.pid ?? 0).cpu,
    taken: (await Promise.all(hubs.map((hub) => hub.taken()))).reduce((sum, one) => sum + one, 0),
  });
  await at(LEFT);
  const from = await moment();
  questions.counted = true;
  await at(HUB_KILLED);
  const to = await moment();
  questions.counted = false;
  if (failures) await fail(hubs[0], broker, server, () => at(DATABASE_KILLED), tell);
  const state = await untilArrived(crowd, cars);
  clearInterval(progress);
  questions.end();
  return { questions, from, to, state };
}

function faultsOf({ lost, duplicated, strange }: ReturnType<typeof countStored>): readonly string[] {
  return [
    ...(lost > 0 ? [`${lost} messages were lost`] : []),
    ...(duplicated > 0 ? [`${duplicated} messages are there twice`] : []),
    ...(strange > 0 ? [`${strange} messages are there that no car sent`] : []),
  ];
}

async function floorOf(
  make: () => FleetBroker,
  { broker, cars, minutes, speed }: FleetOptions,
  drive: Awaited<ReturnType<typeof recordDrive>>,
  tell: (text: string) => void,
): Promise<BrokerFloor> {
  const seconds = Math.min(20, Math.max(5, (minutes * 60) / speed / 3));
  tell(`${broker} alone, with a receiver that only acknowledges, for ${Math.round(seconds)} s`);
  return await withOwnBroker(make, (alone) => brokerFloor(alone, { cars, speed, seconds, drive }));
}

/** Starts two hubs if they can share a broker and a server, otherwise one. */
async function startHubs(
  broker: FleetBroker | undefined,
  server: FleetDatabase | undefined,
  ends: (() => Promise<void>)[],
): Promise<readonly [FleetHub, ...FleetHub[]]> {
  const names = server !== undefined && broker !== undefined ? ['one', 'two'] : ['one'];
  const hubs = names.map(
    (name) => new FleetHub({ name, ...defined({ broker: broker?.ports, database: server?.url }) }),
  );
  for (const hub of hubs) {
    ends.push(() => hub.remove());
    await hub.start();
  }
  return hubs as [FleetHub, ...FleetHub[]];
}

/** @returns the number of connected cars: all cars, or those that were connected within ten minutes */
async function untilConnected(crowd: Crowd, cars: number): Promise<number> {
  const began = performance.now();
  for (;;) {
    await after(cars > 1000 ? 1000 : 100);
    const { connected } = await crowd.state();
    if (connected >= cars || performance.now() - began > MAX_CONNECTING_MS) return connected;
  }
}

/** Resolves when all cars have finished their drive, or when none has sent anything for {@link SILENCE} ms. */
async function untilArrived(crowd: Crowd, cars: number): ReturnType<Crowd['state']> {
  let state = await crowd.state();
  for (let changed = performance.now(); state.arrived < cars; ) {
    await after(1000);
    const next = await crowd.state();
    if (next.taken !== state.taken) changed = performance.now();
    state = next;
    if (performance.now() - changed > SILENCE) break;
  }
  return state;
}

async function startBroker(
  make: (() => FleetBroker) | undefined,
  ends: (() => Promise<void>)[],
): Promise<FleetBroker | undefined> {
  const broker = make?.();
  if (broker === undefined) return undefined;
  ends.push(() => broker.remove());
  await broker.start();
  return broker;
}

/** Runs `work` with a separate broker, so that the measurement of the floor does not affect the fleet. */
async function withOwnBroker<T>(make: () => FleetBroker, work: (broker: FleetBroker) => Promise<T>): Promise<T> {
  const broker = make();
  try {
    await broker.start();
    return await work(broker);
  } finally {
    await broker.remove();
  }
}

async function fail(
  hub: FleetHub,
  broker: FleetBroker | undefined,
  database: FleetDatabase | undefined,
  next: () => Promise<void>,
  tell: (text: string) => void,
): Promise<void> {
  tell(`hub ${hub.name} is killed`);
  await hub.end('SIGKILL');
  await after(HUB_AWAY);
  await hub.start();
  tell(`hub ${hub.name} is back`);
  if (broker?.nodes !== undefined) {
    tell('the first node of the broker is killed');
    await broker.nodes.kill(0);
    await after(NODE_AWAY);
    await broker.nodes.revive(0);
    tell('the first node of the broker is back');
  }
  await next();
  if (database?.server === undefined) return;
  tell('PostgreSQL ends at once');
  await database.server.kill();
  await after(DATABASE_AWAY);
  await database.server.start();
  tell('PostgreSQL is back');
}

async function untilStored(database: FleetDatabase, expected: number, tell: (text: string) => void): Promise<void> {
  let kept = -1;
  for (let changed = performance.now(); performance.now() - changed < SILENCE; await after(2000)) {
    const now = await database.messages();
    if (now !== kept) changed = performance.now();
    kept = now;
    if (kept >= expected) break;
  }
  tell(`the database has ${kept} messages`);
}
