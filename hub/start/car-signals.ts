/** Custom signals that monitors at a hub may name: those in the catalogs of the cars. */
import type { Call } from '../../adapters/http/call.ts';
import { anySignal, noSignals, type SignalRules } from '../../protocol/schema/monitor/signals.ts';
import type { VehicleReader } from '../core/ports.ts';
import type { Owner } from '../core/registry.ts';
import { catalogRules } from '../http/sent-signals.ts';

/** Largest number of cars of an owner that are examined for a monitor of all its cars. */
const MAX_CARS = 200;

const anyRules: SignalRules = { rule: () => anySignal, names: [] };

/** Returns true if the request contains a monitor that may name a custom signal. */
export function namesSignal({ body }: Call): boolean {
  return JSON.stringify(body ?? null).includes('"signal.');
}

/** Returns the signals of a car. A car that has not described itself may have any signal. */
export async function signalsOfCar(reader: VehicleReader, vin: string): Promise<SignalRules> {
  const description = (await reader.status(vin))?.vehicle;
  if (description === undefined) return anyRules;
  const { catalog } = description;
  return catalog === undefined ? noSignals : ((await catalogRules(reader, vin, catalog)) ?? anyRules);
}

/** Returns the signals of any car of the owners, or of all cars. With many cars, any signal may be named. */
export async function signalsOfCars(reader: VehicleReader, owners: readonly Owner[] | undefined): Promise<SignalRules> {
  const listed = await reader.vehicleKeys('', owners).read({}, MAX_CARS + 1);
  if (listed.length === 0 || listed.length > MAX_CARS) return anyRules;
  const all: SignalRules[] = [];
  for (const { vehicle } of listed) all.push(await signalsOfCar(reader, vehicle.vin));
  return {
    rule: (name) => all.map((one) => one.rule(name)).find((rule) => rule !== undefined),
    names: new Set(all.flatMap(({ names }) => [...names])),
  };
}
