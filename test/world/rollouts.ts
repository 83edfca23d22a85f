/** Roll-outs of configurations to the fleet of a world: the real code of the hub, and what a caller asks for. */
import { digestOf } from '../../assembly/sent-files.ts';
import { continueRollout, Rollouts } from '../../hub/core/rollouts.ts';
import type { SqliteDatabase } from '../../hub/database/index.ts';
import { SqlRollouts } from '../../hub/database/rollouts.ts';
import type { Chance } from './chance.ts';
import { type ConfigurationKind, configurationBody } from './configurations.ts';
import { FLEET } from './fleet.ts';

/** Waits for the report of a car, ms, as in `hub/start/rounds.ts`. */
const [FIRST, LONGEST] = [250_000, 900_000];

export class WorldRollouts {
  readonly #store: SqlRollouts;
  readonly #now: () => number;
  #count = 0;

  constructor(database: SqliteDatabase, now: () => number) {
    this.#store = new SqlRollouts(database);
    this.#now = now;
  }

  /** Starts the work of a hub. */
  begin(parts: Omit<ConstructorParameters<typeof Rollouts>[0], 'store' | 'wait'>, chance: Chance): void {
    const wait = (attempts: number): number => Math.min(LONGEST, FIRST * 2 ** attempts) * (0.5 + chance.real() / 2);
    new Rollouts({ ...parts, store: this.#store, wait }).begin();
  }

  /** Begins a roll-out. Rejects if the fleet has no car. */
  async order(kind: ConfigurationKind, tolerated: number): Promise<void> {
    const id = `rollout-${++this.#count}`;
    const body = configurationBody(`${kind} ${id}`);
    const digest = digestOf(body);
    const fleet = FLEET.id;
    const created = Math.round(this.#now());
    await this.#store.begin({ id, fleet, name: id, digest, body, caller: 'fleet', created, first: 1, tolerated });
  }

  /** Extends the newest roll-out to the whole fleet. Rejects if it may not. */
  async extend(): Promise<void> {
    const [newest] = await this.#store.rollouts();
    if (newest !== undefined) await continueRollout(this.#store, newest.id);
  }

  /** Returns the number of cars that have not reported a result yet. */
  async open(): Promise<number> {
    const all = await this.#store.rollouts({ underWay: true });
    return all.reduce((sum, { cars }) => sum + cars.waiting + cars.sent + cars.accepted + cars.trial, 0);
  }

  /** Descriptions of broken promises, once all is quiet. `digest`: of the configuration in effect, by VIN. */
  async broken(digests: ReadonlyMap<string, string | undefined>): Promise<string[]> {
    const found: string[] = [];
    const all = await this.#store.rollouts();
    for (const { id, stage, cars, tolerated } of all) {
      const failed = cars.returned + cars.refused;
      if (failed > tolerated && stage !== 'stopped') found.push(`${id} goes on after ${failed} cars failed`);
    }
    for (const [vin, digest] of digests) {
      for (const { id, digest: sent } of all) {
        const car = (await this.#store.cars(id, '', 100)).find((one) => one.vin === vin);
        if (car?.state !== 'applied') continue;
        if (digest !== sent) found.push(`${id} counts as applied in ${vin}`);
        break;
      }
    }
    return found;
  }
}
