import { enumeration, list, optional, record, required } from '../fields.ts';
import { createdAt } from './created.ts';

const opening = record(
  'Opening',
  {
    identifier: required(
      1,
      enumeration(['Driver', 'Passenger', 'RearLeft', 'RearRight', 'Trunk', 'RearWindow', 'RoofWindow'], {
        description: 'Which door, flap or window. Interface 3.19.2 DoorsState.opening.identifier.',
      }),
    ),
    state: optional(
      2,
      enumeration(['Open', 'Closed'], {
        description: 'Whether it is open. Interface 3.19.2 DoorsState.opening.state.',
      }),
    ),
  },
  { description: 'One door, flap or window.' },
);

export const doorsStateSchema = record(
  'DoorsState',
  {
    createdAt,
    lockedStates: optional(
      1,
      list(
        enumeration(
          [
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
          ],
          { description: 'One state. Interface 3.19.2 DoorsState.lockedStates.' },
        ),
        { maxItems: 11, description: 'States of the locks that hold together.' },
      ),
    ),
    opening: optional(
      2,
      list(opening, {
        identity: ['identifier'],
        maxItems: 7,
        description: 'Doors, flaps and windows. Interface 3.19.2 DoorsState.opening.',
      }),
    ),
  },
  { description: 'Doors and locks. Interface 3.19.2 Status.doorsState.' },
);
