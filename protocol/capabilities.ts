/** Data that a car may provide. Interface 3.19.2 and 4.17.2 OnboardCapabilities.data. */

/** Names of data. The wire carries positions in this list: append only. */
export const dataCapabilities = [
  'data:vehicle:devices:pnc',
  'data:telemetry',
  'data:telemetry:environment',
  'data:telemetry:privacy',
  'data:telemetry:vehicle',
  'data:telemetry:vehicle:ignition',
  'data:telemetry:vehicle:preconditioning',
  'data:telemetry:vehicle:energies',
  'data:telemetry:vehicle:engines',
  'data:telemetry:vehicle:doorsState',
  'data:telemetry:vehicle:powertrain',
  'data:telemetry:vehicle:battery',
  'data:telemetry:vehicle:safety',
  'data:telemetry:vehicle:odometer',
  'data:telemetry:vehicle:kinetic',
  'data:telemetry:vehicle:transmission',
  'data:telemetry:vehicle:adas',
  'data:telemetry:vehicle:lightingSystem',
  'data:telemetry:vehicle:maintenance',
  'data:telemetry:vehicle:drivingBehavior',
  'data:telemetry:vehicle:wipingBlades',
  'data:telemetry:vehicle:alarm',
  'data:position',
  'data:trip',
  'data:alert',
  'data:collision',
] as const;
export type DataCapability = (typeof dataCapabilities)[number];

const VEHICLE = 'data:telemetry:vehicle:';

/** Prefixes of the paths that feed data, if the data's name is not such a path. */
const beginnings: Readonly<Partial<Record<DataCapability, readonly string[]>>> = {
  'data:telemetry:environment': ['environment.'],
  'data:telemetry:privacy': ['privacy.'],
  'data:position': ['lastPosition.'],
  // docs/trips.md
  'data:trip': ['ignition.', 'powertrain.', 'kinetic.', 'odometer.', 'engines.', 'lastPosition.'],
  'data:alert': ['alerts.'],
  'data:collision': ['collision.', 'acceleration.', 'safety.autoECallTriggering'],
};

/** Returns the data of a car with sources for these paths of Status and channels (protocol/channels.ts). */
export function dataCapabilitiesOf(paths: ReadonlySet<string>): DataCapability[] {
  const isFed = (one: DataCapability): boolean => {
    const own = beginnings[one] ?? [`${one.slice(VEHICLE.length)}.`];
    return [...paths].some((path) => own.some((beginning) => path.startsWith(beginning)));
  };
  const fed = new Set(dataCapabilities.filter((one) => (one in beginnings || one.startsWith(VEHICLE)) && isFed(one)));
  const isAny = (prefix: string): boolean => [...fed].some((one) => one.startsWith(prefix));
  return dataCapabilities.filter(
    (one) =>
      one === 'data:vehicle:devices:pnc' ||
      fed.has(one) ||
      (one === 'data:telemetry' && isAny('data:telemetry:')) ||
      (one === 'data:telemetry:vehicle' && isAny(VEHICLE)),
  );
}
