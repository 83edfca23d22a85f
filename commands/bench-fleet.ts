/** `vigie bench --cars N`: simulated cars on a hub, in one process. */
import { join } from 'node:path';
import { SystemClock } from '../adapters/clock/system.ts';
import { type Level, StreamLog } from '../adapters/logging/stream.ts';
import { fleetCar } from '../adapters/simulated/fleet.ts';
import type { ScenarioName } from '../adapters/simulated/index.ts';
import type { Car } from '../assembly/car.ts';
import { makeDirectory } from '../assembly/directory.ts';
import { benchVehicle } from '../assembly/simulation.ts';
import { startHub } from '../hub/start/hub.ts';
import { counted } from '../protocol/counted.ts';
import type { MapTiles } from '../protocol/interface/own/car-description.ts';
import { benchCallbacks } from './bench-callbacks.ts';
import { startBenchCar } from './bench-car.ts';
import { chosenPorts } from './ports.ts';
import { programName } from './program-name.ts';
import { untilSignal } from './signals.ts';

/** Interval of reports of acknowledged messages, ms. */
const REPORT_EVERY = 30_000;

export interface BenchFleetOptions {
  readonly data: string;
  readonly cars: number;
  readonly port?: number;
  readonly http?: number;
  readonly log: Level;
  readonly scenario: ScenarioName;
  readonly tiles: MapTiles | undefined;
}

/** The bench cars are numbered from 1; the first is that of a bench of one. */
function vinOfCar(index: number): string {
  return `VF3VGEBENCH${String(index + 1).padStart(6, '0')}`;
}

/** Runs until a signal. Reports when every car has had a message acknowledged. */
export async function benchFleet({
  data,
  cars: number,
  log: level,
  scenario,
  tiles,
  ...asked
}: BenchFleetOptions): Promise<void> {
  const signalled = untilSignal();
  const clock = new SystemClock();
  const log = new StreamLog(process.stderr, level);
  const ports = await chosenPorts(asked);
  makeDirectory(data);
  const callbacks = benchCallbacks(data);
  const hub = await startHub({ data: join(data, 'hub'), callbacks, ...ports, ...(tiles && { tiles }), clock, log });
  ports.say(hub.broker, hub.interface.url);
  let messages = 0;
  const cars: Car[] = [];
  const vehicle = benchVehicle(scenario);
  for (let index = 0; index < number; index++) {
    const vin = vinOfCar(index);
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
        mqtt: { url: hub.broker },
        published,
        clock,
        log,
      }).then((car) => cars.push(car), failed);
    });
  }
  const { url } = hub.interface;
  const first = `${url}/vigie/v1/vehicles/${vinOfCar(0)}`;
  process.stdout.write(`ready: ${counted(number, 'car', 'cars')} on a hub at ${hub.broker}
The page: ${url}/ shows all cars.
The HTTP interface of all cars: ${url}/docs for people, ${url}/fleets/local/vehicles for programs.
Records, keys and the database are in ${data}; a second start goes on with them.
Try in another terminal:
  curl ${url}/fleets/local/trips
  curl ${first}/numbers
  curl -X POST -H 'Content-Type: application/json' -d '{"door": {"state": "Locked"}}' ${first}/remotes
  ${programName} watch ${vinOfCar(number - 1)} --broker ${hub.broker}
  ${programName} hub list --data ${join(data, 'hub')}
Ctrl-C ends the bench.
`);
  const reporting = setInterval(() => {
    process.stdout.write(`${counted(messages, 'message', 'messages')} acknowledged\n`);
  }, REPORT_EVERY);
  await signalled;
  clearInterval(reporting);
  process.stdout.write('stopping\n');
  await Promise.all(cars.map((car) => car.stop()));
  await hub.stop();
}
