/** All cars at a glance. Kept in memory and read again only while somebody asks. */
import type { FleetCar } from '../../protocol/interface/own/hub-overview.ts';
import type { OverviewReader, VehicleSummary, WallClock } from './ports.ts';

/** Least time between two looks at the database, ms; several viewers share one look. */
const PAUSE = 500;
/** Share of the time that looking may take: a look at ten thousand driving cars is followed by a longer pause. */
const PAUSE_PER_LOOK = 4;
/** Cars read at once: others are served between two batches. */
const BATCH = 500;
/** Hubs that share a database differ in their clocks, and commit after they have received, ms. */
const CLOCK_TOLERANCE = 5_000;
interface OverviewParts {
  readonly reader: OverviewReader;
  readonly clock: WallClock;
  /** Resolves when other work that waits had its turn. */
  readonly turn: () => Promise<void>;
}

export class FleetOverview {
  readonly #parts: OverviewParts;
  readonly #cars = new Map<string, FleetCar>();
  /** UTC ms of the newest change of all read cars, at most the time of the read. */
  #changed = Number.NEGATIVE_INFINITY;
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
    const { reader, clock } = this.#parts;
    // The clock was set back: later messages have earlier times.
    if (this.#changed - CLOCK_TOLERANCE > clock.now()) this.#changed = Number.NEGATIVE_INFINITY;
    await this.#readCars(this.#changed - CLOCK_TOLERANCE);
    // A car that was erased is in no answer; everything is read again without it.
    if ((await reader.countVehicles()) < this.#cars.size) {
      this.#cars.clear();
      await this.#readCars(Number.NEGATIVE_INFINITY);
    }
  }

  async #readCars(since: number): Promise<void> {
    const { reader, clock, turn } = this.#parts;
    // A hub with a fast clock has left later times.
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
