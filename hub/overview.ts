/** All cars at a glance, and what they told last. Kept in memory and read again only while somebody asks. */
import type { FleetCar, FleetEvent } from '../protocol/interface/own/hub-overview.ts';
import type { Kind } from '../protocol/schema/kind.ts';
import type { Message } from '../protocol/schema/message.ts';
import type { ArrivedMessage, OverviewReader, VehicleSummary, WallClock } from './ports.ts';

/** Least time between two looks at the database, ms; several viewers share one look. */
const PAUSE = 500;
/** Share of the time that looking may take: a look at ten thousand driving cars is followed by a longer pause. */
const PAUSE_PER_LOOK = 4;
/** Cars read at once: others are served between two batches. */
const BATCH = 500;
/** Hubs that share a database differ in their clocks, and commit after they have received, ms. */
const CLOCK_TOLERANCE = 5_000;
/** Hubs that share a database commit messages in another order than that of their ids. */
const ORDER_TOLERANCE = 1_000;
/** Events that are kept, the newest. */
const EVENTS = 200;

/** Kinds that tell of an event; series and Status do not. */
const eventKinds: readonly Kind[] = [
  'trip',
  'alert',
  'collision',
  'maintenance',
  'alarm',
  'stolen',
  'event',
  'remote',
  'gap',
  'fault',
];

export interface OverviewParts {
  readonly reader: OverviewReader;
  readonly clock: WallClock;
  /** Resolves when other work that waits had its turn. */
  readonly turn: () => Promise<void>;
}

export class FleetOverview {
  readonly #parts: OverviewParts;
  readonly #cars = new Map<string, FleetCar>();
  readonly #events = new Map<number, FleetEvent>();
  /** UTC ms of the newest message of all cars that were read. */
  #heard = Number.NEGATIVE_INFINITY;
  /** UTC ms. */
  #nextLook = Number.NEGATIVE_INFINITY;
  #look: Promise<void> | undefined;

  constructor(parts: OverviewParts) {
    this.#parts = parts;
  }

  /** As of half a second ago at most, or longer where reading takes long. Rejects with `store.failed`. */
  async cars(): Promise<Iterable<FleetCar>> {
    await this.#refresh();
    return this.#cars.values();
  }

  /** The newest first. Rejects with `store.failed`. */
  async events(): Promise<readonly FleetEvent[]> {
    await this.#refresh();
    return [...this.#events.values()].sort((a, b) => b.id - a.id);
  }

  #refresh(): Promise<void> {
    const { clock } = this.#parts;
    const began = clock.now();
    // A clock that was set back must not stop the looks.
    if (began < this.#nextLook && this.#nextLook - began < 60_000) return this.#look ?? Promise.resolve();
    this.#look ??= this.#read().finally(() => {
      const ended = clock.now();
      this.#nextLook = ended + Math.max(PAUSE, PAUSE_PER_LOOK * (ended - began));
      this.#look = undefined;
    });
    return this.#look;
  }

  async #read(): Promise<void> {
    const { reader } = this.#parts;
    await this.#readCars(this.#heard - CLOCK_TOLERANCE);
    // A car that was erased is in no answer; everything is read again without it.
    if ((await reader.countVehicles()) < this.#cars.size) {
      this.#cars.clear();
      await this.#readCars(Number.NEGATIVE_INFINITY);
    }
    const newest = Math.max(0, ...this.#events.keys());
    const arrived = await reader.arrived(eventKinds, Math.max(0, newest - ORDER_TOLERANCE), EVENTS);
    for (const one of arrived) if (isNews(one.message)) this.#events.set(one.id, eventOf(one));
    const ids = [...this.#events.keys()].sort((a, b) => b - a);
    for (const id of ids.slice(EVENTS)) this.#events.delete(id);
  }

  async #readCars(since: number): Promise<void> {
    const { reader, turn } = this.#parts;
    let after = '';
    for (;;) {
      const batch = await reader.summaries(Math.max(0, since), after, BATCH);
      for (const one of batch) {
        this.#cars.set(one.vin, carOf(one));
        this.#heard = Math.max(this.#heard, one.lastSeen);
      }
      const last = batch.at(-1);
      if (last === undefined || batch.length < BATCH) return;
      after = last.vin;
      await turn();
    }
  }
}

function carOf({ vin, lastSeen, missing, contents }: VehicleSummary): FleetCar {
  const { kinetic, lastPosition, energies = [], odometer } = contents;
  const electric = energies.find(({ type }) => type === 'Electric');
  const fuel = energies.find(({ type }) => type === 'Fuel');
  const charging = electric?.extension?.electric?.charging;
  const [longitude, latitude] = lastPosition?.geometry.coordinates ?? [];
  return {
    vin,
    heard: lastSeen,
    missing,
    ...(kinetic?.speed === undefined ? {} : { speed: kinetic.speed }),
    ...(charging?.status === 'InProgress' ? { charging: charging.chargingRate ?? 0 } : {}),
    ...(electric?.level === undefined ? {} : { electric: electric.level }),
    ...(fuel?.level === undefined ? {} : { fuel: fuel.level }),
    ...(odometer?.mileage === undefined ? {} : { mileage: odometer.mileage }),
    ...(latitude === undefined || longitude === undefined ? {} : { latitude, longitude }),
  };
}

/** A car sends a trip again as it goes on, and a command in every state: only their ends are news. */
function isNews({ kind, body }: Message): boolean {
  if (kind === 'trip') return body.done === true;
  if (kind === 'remote') return body.status !== 'Accepted' && body.status !== 'SentToVehicle';
  return true;
}

function eventOf({ id, vin, received, message }: ArrivedMessage): FleetEvent {
  const { kind, at, body } = message;
  return { id, vin, kind, at, received, body: body as unknown as Readonly<Record<string, unknown>> };
}
