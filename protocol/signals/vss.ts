/**
 * Names in COVESA's Vehicle Signal Specification (release 6) for paths of the interface. Only names and units; paths
 * whose values have another meaning in VSS, such as enumerations of other states, have no name here.
 */

interface VssName {
  readonly name: string;
  /** value in VSS = value of the interface × factor, e.g. m from km */
  readonly factor: number;
}

const combustion = 'Vehicle.Powertrain.CombustionEngine';
const traction = 'Vehicle.Powertrain.TractionBattery';
const fuel = 'Vehicle.Powertrain.FuelSystem';
const location = 'Vehicle.CurrentLocation';
const electric = 'energies.Electric.extension.electric';
const thermic = 'engines.Thermic.extension.thermic';

const named = (name: string, factor = 1): VssName => ({ name, factor });

const names: Readonly<Record<string, VssName>> = {
  'kinetic.speed': named('Vehicle.Speed'),
  'kinetic.acceleration': named('Vehicle.Acceleration.Longitudinal'),
  'kinetic.moving': named('Vehicle.IsMoving'),
  'lastPosition.latitude': named(`${location}.Latitude`),
  'lastPosition.longitude': named(`${location}.Longitude`),
  'lastPosition.altitude': named(`${location}.Altitude`),
  'lastPosition.heading': named(`${location}.Heading`),
  'odometer.mileage': named('Vehicle.TraveledDistance', 1000),
  'environment.air.temp': named('Vehicle.Exterior.AirTemperature'),
  'engines.Thermic.speed': named(`${combustion}.Speed`),
  [`${thermic}.coolant.temp`]: named(`${combustion}.EngineCoolant.Temperature`),
  [`${thermic}.oil.temp`]: named(`${combustion}.EngineOil.Temperature`),
  'energies.Fuel.level': named(`${fuel}.RelativeLevel`),
  'energies.Fuel.autonomy': named(`${fuel}.Range`, 1000),
  'energies.Electric.level': named(`${traction}.StateOfCharge.Displayed`),
  'energies.Electric.autonomy': named(`${traction}.Range`, 1000),
  [`${electric}.charging.chargingRate`]: named(`${traction}.Charging.ChargeRate`),
  [`${electric}.battery.health.capacity`]: named(`${traction}.StateOfHealth`),
};

const paths: ReadonlyMap<string, string> = new Map(Object.entries(names).map(([path, { name }]) => [name, path]));

/** Paths that have a name in VSS. */
export const vssPaths: readonly string[] = Object.keys(names);

/** Returns the VSS name of a path of the interface, or undefined. */
export function vssName(path: string): VssName | undefined {
  return names[path];
}

/** Returns the path of the interface that has this name in VSS. */
export function pathOfVss(name: string): string | undefined {
  return paths.get(name);
}
