/** Measures pages of the interface of a hub on a database that {@link ./fill.ts} has filled. */
import { PageTokens } from '../../adapters/http/paging.ts';
import { handlersOf } from '../../adapters/http/resources/index.ts';
import { idOf } from '../../assembly/view.ts';
import { RegistryStates } from '../../hub/core/registry-state.ts';
import { SqlReader, SqlRegistry } from '../../hub/database/index.ts';
import { PostgresDatabase } from '../../hub/database/postgres/index.ts';
import { servedTo } from '../../hub/start/access.ts';
import { servedVehicles } from '../../hub/start/vehicles.ts';
import { DAY } from '../../protocol/calendar.ts';
import { Asker } from '../../test/adapters/http/resources/rig.ts';
import { silent } from '../scenarios/drive.ts';
import { fleetVin } from './car.ts';
import { FILLED_DAYS, FILLED_FLEET, FILLED_TO } from './fill.ts';

export interface RequestFigures {
  readonly name: string;
  /** Largest number of statements of a request. */
  readonly statements: number;
  /** Durations in ms, ascending. */
  readonly times: readonly number[];
}

/** Number of rounds that are not measured: they open the connections and fill the caches. */
const WARM_UP = 10;

type Pages = Readonly<Record<string, (car: string) => string>>;

const fleet = `/fleets/${FILLED_FLEET}`;
const days = (from: number, to = 0): string =>
  [from, to].map((day) => new Date(FILLED_TO - day * DAY).toISOString()).join('/');

/** Addresses of the pages. A name that ends in "next page" requests the second page. */
const pages: Pages = {
  'vehicles of the fleet': () => `${fleet}/vehicles`,
  'vehicles of the fleet, next page': () => `${fleet}/vehicles`,
  'Status of the fleet': () => `${fleet}/status`,
  [`alerts of the fleet, ${FILLED_DAYS} days`]: () => `${fleet}/alerts?timestamps=${days(FILLED_DAYS)}`,
  [`alerts of the fleet, ${FILLED_DAYS} days, next page`]: () => `${fleet}/alerts?timestamps=${days(FILLED_DAYS)}`,
  'alerts of the fleet, one old day': () => `${fleet}/alerts?timestamps=${days(40.3, 39.3)}`,
  'alerts of the fleet': () => `${fleet}/alerts`,
  'trips of the fleet, 7 days, completed': () => `${fleet}/trips?states=Nominal&timestamps=${days(7)}`,
  'services of the fleet': () => `${fleet}/maintenances`,
  'Status of a car': (car) => `${car}/status`,
  'alerts of a car': (car) => `${car}/alerts`,
  'trips of a car': (car) => `${car}/trips`,
  'telemetry of a car, one day': (car) => `${car}/telemetry?timestamps=${days(10.5, 9.5)}`,
  'telemetry of a car': (car) => `${car}/telemetry`,
};

/** Requests each page `rounds` times, each time for another car if there are enough. */
export async function measureRequests(url: string, cars: number, rounds: number): Promise<readonly RequestFigures[]> {
  const database = await PostgresDatabase.open(url, silent);
  try {
    let statements = 0;
    const reader = new SqlReader((sql, ...values) => {
      statements++;
      return database.select(sql, ...values);
    });
    const states = new RegistryStates(new SqlRegistry(database));
    const tokens = new PageTokens(new Uint8Array(32).fill(7));
    const asker = new Asker(handlersOf(servedTo(states, servedVehicles(reader)), tokens));
    const caller = { name: 'ops', fleets: new Set([FILLED_FLEET]) };
    const get = async (address: string) => {
      const { status, body } = await asker.get(address, { caller, now: FILLED_TO });
      if (status !== 200) throw new Error(`${address} answers ${status}`);
      return body as unknown as { readonly _links: Readonly<Record<string, { readonly href: string }>> };
    };
    const figures = new Map(Object.keys(pages).map((name) => [name, { statements: 0, times: [] as number[] }]));
    for (let round = -WARM_UP; round < rounds; round++) {
      const car = `${fleet}/vehicles/${idOf(fleetVin(Math.floor(((round + WARM_UP) / (rounds + WARM_UP)) * cars)))}`;
      for (const [name, addressOf] of Object.entries(pages)) {
        const first = addressOf(car);
        const address = name.endsWith('next page') ? ((await get(first))._links['next']?.href ?? first) : first;
        // The version of the registry is one statement.
        statements = 1;
        const began = performance.now();
        await get(address);
        const took = performance.now() - began;
        const own = figures.get(name);
        if (round < 0 || own === undefined) continue;
        own.times.push(took);
        own.statements = Math.max(own.statements, statements);
      }
    }
    return [...figures].map(([name, { statements: most, times }]) => ({
      name,
      statements: most,
      times: times.toSorted((a, b) => a - b),
    }));
  } finally {
    await database.close();
  }
}
