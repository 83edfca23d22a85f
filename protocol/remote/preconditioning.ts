import type { ErrorCode } from '../errors.ts';
import { boolean, integer, object } from '../interface/schemas/json.ts';
import { flag, optional, record, required } from '../schema/fields.ts';
import { engineStarted, openings, pluggedIn } from './conditions.ts';
import { remoteKind } from './kind.ts';
import {
  daysFault,
  eachProgram,
  PROGRAMS,
  preconditioningPrograms,
  type RemotePreconditioningProgram,
  slotTwice,
  timeOfDayFault,
} from './programs.ts';

/** Level in % of battery or tank below which the cabin is not conditioned unless the car is plugged in. */
const RESERVE = 20;

/** Error codes by the failure cause of preconditioning that the car reports. */
const failures: Readonly<Record<string, ErrorCode>> = {
  DoorOpened: 'command.doorsOpen',
  WindowsRoofOpened: 'command.doorsOpen',
  HoodOpened: 'command.doorsOpen',
  LowBattery: 'command.batteryLow',
  LowFuelLevel: 'command.batteryLow',
  NotParked: 'command.vehicleInUse',
  TooManyUnusedProg: 'command.unconfirmed',
  Defect: 'command.unconfirmed',
  OtherFailures: 'command.unconfirmed',
};

const capabilityParameters = object('PreconditioningParameters', 'How it can be asked for.', [], {
  programs: object('PreconditioningPrograms', 'Programs.', ['size'], {
    size: integer('Programs that the car keeps.', { minimum: 0 }),
  }),
  immediate: boolean('It can be started at once.'),
});

/** Preconditioning of the cabin: immediately, or by programs that the agent stores and executes. */
export const preconditioning = remoteKind({
  type: 'ThermalPreconditioning',
  wire: 0,
  body: record(
    'RemotePreconditioning',
    'Heats or cools the cabin before a drive. Interface 3.19.2 RemotePreconditioning.',
    {
      airConditioning: required(
        1,
        record('RemoteAirConditioning', 'The cabin. Interface 3.19.2 RemotePreconditioning.airConditioning.', {
          immediate: optional(
            1,
            flag(
              'Start now; false without programs: stop. Interface 3.19.2 RemotePreconditioning.airConditioning.immediate.',
            ),
          ),
          programs: optional(2, preconditioningPrograms),
        }),
      ),
    },
  ),
  fault: ({ airConditioning: { immediate, programs } }) =>
    immediate === undefined && (programs === undefined || programs.length === 0)
      ? 'airConditioning must have immediate or programs'
      : (eachProgram(programs, programFault) ?? slotTwice(programs)),
  actions: {
    'preconditioning.start': {
      interlocks: [
        {
          any: [{ path: 'doorsState.opening.Driver.state', equals: 'Closed' }],
          refusal: 'command.doorsOpen',
          demand: 'the driver’s door must be closed',
        },
        ...openings.map((path) => ({
          any: [{ path, equals: 'Closed' }],
          refusal: 'command.doorsOpen' as const,
          demand: 'doors and windows must be closed',
          onlyIfFed: true as const,
        })),
        {
          any: [
            pluggedIn,
            { path: 'energies.Electric.level', atLeast: RESERVE },
            { path: 'energies.Fuel.level', atLeast: RESERVE },
          ],
          refusal: 'command.batteryLow',
          demand: `the energy must be at least ${RESERVE} %, or a cable plugged in`,
        },
      ],
      ends: [
        engineStarted,
        ...Object.entries(failures).map(([value, code]) => ({
          path: 'preconditioning.airConditioning.failureCause',
          value,
          code,
          detail: `the car reports ${value}`,
        })),
      ],
    },
    'preconditioning.stop': {},
  },
  asks: ({ airConditioning: { immediate, programs = [] } }) => {
    if (immediate === true) return ['preconditioning.start'];
    // If omitted, `immediate` is false in the interface. With programs, it does not affect the current state.
    return immediate === false && programs.length === 0 ? ['preconditioning.stop'] : [];
  },
  member: 'preconditioning',
  scope: { name: 'preconditioning', description: 'Heat and cool the cabin before a drive.' },
  capability: {
    actions: ['preconditioning.start'],
    parameters: {
      schema: capabilityParameters,
      of: (can) => {
        const climate = can('preconditioning.start');
        return { programs: { size: climate ? PROGRAMS : 0 }, immediate: climate };
      },
    },
  },
  example: { summary: 'Start air conditioning now', body: { airConditioning: { immediate: true } } },
  words: {
    verb: 'precondition',
    usage: 'precondition [on|off] | delete --slot 1-4 | --slot 1-4 --at TIME [--days DAYS] [--once]',
    bodies: { on: { airConditioning: { immediate: true } }, off: { airConditioning: { immediate: false } } },
    alone: { airConditioning: { immediate: true } },
  },
});

function programFault(program: RemotePreconditioningProgram): string | undefined {
  const { slot, start, actionsType = 'Set' } = program;
  if (slot === undefined) return 'slot is missing';
  if (actionsType === 'Delete') return undefined;
  for (const member of ['enabled', 'start', 'occurence'] as const) {
    if (program[member] === undefined) return `${member} is missing: a program that is set has it`;
  }
  return timeOfDayFault('start', start as string) ?? daysFault(program.occurence);
}
