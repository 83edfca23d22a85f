/** Publishes what the profile and the configuration of the car contain for the interface. */
import { defined } from '../protocol/defined.ts';
import type { VehicleBody, VehicleFacts } from '../protocol/schema/vehicle.ts';
import type { Memory, Publisher } from './ports.ts';
import { members, misfit } from './recorders/trip/shape.ts';

/** Key of the state in the memory. */
const KEY = 'vehicle';

interface VehicleTimes {
  /** UTC ms. */
  readonly createdAt: number;
  /** Time of the last change, UTC ms. Omitted if it never changed. */
  readonly updatedAt?: number;
}

type KeptVehicle = VehicleTimes & {
  /** The facts as JSON. */
  readonly facts: string;
};

const shape = members({ createdAt: 'number', updatedAt: { optional: 'number' }, facts: 'text' });

export class VehicleAnnouncement {
  readonly #facts: VehicleFacts;
  readonly #publisher: Pick<Publisher, 'put'>;
  #kept: KeptVehicle;
  #changed = false;
  #announced = false;

  /** `now`: UTC ms. */
  constructor(facts: VehicleFacts, publisher: Pick<Publisher, 'put'>, memory: Pick<Memory, 'recall'>, now: number) {
    this.#facts = facts;
    this.#publisher = publisher;
    const known = memory.recall(KEY);
    const written = JSON.stringify(facts);
    const at = Math.round(now);
    if (misfit(known, shape) !== undefined) this.#kept = { createdAt: at, facts: written };
    else this.#kept = known as KeptVehicle;
    if (this.#kept.facts !== written) this.#kept = { ...this.#kept, updatedAt: at, facts: written };
    this.#changed = this.#kept !== known;
  }

  get times(): VehicleTimes {
    const { createdAt, updatedAt } = this.#kept;
    return { createdAt, ...defined({ updatedAt }) };
  }

  /** Publishes the description. Call once after each start: the present broker may not have it. */
  announce(): void {
    this.#announced = true;
    const body: VehicleBody = { ...this.times, ...this.#facts };
    this.#publisher.put('vehicle', body, { retain: true });
  }

  /** Call when the time becomes known: times from `earliest` to `latest` (UTC ms) were `by` ms behind. */
  correct(by: number, earliest: number, latest: number): void {
    const corrected = (at: number): number => (at >= earliest && at <= latest ? at + by : at);
    const { createdAt, updatedAt } = this.times;
    const times = { createdAt: corrected(createdAt), ...(updatedAt && { updatedAt: corrected(updatedAt) }) };
    if (times.createdAt === createdAt && times.updatedAt === updatedAt) return;
    this.#kept = { ...this.#kept, ...times };
    this.#changed = true;
    if (this.#announced) this.announce();
  }

  /** Returns the state if it changed since the last call. */
  *states(): Generator<readonly [key: string, value: unknown]> {
    if (!this.#changed) return;
    this.#changed = false;
    yield [KEY, { ...this.#kept }];
  }
}
