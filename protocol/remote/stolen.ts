import { flag, optional, quantity, record } from '../schema/fields.ts';
import { immobilizationAction, immobilizationSchema } from './immobilization.ts';
import { remoteKind } from './kind.ts';
import { anyMember, oneMember } from './members.ts';

const trackingPeriod = record(
  'RemoteTrackingPeriod',
  'How often a stolen car tells where it is. Interface 3.19.2 RemoteStolen.trackingPeriod.',
  {
    running: optional(
      1,
      quantity(
        's',
        1,
        [5],
        'Time between positions while it is driven. Interface 3.19.2 RemoteStolen.trackingPeriod.running.',
      ),
    ),
    shutdown: optional(
      2,
      quantity(
        's',
        1,
        [60],
        'Time between positions while it stands. Interface 3.19.2 RemoteStolen.trackingPeriod.shutdown.',
      ),
    ),
  },
);

/** Reports a theft, tracks the car, or prevents its next start. */
export const stolen = remoteKind({
  type: 'Stolen',
  wire: 6,
  body: record('RemoteStolen', 'Declares a theft or follows the car during one. Interface 3.19.2 RemoteStolen.', {
    stolen: optional(1, flag('The car is stolen, or is found again. Interface 3.19.2 RemoteStolen.stolen.')),
    trackingPeriod: optional(2, trackingPeriod),
    immobilization: optional(3, immobilizationSchema),
  }),
  fault: (body) =>
    oneMember(body, ['stolen', 'trackingPeriod', 'immobilization']) ??
    (body.trackingPeriod === undefined ? undefined : anyMember(body.trackingPeriod, ['running', 'shutdown'])),
  actions: {},
  asks: ({ immobilization }) => (immobilization === undefined ? [] : [immobilizationAction(immobilization.activate)]),
  whileStolen: true,
  whilePrivate: true,
  withLowBattery: true,
  member: 'stolen',
  capability: { actions: [] },
  example: { summary: 'Declare the vehicle stolen', body: { stolen: true } },
  words: {
    verb: 'stolen',
    usage: 'stolen on|off|track [--running SECONDS] [--shutdown SECONDS]',
    bodies: { on: { stolen: true }, off: { stolen: false } },
  },
});
