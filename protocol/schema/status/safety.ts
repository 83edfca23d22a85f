import { enumeration, list, optional, record, required } from '../fields.ts';
import { createdAt } from './created.ts';

const beltStatus = record(
  'BeltStatus',
  {
    id: required(
      1,
      enumeration(['Driver', 'Passenger'], { description: 'Which seat. Interface 3.19.2 BeltStatus.id.' }),
    ),
    belt: optional(
      2,
      enumeration(['Normal', 'Omission'], {
        description: 'Omission: the seat is taken and the belt is not fastened. Interface 3.19.2 BeltStatus.belt.',
      }),
    ),
  },
  { description: 'The belt of one seat. Interface 3.19.2 BeltStatus.' },
);

export const safetySchema = record(
  'Safety',
  {
    createdAt,
    beltStatus: optional(
      1,
      list(beltStatus, {
        identity: ['id'],
        maxItems: 2,
        description: 'Seat belts. Interface 3.19.2 Safety.beltStatus.',
      }),
    ),
    autoECallTriggering: optional(
      2,
      enumeration(['NotDetected', 'Detected', 'ShockDetectionUnabled'], {
        description: 'Shock that makes the car call for help by itself. Interface 3.19.2 Safety.autoECallTriggering.',
      }),
    ),
  },
  { description: 'Belts and emergency call. Interface 3.19.2 Status.safety.' },
);
