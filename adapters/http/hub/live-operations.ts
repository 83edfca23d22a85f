/** Streams of what cars tell, under `/vigie/v1`. Access is that of the fleet side. */
import type { Operation, Parameter } from '../../../protocol/interface/operation.ts';
import { noScopes } from '../../../protocol/interface/operations/scopes.ts';
import { pathParameters } from '../../../protocol/interface/parameters/path.ts';
import { EVENT_STREAM } from '../media.ts';

const newest: Parameter = {
  name: 'Last-Event-ID',
  in: 'header',
  required: false,
  description: 'The newest event that the client has: the stream begins with those after it.',
  schema: { type: 'string', minLength: 1, maxLength: 16, pattern: '^[0-9]+$' },
};

const stream = (id: string, path: string, summary: string): Operation => ({
  id,
  side: 'fleet',
  method: 'GET',
  path,
  tag: 'Hub',
  summary,
  parameters: [...pathParameters(path), newest],
  answers: { 200: { description: 'Server-sent events, until the client ends the stream.', media: EVENT_STREAM } },
  errors: [400, 401, ...(path.includes('{') ? [404] : []), 406, 421, 429, 500],
  scopes: noScopes,
});

export const liveOperations: readonly Operation[] = [
  stream('hub.live.get', '/vigie/v1/live', 'Follows the events of all cars as any hub receives them.'),
  stream(
    'hub.car.live',
    '/vigie/v1/vehicles/{vin}/live',
    'Follows the values of Status and the events of a car as any hub receives them.',
  ),
];
