/** A fleet on hubs: drives, kills what can be killed, counts, and says what a message and a car cost. */
import { setTimeout as after } from 'node:timers/promises';
import { idOf } from '../../assembly/view.ts';
import { recordDrive } from '../scenarios/drive.ts';
import { fleetVin } from './car.ts';
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
import { recutTelemetry } from './recut.ts';
import { countStored, readingsIn } from './stored.ts';
import { type FleetAnswers, type FleetMoment, type FleetOptions, type FleetReport, tableOf } from './table.ts';

/** Parts of the drive: when all cars have left, when the hub is killed, when PostgreSQL is. */
const LEFT = 0.25;
const HUB_KILLED = 0.6;
const DATABASE_KILLED = 0.75;
/** How long a killed hub and a killed server stay away, ms. */
const HUB_AWAY = 3_000;
const DATABASE_AWAY = 5_000;
const NODE_AWAY = 5_000;
/** Between two requests for Status, ms. */
const ASK_EVERY = 100;
/** No message came for so long: what is missing now is lost, ms. */
const SILENCE = 60_000;

/** Resolves with what went wrong, a line for each. */
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
    const readings = readingsIn(drive);
    const broker = await startBroker(make, ends);
    let floor: BrokerFloor | undefined;
    if (make !== undefined && options.nodes === 1) {
      const seconds = Math.min(20, Math.max(5, (minutes * 60) / speed / 3));
      tell(`${options.broker} alone, with a receiver that only acknowledges, for ${Math.round(seconds)} s`);
      floor = await withOwnBroker(make, (alone) => brokerFloor(alone, { cars, speed, seconds, drive }));
    }
    tell(`${kind} and hubs start`);
    const server = kind === 'postgresql' ? await startPostgres() : undefined;
    if (server !== undefined) ends.push(() => server.remove());
    const hubs = (server !== undefined && broker !== undefined ? ['one', 'two'] : ['one']).map(
      (name) =>
        new FleetHub({
          name,
          ...(broker === undefined ? {} : { broker: broker.ports }),
          ...(server?.url === undefined ? {} : { database: server.url }),
        }),
    );
    for (const hub of hubs) {
      ends.push(() => hub.remove());
      await hub.start();
    }
    const [first] = hubs as [FleetHub, ...FleetHub[]];
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
    for (let connected = 0; connected < cars; ) {
      await after(cars > 1000 ? 1000 : 100);
      connected = (await crowd.state()).connected;
      if (performance.now() - connecting > 600_000)
        return [`only ${connected} of ${cars} cars connected in 10 minutes`];
    }
    const connectedIn = (performance.now() - connecting) / 1000;
    const connectionBytes = (costOf(...(broker?.pids ?? [])).resident - alone) / cars;
    tell(`${cars} cars are connected; each drives for ${Math.round(driving / 1000)} s`);

    const questions = new Questions(hubs, cars);
    const start = performance.now();
    crowd.drive();
    questions.begin();
    const at = (part: number): Promise<void> => after(Math.max(0, start + part * driving - performance.now()));
    const progress = setInterval(async () => {
      const { connected, taken, arrived } = await crowd.state();
      const due = dueAfter(performance.now() - start, crowded);
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
    if (options.failures) await fail(first, broker, server, () => at(DATABASE_KILLED), tell);
    let state = await crowd.state();
    for (let changed = performance.now(); state.arrived < cars; ) {
      await after(1000);
      const next = await crowd.state();
      if (next.taken !== state.taken) changed = performance.now();
      state = next;
      if (performance.now() - changed > SILENCE) break;
    }
    clearInterval(progress);
    questions.end();
    tell(`the broker has acknowledged ${state.taken} messages (${state.repeated} were sent again)`);
    await untilStored(database, state.taken, tell);
    const { bytes, refused } = state;
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
      readings,
      connectedIn,
      connectionBytes,
      acknowledged: state.taken,
      repeated: state.repeated,
      mqttBytes: bytes,
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
      ...(stored.lost > 0 ? [`${stored.lost} messages were lost`] : []),
      ...(stored.duplicated > 0 ? [`${stored.duplicated} messages are there twice`] : []),
      ...(stored.strange > 0 ? [`${stored.strange} messages are there that no car sent`] : []),
      ...(refused === undefined ? [] : [`the broker refused a car: ${refused}`]),
    ];
  } finally {
    for (const end of ends.toReversed()) await end();
  }
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

/** The floor leaves nothing behind for the fleet. */
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

/** Asks the hubs in turn for Status of some car, and the next one when a hub does not answer, as a caller of several does. */
class Questions implements FleetAnswers {
  /** Whether answers count now. */
  counted = false;
  readonly answers: number[] = [];
  unheard = 0;
  elsewhere = 0;
  failed = 0;
  readonly #hubs: readonly FleetHub[];
  readonly #cars: number;
  #timer: NodeJS.Timeout | undefined;
  #asked = 0;

  constructor(hubs: readonly FleetHub[], cars: number) {
    this.#hubs = hubs;
    this.#cars = cars;
  }

  begin(): void {
    this.#timer = setInterval(() => void this.#ask(), ASK_EVERY);
  }

  end(): void {
    clearInterval(this.#timer);
  }

  async #ask(): Promise<void> {
    const { counted } = this;
    const first = this.#asked++ % this.#hubs.length;
    const path = `/fleets/local/vehicles/${idOf(fleetVin(Math.floor(Math.random() * this.#cars)))}/status`;
    const began = performance.now();
    for (const hub of [...this.#hubs.slice(first), ...this.#hubs.slice(0, first)]) {
      const status = await statusOf(`${hub.url}${path}`);
      if (status !== 200 && status !== 404) continue;
      if (hub !== this.#hubs[first]) this.elsewhere++;
      if (status === 404) this.unheard++;
      else if (counted) this.answers.push(performance.now() - began);
      return;
    }
    this.failed++;
  }
}

/** Undefined: the hub is killed. */
async function statusOf(url: string): Promise<number | undefined> {
  try {
    const response = await fetch(url);
    await response.arrayBuffer();
    return response.status;
  } catch {
    return undefined;
  }
}
