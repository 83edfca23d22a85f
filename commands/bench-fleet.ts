/** `vigie bench --cars N`: simulated cars on a hub, in one process. */
import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import { SystemClock } from '../adapters/clock/system.ts';
import { type Level, StreamLog } from '../adapters/logging/stream.ts';
import { fleetCar } from '../adapters/simulated/fleet.ts';
import type { ScenarioName } from '../adapters/simulated/index.ts';
import type { Log } from '../agent/ports.ts';
import type { Car } from '../assembly/car.ts';
import { makeDirectory } from '../assembly/directory.ts';
import { benchVehicle } from '../assembly/simulation.ts';
import { digestOf } from '../hub/start/clients.ts';
import { startHub } from '../hub/start/hub.ts';
import { type HubPlace, isHubPlace, openRegistry } from '../hub/start/registry.ts';
import { counted } from '../protocol/counted.ts';
import { VigieError } from '../protocol/errors.ts';
import type { MapTiles } from '../protocol/interface/own/car-description.ts';
import { benchCallbacks } from './bench-callbacks.ts';
import { startBenchCar } from './bench-car.ts';
import { checkedId } from './hub-registry.ts';
import { chosenPorts } from './ports.ts';
import { programName } from './program-name.ts';
import { untilSignal } from './signals.ts';

/** Number of started cars after which the bench prints a progress line. */
const PROGRESS_CARS = 10;
/** Time in ms between two reports of acknowledged messages. */
const REPORT_EVERY = 30_000;

export interface BenchFleetOptions {
  readonly data: string;
  readonly cars: number;
  /** Fleet in which the cars are registered. If undefined, the hub has no registry. */
  readonly fleet: string | undefined;
  readonly port?: number;
  readonly http?: number;
  readonly log: Level;
  readonly scenario: ScenarioName;
  readonly tiles: MapTiles | undefined;
}

/** Returns the VIN of a bench car. Cars are numbered from 1; the first has the VIN of a bench with a single car. */
function vinOfCar(index: number): string {
  return `VF3VGEBENCH${String(index + 1).padStart(6, '0')}`;
}

/** Runs until a signal arrives. Reports when the broker has acknowledged a message of every car. */
export async function benchFleet({
  data,
  cars: number,
  fleet,
  log: level,
  scenario,
  tiles,
  ...asked
}: BenchFleetOptions): Promise<void> {
  const signalled = untilSignal();
  const clock = new SystemClock();
  const log = new StreamLog(process.stderr, level);
  makeDirectory(data);
  const place = { data: join(data, 'hub') };
  const vins = Array.from({ length: number }, (_, index) => vinOfCar(index));
  const passwords = await registerCars(place, vins, fleet, log);
  const ports = await chosenPorts(asked);
  const callbacks = benchCallbacks(data);
  const hub = await startHub({ ...place, callbacks, ...ports, ...(tiles && { tiles }), clock, log });
  ports.say(hub.broker, hub.interface.url);
  let messages = 0;
  const cars: Car[] = [];
  const vehicle = benchVehicle(scenario);
  process.stdout.write(`starting ${counted(number, 'car', 'cars')}: each is ready when the hub has a message of it\n`);
  for (const [index, vin] of vins.entries()) {
    if (index > 0 && index % PROGRESS_CARS === 0) process.stdout.write(`${index} of ${number} cars are ready\n`);
    const password = passwords.get(vin);
    await new Promise<void>((heard, failed) => {
      const published = (): void => {
        messages++;
        heard();
      };
      startBenchCar({
        vin,
        vehicle,
        data: join(data, 'cars', vin),
        scenario,
        ...fleetCar(index, scenario),
        trust: hub.trust,
        mqtt: { url: hub.broker, ...(password === undefined ? {} : { username: vin, password }) },
        published,
        clock,
        log,
      }).then((car) => cars.push(car), failed);
    });
  }
  const shown = { number, fleet, broker: hub.broker, url: hub.interface.url, data, hubData: place.data };
  process.stdout.write(fleet === undefined ? introduceOpen(shown) : introduceRegistered({ ...shown, fleet }));
  const reporting = setInterval(() => {
    process.stdout.write(`${counted(messages, 'message', 'messages')} acknowledged\n`);
  }, REPORT_EVERY);
  await signalled;
  clearInterval(reporting);
  process.stdout.write('stopping\n');
  await Promise.all(cars.map((car) => car.stop()));
  await hub.stop();
}

/** Registers the cars of the bench, each with a new password, in a hub that is not yet running. */
async function registerCars(
  place: HubPlace,
  vins: readonly string[],
  fleet: string | undefined,
  log: Log,
): Promise<ReadonlyMap<string, string>> {
  const passwords = new Map<string, string>();
  if (fleet === undefined && !isHubPlace(place)) return passwords;
  const { registry, close } = await openRegistry(place, log);
  try {
    if (fleet === undefined) {
      if (!(await registry.inUse())) return passwords;
      throw new VigieError(
        'usage.wrong',
        `the hub of this bench has a registry: add --fleet NAME, or end it with vigie hub open --yes --data ${place.data}`,
      );
    }
    for (const vin of vins) {
      const password = randomBytes(32).toString('base64url');
      await registry.add(vin, [{ kind: 'fleet', id: checkedId(fleet) }], Date.now());
      await registry.setPassword(vin, digestOf(password));
      passwords.set(vin, password);
    }
    return passwords;
  } finally {
    await close();
  }
}

interface ShownFleet {
  readonly number: number;
  readonly fleet: string | undefined;
  readonly broker: string;
  /** Address of the interface. */
  readonly url: string;
  readonly data: string;
  readonly hubData: string;
}

function introduceOpen({ number, broker, url, data, hubData }: ShownFleet): string {
  const first = `${url}/vigie/v1/vehicles/${vinOfCar(0)}`;
  return `ready: ${counted(number, 'car', 'cars')} on a hub at ${broker}
The page: ${url}/ shows all cars.
The HTTP interface of all cars: ${url}/docs for people, ${url}/fleets/local/vehicles for programs.
Records, keys and the database are in ${data}; a second start goes on with them.
Try in another terminal:
  curl ${url}/fleets/local/trips
  curl ${first}/numbers
  ${programName} send ${vinOfCar(0)} doors lock --hub ${url}
  ${programName} watch ${vinOfCar(number - 1)} --broker ${broker}
  ${programName} hub list --data ${hubData}
Ctrl-C ends the bench.
`;
}

function introduceRegistered({ number, fleet, broker, url, data, hubData }: ShownFleet & { fleet: string }): string {
  return `ready: ${counted(number, 'car', 'cars')} of the fleet ${fleet} on a hub at ${broker}
The page: ${url}/ shows the cars to those who have a token.
The HTTP interface of all cars: ${url}/docs for people, ${url}/fleets/${fleet}/vehicles for programs.
Records, keys and the database are in ${data}; a second start goes on with them.
Try in another terminal:
  ${programName} hub token --fleet ${fleet} --scopes all --data ${hubData} > token
  curl -H "Authorization: Bearer $(cat token)" ${url}/fleets/${fleet}/trips
  ${programName} send ${vinOfCar(0)} doors lock --hub ${url} --token-file token
  ${programName} hub list --data ${hubData}
Ctrl-C ends the bench.
`;
}
