/** What a car can tell and do, by the names of scopes: interface 3.19.2 and 4.17.2 OnboardCapabilities. */
import type { Side } from '../../../protocol/interface/operation.ts';
import { PROGRAMS } from '../../../protocol/schema/remote/program.ts';
import type { Capabilities } from './car.ts';

/** Members of Status below `vehicle` that have a scope of their own. */
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

/** What begins so tells of a collision. */
const crashes = ['collision.', 'acceleration.', 'safety.autoECallTriggering'];
/** And of a trip (docs/trips.md). */
const movements = ['ignition.', 'powertrain.', 'kinetic.', 'odometer.', 'engines.', 'lastPosition.'];

/** Interface 3.19.2 OnboardCapabilities; what a car has to be told about a theft is for fleets. */
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
  const start = can('charging.start');
  const climate = can('preconditioning.start');
  const preferences = {
    level: can(...[1, 2, 3, 4, 5].map((level) => `charging.level${level}`)),
    type: can('charging.partial', 'charging.full'),
  };
  return {
    preconditioning: {
      ...remote('preconditioning', climate),
      parameters: { programs: { size: climate ? PROGRAMS : 0 }, immediate: climate },
    },
    charging: {
      ...remote('charging', start || can('charging.stop')),
      parameters: {
        immediate: { start, stop: can('charging.stop') },
        // The published schema lists `preferences` beside `schedule` and requires it in there: it is in both places.
        schedule: { programs: { supported: start, size: start ? PROGRAMS : 0 }, nextDelayedTime: start, preferences },
        preferences,
      },
    },
    door: remote('door', can('doors.lock', 'doors.unlock')),
    horn: remote('horn', can('horn.on')),
    lights: remote('lights', can('lights.on')),
    wakeup: remote('wakeup', commands),
    navigation: remote('navigation', can('navigation.send')),
    ...(side === 'fleet' ? { stolen: { supported: commands } } : {}),
  };
}

function remote(name: string, supported: boolean): { supported: boolean; scopeName: string } {
  return { supported, scopeName: `remote:${name}:write` };
}
