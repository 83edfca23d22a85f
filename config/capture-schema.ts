/** Schema of the `captures` section of a profile: raw frames around events. */
import type { Static } from 'typebox';
import * as Type from 'typebox';
import { monitorIdPattern } from '../protocol/schema/monitor.ts';
import { closed, duration, keyed, line, listOf, NAME } from './fields.ts';

const LONGEST_29 = 0x1fff_ffff;

const identifiers = (description: string) =>
  listOf(
    Type.Unsafe<number>({
      type: 'integer',
      minimum: 0,
      maximum: LONGEST_29,
      description: 'CAN identifier; above 0x7FF it has 29 bits',
      'x-expected': 'a whole number such as 0x1A0',
    }),
    1,
    description,
  );

const members = {
  before: Type.Optional(duration('Time of frames before the event')),
  after: Type.Optional(duration('Time of frames after it')),
  buses: Type.Optional(
    listOf(
      line('Bus of the profile', { pattern: NAME, expected: 'the name of a bus of the profile' }),
      1,
      'Buses whose frames are kept; default: all',
    ),
  ),
  identifiers: Type.Optional(identifiers('Identifiers whose frames are kept; default: all')),
};

const capture = closed('Raw frames that are kept of an event', members);

export const capturesSchema = Type.Optional(
  closed('Raw frames that are kept around events', {
    collision: Type.Optional(capture),
    command: Type.Optional(capture),
    monitors: Type.Optional(
      keyed(monitorIdPattern, capture, 'By monitor: when it fires', 'a monitorId: 1 to 64 letters, digits, - and _'),
    ),
    positionFree: Type.Optional(
      keyed(
        NAME,
        identifiers('Identifiers whose frames never say where the car is'),
        'By bus: the only frames that are kept while the car asks for privacy',
        'the name of a bus of the profile',
      ),
    ),
  }),
);

export type CaptureInput = Static<typeof capture>;
export type CapturesInput = NonNullable<Static<typeof capturesSchema>>;
