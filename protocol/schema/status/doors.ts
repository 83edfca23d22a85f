import { enumeration, list, optional, record, required } from '../fields.ts';
import { createdAt } from './created.ts';

const opening = record('Opening', 'One door, flap or window.', {
  identifier: required(
    1,
    enumeration('Which door, flap or window. Interface 3.19.2 DoorsState.opening.identifier.', [
      'Driver',
      'Passenger',
      'RearLeft',
      'RearRight',
      'Trunk',
      'RearWindow',
      'RoofWindow',
    ]),
  ),
  state: optional(2, enumeration('Whether it is open. Interface 3.19.2 DoorsState.opening.state.', ['Open', 'Closed'])),
});

export const doorsStateSchema = record('DoorsState', 'Doors and locks. Interface 3.19.2 Status.doorsState.', {
  createdAt,
  lockedStates: optional(
    1,
    list(
      'States of the locks that hold together.',
      enumeration('One state. Interface 3.19.2 DoorsState.lockedStates.', [
        'Unlocked',
        'Locked',
        'SuperLocked',
        'DriverDoorUnlocked',
        'CabinDoorsUnlocked',
        'CargoDoorsLocked',
        'CargoDoorsUnlocked',
        'RearDoorsUnlocked',
        'RearDoorsLocked',
        'TrunkLocked',
        'TrunkUnLocked',
      ]),
      { maxItems: 11 },
    ),
  ),
  opening: optional(
    2,
    list('Doors, flaps and windows. Interface 3.19.2 DoorsState.opening.', opening, {
      identity: ['identifier'],
      maxItems: 7,
    }),
  ),
});
