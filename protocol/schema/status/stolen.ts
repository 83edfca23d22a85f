import { flag, instant, optional, record, required, text } from '../fields.ts';
import { whole } from '../mapping.ts';
import { createdAt } from './created.ts';
import { positionSchema } from './position.ts';

/** Present only while the car counts as stolen. */
export const stolenSchema = record('StolenObj', 'The theft that is going on. Interface 3.19.2 Status.stolen.', {
  createdAt,
  state: required(1, flag('The car counts as stolen. Interface 3.19.2 StolenBase.state.')),
  id: required(2, text('Names the record. Interface 3.19.2 StolenBase.id.', { maxLength: 64 })),
  startedAt: required(3, instant('Since when. Interface 3.19.2 StolenBase.startedAt.')),
  endAt: optional(4, instant('Until when. Interface 3.19.2 StolenBase.endAt.')),
  startPosition: optional(5, whole(positionSchema)),
  endPosition: optional(6, whole(positionSchema)),
});
