/** Values and commands of a car, by the names of scopes: interface 3.19.2 and 4.17.2 OnboardCapabilities. */
import type { Side } from '../../../protocol/interface/operation.ts';
import { remoteScope } from '../../../protocol/interface/operations/scopes.ts';
import { remoteKindsOf } from '../../../protocol/interface/schemas/delivery.ts';
import type { Capabilities } from './car.ts';

/** Members of Status below `vehicle` that have a separate scope. */
const vehicleMembers = [
  'ignition',
  'preconditioning',
  'energies',
  'engines',
  'doorsState',
  'powertrain',
  'battery',
  'safety',
  'odometer',
  'kinetic',
  'transmission',
  'adas',
  'lightingSystem',
  'maintenance',
  'drivingBehavior',
  'wipingBlades',
  'alarm',
] as const;

/** Prefixes of paths that belong to collisions. */
const crashes = ['collision.', 'acceleration.', 'safety.autoECallTriggering'];
/** Prefixes of paths that belong to trips (docs/trips.md). */
const movements = ['ignition.', 'powertrain.', 'kinetic.', 'odometer.', 'engines.', 'lastPosition.'];

/** Interface 3.19.2 OnboardCapabilities; only fleets get the capabilities for thefts. */
export function onboardCapabilities(side: Side, capabilities: Capabilities): unknown {
  return { data: dataOf(capabilities.paths), remote: remoteOf(side, capabilities) };
}

function dataOf(paths: ReadonlySet<string>): string[] {
  const fed = (...beginnings: readonly string[]): boolean =>
    [...paths].some((path) => beginnings.some((beginning) => path.startsWith(beginning)));
  const vehicle = vehicleMembers.filter((member) => fed(`${member}.`));
  const telemetry = [
    ...(fed('environment.') ? ['data:telemetry:environment'] : []),
    ...(fed('privacy.') ? ['data:telemetry:privacy'] : []),
    ...(vehicle.length > 0 ? ['data:telemetry:vehicle'] : []),
    ...vehicle.map((member) => `data:telemetry:vehicle:${member}`),
  ];
  return [
    'data:vehicle:devices:pnc',
    ...(telemetry.length > 0 ? ['data:telemetry'] : []),
    ...telemetry,
    ...(fed('lastPosition.') ? ['data:position'] : []),
    ...(fed(...movements) ? ['data:trip'] : []),
    ...(fed('alerts.') ? ['data:alert'] : []),
    ...(fed(...crashes) ? ['data:collision'] : []),
  ];
}

function remoteOf(side: Side, { actions, commands }: Capabilities): unknown {
  const can = (...names: readonly string[]): boolean => commands && names.some((name) => actions.has(name));
  return Object.fromEntries(
    remoteKindsOf(side).flatMap(({ member, scope, capability }) => {
      if (capability === undefined) return [];
      const supported = capability.actions.length === 0 ? commands : can(...capability.actions);
      if (scope === undefined) return [[member, { supported }]];
      const parameters = capability.parameters?.of(can);
      const reported = { supported, scopeName: remoteScope(scope.name) };
      return [[scope.name, parameters === undefined ? reported : { ...reported, parameters }]];
    }),
  );
}
