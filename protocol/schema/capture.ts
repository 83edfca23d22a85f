/** Captures: the raw frames of the buses around an event. */
import { count } from './count.ts';
import { bytes, enumeration, flag, instant, list, optional, record, required, type Static, text } from './fields.ts';
import { recordId } from './identity.ts';
import { monitorId } from './monitor.ts';

/** Cause of a capture. */
const captureCauses = ['collision', 'monitor', 'command'] as const;

/** Bounds of one part. */
export const captureBounds = {
  /** Maximum number of frames. */
  frames: 4_096,
  /** Maximum size in bytes of the compressed columns: the message then fits the limits of small brokers. */
  columns: 64_000,
} as const;

/** One part of a capture. Body of a `capture` message. */
export const captureSchema = record(
  'Capture',
  'Raw frames around a collision, an event of a monitor or a command, one part of them.',
  {
    id: required(1, recordId),
    part: required(2, count('Number of this part, from 0. The frames of a part come before those of the next.')),
    last: required(3, flag('No part comes after this one.')),
    cause: required(4, enumeration('What asked for the capture.', captureCauses)),
    of: required(
      5,
      text('Id of the collision or of the event of the monitor, or the name that the command gave.', {
        maxLength: 64,
        pattern: '^[0-9A-Za-z_-]+$',
      }),
    ),
    monitorId: optional(6, monitorId),
    at: required(7, instant('Time of the collision, event or command.')),
    from: required(8, instant('Begin of the time whose frames were asked for.')),
    to: required(9, instant('Its end.')),
    since: optional(10, instant('Frames before this time were no longer, or not yet, in memory. Absent: all were.')),
    lost: optional(11, count('Frames of the buses, wanted or not, that were overwritten before this part was made.')),
    buses: required(
      12,
      list('Buses by the number that the columns name them by.', text('Name of a bus in the profile of the car.'), {
        maxItems: 256,
      }),
    ),
    frames: required(13, count('Frames in this part.', { maximum: captureBounds.frames })),
    start: required(14, instant('Time that the columns count from.')),
    size: required(15, count('Bytes of the columns before compression.', { maximum: 1 << 20 })),
    columns: required(
      16,
      bytes('The frames, compressed by raw deflate (RFC 1951).', { coding: 'docs/wire-format.md, "Captures"' }),
    ),
    broken: optional(
      17,
      flag('With `last`: the agent ended before the time did. Frames that were still to come are missing.'),
    ),
  },
);
export type Capture = Static<typeof captureSchema>;
