import { enumeration, list, optional, record, required } from '../fields.ts';
import { createdAt } from './created.ts';

const beltStatus = record('BeltStatus', 'The belt of one seat. Interface 3.19.2 BeltStatus.', {
  id: required(1, enumeration('Which seat. Interface 3.19.2 BeltStatus.id.', ['Driver', 'Passenger'])),
  belt: optional(
    2,
    enumeration('Omission: the seat is taken and the belt is not fastened. Interface 3.19.2 BeltStatus.belt.', [
      'Normal',
      'Omission',
    ]),
  ),
});

export const safetySchema = record('Safety', 'Belts and emergency call. Interface 3.19.2 Status.safety.', {
  createdAt,
  beltStatus: optional(
    1,
    list('Seat belts. Interface 3.19.2 Safety.beltStatus.', beltStatus, { identity: ['id'], maxItems: 2 }),
  ),
  autoECallTriggering: optional(
    2,
    enumeration('Shock that makes the car call for help by itself. Interface 3.19.2 Safety.autoECallTriggering.', [
      'NotDetected',
      'Detected',
      'ShockDetectionUnabled',
    ]),
  ),
});
