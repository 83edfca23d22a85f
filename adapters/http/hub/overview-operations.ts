/** What the page of a hub reads, under `/vigie/v1`. Access is that of the fleet side. */
import type { Operation, Parameter } from '../../../protocol/interface/operation.ts';
import { JSON_MEDIA } from '../../../protocol/interface/operations/making.ts';
import { noScopes } from '../../../protocol/interface/operations/scopes.ts';
import { ages, sortKeys } from '../../../protocol/interface/own/hub-overview.ts';
import { pathParameters } from '../../../protocol/interface/parameters/path.ts';

/** Rows of one page of the table at most. */
const MOST_ROWS = 200;

const query = (name: string, description: string, schema: object): Parameter => ({
  name,
  in: 'query',
  required: false,
  description,
  schema,
});

const read = (id: string, path: string, summary: string, parameters: readonly Parameter[] = []): Operation => ({
  id,
  side: 'fleet',
  method: 'GET',
  path,
  tag: 'Hub',
  summary,
  parameters: [...pathParameters(path), ...parameters],
  answers: { 200: { description: 'Requested data.', media: JSON_MEDIA } },
  errors: [400, 401, ...(path.includes('{') ? [404] : []), 406, 421, 429, 500],
  scopes: noScopes,
});

export const overviewOperations: readonly Operation[] = [
  read('hub.vehicles.list', '/vigie/v1/vehicles', 'Reads all cars as a table, sorted, searched and cut into pages.', [
    query('search', 'Part of the VIN.', { type: 'string', minLength: 0, maxLength: 64 }),
    query('age', 'Only cars whose newest message has this age.', { type: 'string', enum: ages }),
    query('sort', 'Member to sort by; with `-` in front the highest comes first.', {
      type: 'string',
      enum: sortKeys.flatMap((key) => [key, `-${key}`]),
    }),
    query('first', 'Place of the first row, from 0.', { type: 'integer', minimum: 0, maximum: 1_000_000_000 }),
    query('pageSize', `Rows, 1 to ${MOST_ROWS}.`, { type: 'integer', minimum: 1, maximum: MOST_ROWS }),
  ]),
  read('hub.positions.list', '/vigie/v1/positions', 'Reads where the cars were last.', [
    query('since', 'Only cars heard since then, UTC ms of the hub.', {
      type: 'integer',
      minimum: 0,
      maximum: Number.MAX_SAFE_INTEGER,
    }),
  ]),
  read('hub.events.list', '/vigie/v1/events', 'Reads what cars reported last, the newest first.', [
    query('vin', 'Only of this car.', { type: 'string', minLength: 1, maxLength: 64 }),
  ]),
  read('hub.orders.list', '/vigie/v1/orders', 'Reads which commands one word asks for, and what to send for each.'),
  read('hub.car.get', '/vigie/v1/vehicles/{vin}/car', 'Reads which values Status can have, with their units.'),
  read(
    'hub.values.get',
    '/vigie/v1/vehicles/{vin}/values',
    'Reads the values of Status that a car sent, and asks the car to send new ones within two seconds.',
  ),
];
