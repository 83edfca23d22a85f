/** Operations under `/vigie/v1` that the page of a hub uses. */
import type { Operation } from '../../protocol/interface/operation.ts';
import { ages, sortKeys } from '../../protocol/interface/own/hub-overview.ts';
import { query, reading } from './reading.ts';

/** Largest number of rows in one page of the table. */
const MOST_ROWS = 200;

export const overviewOperations: readonly Operation[] = [
  reading(
    'hub.vehicles.list',
    '/vigie/v1/vehicles',
    'Reads all cars as a table, sorted, searched and cut into pages.',
    {
      parameters: [
        query('search', 'Part of the VIN.', { type: 'string', minLength: 0, maxLength: 64 }),
        query('age', 'Only cars whose newest message has this age.', { type: 'string', enum: ages }),
        query('sort', 'Member to sort by; with `-` in front the highest comes first.', {
          type: 'string',
          enum: sortKeys.flatMap((key) => [key, `-${key}`]),
        }),
        query('first', 'Place of the first row, from 0.', { type: 'integer', minimum: 0, maximum: 1_000_000_000 }),
        query('pageSize', `Rows, 1 to ${MOST_ROWS}.`, { type: 'integer', minimum: 1, maximum: MOST_ROWS }),
      ],
    },
  ),
  reading('hub.positions.list', '/vigie/v1/positions', 'Reads where the cars were last.', {
    parameters: [
      query('since', 'Only cars heard since then, UTC ms of the hub.', {
        type: 'integer',
        minimum: 0,
        maximum: Number.MAX_SAFE_INTEGER,
      }),
    ],
  }),
  reading('hub.events.list', '/vigie/v1/events', 'Reads what cars reported last, the newest first.', {
    parameters: [query('vin', 'Only of this car.', { type: 'string', minLength: 1, maxLength: 64 })],
  }),
  reading('hub.orders.list', '/vigie/v1/orders', 'Reads which commands one word asks for, and what to send for each.'),
  reading('hub.car.get', '/vigie/v1/vehicles/{vin}/car', 'Reads which values Status can have, with their units.'),
  reading('hub.pushKey.get', '/vigie/v1/push-key', 'Reads the key that browsers subscribe to push notifications with.'),
  reading(
    'hub.values.get',
    '/vigie/v1/vehicles/{vin}/values',
    'Reads the values of Status that a car sent, and asks the car to send new ones within two seconds.',
  ),
];
