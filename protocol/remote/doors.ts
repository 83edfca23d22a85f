import { enumeration, flag, optional, record, required } from '../schema/fields.ts';
import { driverAct, ignitionOn, openings, speedAtMost } from './conditions.ts';
import { remoteKind } from './kind.ts';

/** Speed in km/h above which a remote command must not open a door. */
const WALKING_SPEED = 6;

/** Central locking. */
export const doors = remoteKind({
  type: 'Doors',
  wire: 3,
  body: record('RemoteDoorsState', 'Locks or unlocks. Interface 3.19.2 RemoteDoorsState.', {
    state: required(
      1,
      enumeration('What the central locking shall be. Interface 3.19.2 RemoteDoorsState.state.', [
        'Unlocked',
        'Locked',
      ]),
    ),
    forced: optional(2, flag('Deprecated, accepted and without effect. Interface 3.19.2 RemoteDoorsState.forced.')),
  }),
  deprecated: 'forced',
  actions: {
    'doors.lock': {
      ends: [...openings.map((path) => driverAct(path, 'Open', 'a door was opened meanwhile')), ...ignitionOn],
      // Possible causes: an open door prevents locking, and a key inside must not be locked in.
      causes: [
        ...openings.map((path) => ({
          path,
          value: 'Open',
          code: 'command.doorsOpen' as const,
          detail: `${path} is Open`,
        })),
        { path: 'key.present', value: true, code: 'command.keyInside', detail: 'a key is in the car' },
        { path: 'key.present', code: 'command.keyPerhapsInside', detail: 'whether a key is in the car is unknown' },
      ],
    },
    'doors.unlock': { interlocks: [speedAtMost(WALKING_SPEED)] },
  },
  asks: ({ state }) => [state === 'Locked' ? 'doors.lock' : 'doors.unlock'],
  member: 'door',
  scope: { name: 'door', description: 'Lock and unlock the doors.' },
  capability: { actions: ['doors.lock', 'doors.unlock'] },
  example: { summary: 'Lock the doors', body: { state: 'Locked' } },
  words: {
    verb: 'doors',
    usage: 'doors lock|unlock',
    bodies: { lock: { state: 'Locked' }, unlock: { state: 'Unlocked' } },
  },
});
