import { flag, record, required } from '../schema/fields.ts';
import { ignitionOn, speedAtMost } from './conditions.ts';
import { remoteKind } from './kind.ts';

export const immobilizationSchema = record(
  'RemoteSetImmobilization',
  'Prevents the next start, or allows it again. Interface 3.19.2 RemoteSetImmobilization.',
  {
    activate: required(1, flag('The next start is prevented. Interface 3.19.2 RemoteSetImmobilization.activate.')),
  },
);

/** Returns the action. It prevents or allows the next start, and does not affect a running engine. */
export const immobilizationAction = (activate: boolean): string =>
  activate ? 'immobilization.on' : 'immobilization.off';

export const immobilization = remoteKind({
  type: 'Immobilization',
  wire: 5,
  body: immobilizationSchema,
  actions: {
    'immobilization.on': {
      interlocks: [
        // The driver must be able to start again, also at a traffic light where the engine stopped automatically.
        { ...speedAtMost(0), fixed: true },
        {
          any: [
            { path: 'ignition.type', equals: 'Stop' },
            { path: 'powertrain.status', equals: 'Stopped' },
            { path: 'powertrain.status', equals: 'NotRunning' },
          ],
          none: [
            ...['StartUp', 'Start'].map((equals) => ({ path: 'ignition.type', equals })),
            ...['Starting', 'Running', 'Stopping'].map((equals) => ({ path: 'powertrain.status', equals })),
          ],
          refusal: 'command.vehicleInUse',
          demand: 'the engine must be stopped and the ignition off',
          fixed: true,
        },
      ],
      ends: ignitionOn,
    },
    'immobilization.off': {},
  },
  asks: ({ activate }) => [immobilizationAction(activate)],
  whileStolen: true,
  member: 'immobilization',
  example: { summary: 'Prevent the next start of the engine', body: { activate: true } },
  words: {
    verb: 'immobilize',
    usage: 'immobilize on|off',
    bodies: { on: { activate: true }, off: { activate: false } },
  },
});
