/** What a hub answers beside the interface, under `/vigie/v1`. Access is that of the fleet side. */
import type { Operation } from '../../../protocol/interface/operation.ts';
import { JSON_MEDIA } from '../../../protocol/interface/operations/making.ts';
import { noScopes } from '../../../protocol/interface/operations/scopes.ts';
import { pathParameters } from '../../../protocol/interface/parameters/path.ts';

const numbersPath = '/vigie/v1/vehicles/{vin}/numbers';

export const hubOperations: readonly Operation[] = [
  {
    id: 'hub.numbers.get',
    side: 'fleet',
    method: 'GET',
    path: numbersPath,
    tag: 'Hub',
    summary: 'Reads which message numbers of a car arrived, which the car gave up, and which are missing.',
    parameters: pathParameters(numbersPath),
    answers: { 200: { description: 'By priority class.', media: JSON_MEDIA } },
    errors: [400, 401, 404, 406, 421, 429, 500],
    scopes: noScopes,
  },
];
