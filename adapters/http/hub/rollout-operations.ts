/** Roll-outs of configurations, under `/vigie/v1`. Access is that of the fleet side. */
import type { Operation, Parameter } from '../../../protocol/interface/operation.ts';
import { JSON_MEDIA } from '../../../protocol/interface/operations/making.ts';
import { noScopes } from '../../../protocol/interface/operations/scopes.ts';
import { rolloutCarStates } from '../../../protocol/interface/own/rollouts.ts';
import { pathParameters } from '../../../protocol/interface/parameters/path.ts';

const allPath = '/vigie/v1/rollouts';
const onePath = `${allPath}/{oid}`;

const after: Parameter = {
  name: 'after',
  in: 'query',
  required: false,
  description: 'VIN of a car: those after it.',
  schema: { type: 'string', minLength: 1, maxLength: 64 },
};
const state: Parameter = {
  name: 'state',
  in: 'query',
  required: false,
  description: 'Only cars in this state.',
  schema: { type: 'string', enum: [...rolloutCarStates] },
};
const tolerate: Parameter = {
  name: 'tolerate',
  in: 'query',
  required: false,
  description: 'Cars that may return or refuse the configuration before the roll-out stops by itself.',
  schema: { type: 'integer', minimum: 0, maximum: 1_000_000 },
};

const shared = { side: 'fleet', tag: 'Hub', scopes: noScopes } as const;
const answers = { 200: { description: 'The roll-out.', media: JSON_MEDIA } };

export const rolloutOperations: readonly Operation[] = [
  {
    ...shared,
    id: 'hub.rollouts.list',
    method: 'GET',
    path: allPath,
    summary: 'Reads the roll-outs of configurations to the fleets of the caller, the newest first.',
    parameters: [],
    answers: { 200: { description: 'Roll-outs with the number of cars by state.', media: JSON_MEDIA } },
    errors: [400, 401, 406, 421, 429, 500],
  },
  {
    ...shared,
    id: 'hub.rollouts.get',
    method: 'GET',
    path: onePath,
    summary:
      'Reads which cars of a roll-out have the configuration, reported it good, or went back; 200 cars at a time.',
    parameters: [...pathParameters(onePath), after, state],
    answers,
    errors: [400, 401, 404, 406, 421, 429, 500],
  },
  {
    ...shared,
    id: 'hub.rollouts.continue',
    method: 'POST',
    path: `${onePath}/continue`,
    summary: 'Has every car of the fleet get the configuration.',
    parameters: [...pathParameters(onePath), tolerate],
    answers,
    errors: [400, 401, 403, 404, 406, 421, 429, 500, 507],
  },
  {
    ...shared,
    id: 'hub.rollouts.stop',
    method: 'POST',
    path: `${onePath}/stop`,
    summary: 'Has no further car get the configuration; cars that have it keep it.',
    parameters: pathParameters(onePath),
    answers,
    errors: [400, 401, 403, 404, 406, 421, 429, 500, 507],
  },
];
