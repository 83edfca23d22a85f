/** Overview of all cars. Kept in memory and read again only on request. */
import type { FleetCar } from '../../protocol/interface/own/hub-overview.ts';
import type { OverviewReader, VehicleSummary, WallClock } from './ports.ts';

/** Shortest time in ms between two reads of the database. Several viewers share one read. */
const PAUSE = 500;
/** Pause after a read, as a multiple of its duration: with ten thousand driving cars the pause is longer. */
const PAUSE_PER_LOOK = 4;
/** Number of cars in one read. Other requests are processed between two batches. */
const BATCH = 500;
/** Tolerance in ms for clocks of hubs that share a database, and for the time from receipt to commit. */
const CLOCK_TOLERANCE = 5_000;
interface OverviewParts {
  readonly reader: OverviewReader;
  readonly clock: WallClock;
  /** Resolves after other waiting work has run. */
  readonly turn: () => Promise<void>;
}

export class FleetOverview {
  readonly #parts: OverviewParts;
  readonly #cars = new Map<string, FleetCar>();
  /** Time in UTC ms of the newest change of all cars that were read, at most the time of the read. */
  #changed = Number.NEGATIVE_INFINITY;
  /** Time of the next read in UTC ms. */
  #nextLook = Number.NEGATIVE_INFINITY;
  #look: Promise<void> | undefined;

  constructor(parts: OverviewParts) {
    this.#parts = parts;
  }

  /** Returns all cars, at most half a second old, or older if reading is slow. Rejects with `store.failed`. */
  async cars(): Promise<Iterable<FleetCar>> {
    await this.#refresh();
    return this.#cars.values();
  }

  #refresh(): Promise<void> {
    const { clock } = this.#parts;
    const began = clock.now();
    // If a clock was set back, reads must not stop.
    if (began < this.#nextLook && this.#nextLook - began < 60_000) return this.#look ?? Promise.resolve();
    this.#look ??= this.#read().finally(() => {
      const ended = clock.now();
      this.#nextLook = ended + Math.max(PAUSE, PAUSE_PER_LOOK * (ended - began));
      this.#look = undefined;
    });
    return this.#look;
  }

  async #read(): Promise<void> {
    const { reader, clock } = this.#parts;
    // If the clock was set back, later messages have earlier times.
    if (this.#changed - CLOCK_TOLERANCE > clock.now()) this.#changed = Number.NEGATIVE_INFINITY;
    await this.#readCars(this.#changed - CLOCK_TOLERANCE);
    // The result does not show which cars were erased: read all cars again.
    if ((await reader.countVehicles()) < this.#cars.size) {
      this.#cars.clear();
      await this.#readCars(Number.NEGATIVE_INFINITY);
    }
  }

  async #readCars(since: number): Promise<void> {
    const { reader, clock, turn } = this.#parts;
    // A hub with a fast clock may have stored later times.
    const now = clock.now();
    let after = '';
    for (;;) {
      const batch = await reader.summaries(Math.max(0, since), after, BATCH);
      for (const one of batch) {
        this.#cars.set(one.vin, carOf(one));
        this.#changed = Math.max(this.#changed, Math.min(one.changed, now));
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
