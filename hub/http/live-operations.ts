/** Streams of events and of changed values of cars, under `/vigie/v1`. */

import { EVENT_STREAM } from '../../adapters/http/media.ts';
import type { Operation, Parameter } from '../../protocol/interface/operation.ts';
import { reading } from './reading.ts';

const newest: Parameter = {
  name: 'Last-Event-ID',
  in: 'header',
  required: false,
  description: 'The newest event that the client has: the stream begins with those after it.',
  schema: { type: 'string', minLength: 1, maxLength: 16, pattern: '^[0-9]+$' },
};

const stream = (id: string, path: string, summary: string): Operation =>
  reading(id, path, summary, {
    parameters: [newest],
    media: EVENT_STREAM,
    description: 'Server-sent events, until the client ends the stream.',
  });

export const liveOperations: readonly Operation[] = [
  stream('hub.live.get', '/vigie/v1/live', 'Follows the events of all cars as any hub receives them.'),
  stream(
    'hub.car.live',
    '/vigie/v1/vehicles/{vin}/live',
    'Follows the values of Status and the events of a car as any hub receives them.',
  ),
];
