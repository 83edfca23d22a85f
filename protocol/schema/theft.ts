import { enumeration, flag, instant, optional, record, required, type Static } from './fields.ts';
import { identity } from './identity.ts';
import { positionSchema } from './status/position.ts';

/** One theft: the period in which the car counts as stolen. Body of a `stolen` message. */
export const theftSchema = record('Stolen', 'A theft of the car. Interface 3.19.2 Stolen.', {
  ...identity,
  state: required(3, flag('The car still counts as stolen. Interface 3.19.2 StolenBase.state.')),
  startedAt: required(4, instant('Since when. Interface 3.19.2 StolenBase.startedAt.')),
  endAt: optional(5, instant('Until when. Interface 3.19.2 StolenBase.endAt.')),
  startPosition: optional(6, positionSchema),
  endPosition: optional(7, positionSchema),
  origin: optional(
    8,
    enumeration('Declared by command, or found by the car: alarm and movement without key. An addition.', [
      'Declared',
      'Alarm',
    ]),
  ),
});
export type Theft = Static<typeof theftSchema>;
