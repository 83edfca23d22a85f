/** What a car can do. Interface 3.19.2 and 4.17.2 OnboardCapabilities; `wakeup` is spelled so here. */
import type { Side } from '../operation.ts';
import { array, boolean, integer, type JsonSchema, object, string } from './json.ts';

/** Names of data that a car may give. */
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

const supported = boolean('Whether the car can do it.');

function capability(title: string, scope: string, parameters?: JsonSchema): JsonSchema {
  return object(
    title,
    {
      supported,
      scopeName: string('Scope that lets one ask for it.', { enum: [scope] }),
      ...(parameters === undefined ? {} : { parameters }),
    },
    {
      required: ['supported', 'scopeName', ...(parameters === undefined ? [] : ['parameters'])],
      description: 'One kind of remote.',
    },
  );
}

const preconditioning = object(
  'PreconditioningParameters',
  {
    programs: object(
      'PreconditioningPrograms',
      { size: integer('Programs that the car keeps.', { minimum: 0 }) },
      { required: ['size'], description: 'Programs.' },
    ),
    immediate: boolean('It can be started at once.'),
  },
  { description: 'How it can be asked for.' },
);

const charging = object(
  'ChargingParameters',
  {
    immediate: object(
      'ChargingImmediate',
      { start: boolean('It can be started.'), stop: boolean('It can be stopped.') },
      { description: 'At once.' },
    ),
    schedule: object(
      'ChargingSchedule',
      {
        programs: object(
          'ChargingPrograms',
          { supported, size: integer('Programs that the car keeps.', { minimum: 0 }) },
          { required: ['supported'], description: 'Programs.' },
        ),
        nextDelayedTime: boolean('It can be started once, later.'),
      },
      { required: ['programs', 'nextDelayedTime'], description: 'Later.' },
    ),
    preferences: object(
      'ChargingPreferences',
      { level: boolean('The power can be chosen.'), type: boolean('How far to charge can be chosen.') },
      { description: 'How.' },
    ),
  },
  { description: 'How it can be asked for.' },
);

export function onboardCapabilities(side: Side): JsonSchema {
  const remote: Record<string, JsonSchema> = {
    preconditioning: capability('PreconditioningCapability', 'remote:preconditioning:write', preconditioning),
    charging: capability('ChargingCapability', 'remote:charging:write', charging),
    door: capability('DoorCapability', 'remote:door:write'),
    horn: capability('HornCapability', 'remote:horn:write'),
    lights: capability('LightsCapability', 'remote:lights:write'),
    wakeup: capability('WakeUpCapability', 'remote:wakeup:write'),
    navigation: capability('NavigationCapability', 'remote:navigation:write'),
  };
  if (side === 'fleet') remote['stolen'] = object('StolenCapability', { supported }, { description: 'Thefts.' });
  return object(
    'OnboardCapabilities',
    {
      data: array(string('Name of data.', { enum: dataCapabilities }), 'Data that the car gives.'),
      remote: object('RemoteCapabilities', remote, {
        required: Object.keys(remote),
        description: 'Remotes that the car carries out.',
      }),
    },
    { description: 'What the car can do. Interface 3.19.2 OnboardCapabilities.' },
  );
}
