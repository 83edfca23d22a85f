/** What a hub answers beside the interface, under `/vigie/v1`. Access is that of the fleet side. */
import type { Operation, Parameter } from '../../../protocol/interface/operation.ts';
import { JSON_MEDIA } from '../../../protocol/interface/operations/making.ts';
import { noScopes } from '../../../protocol/interface/operations/scopes.ts';
import { pathParameters } from '../../../protocol/interface/parameters/path.ts';
import { idempotencyKey } from '../../../protocol/interface/parameters/query.ts';
import { requestBody } from '../../../protocol/interface/schemas/requests.ts';
import { diagnosticsOperations } from './diagnostics.ts';
import { liveOperations } from './live-operations.ts';
import { overviewOperations } from './overview-operations.ts';
import { rolloutOperations } from './rollout-operations.ts';

const numbersPath = '/vigie/v1/vehicles/{vin}/numbers';
const resendPath = '/vigie/v1/vehicles/{vin}/resend';
const monitorsPath = '/vigie/v1/vehicles/{vin}/monitors';
const remotesPath = '/vigie/v1/vehicles/{vin}/remotes';
const remotePath = `${remotesPath}/{rid}`;

const before: Parameter = {
  name: 'before',
  in: 'query',
  required: false,
  description: 'Id of a command: those before it.',
  schema: { type: 'string', minLength: 1, maxLength: 64 },
};

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
  {
    id: 'hub.resend.create',
    side: 'fleet',
    method: 'POST',
    path: resendPath,
    tag: 'Hub',
    summary: 'Asks the car now to send the messages again that are missing, with one command for each priority class.',
    parameters: pathParameters(resendPath),
    answers: { 202: { description: 'The commands; none when nothing is missing.', media: JSON_MEDIA } },
    errors: [400, 401, 404, 406, 421, 429, 500, 507],
    scopes: noScopes,
  },
  {
    id: 'hub.monitors.list',
    side: 'fleet',
    method: 'GET',
    path: monitorsPath,
    tag: 'Hub',
    summary: 'Reads which monitors a car should have, and which it has reported.',
    parameters: pathParameters(monitorsPath),
    answers: { 200: { description: 'Monitors, each with its state.', media: JSON_MEDIA } },
    errors: [400, 401, 404, 406, 421, 429, 500],
    scopes: noScopes,
  },
  {
    id: 'hub.remotes.create',
    side: 'fleet',
    method: 'POST',
    path: remotesPath,
    tag: 'Hub',
    summary: 'Sends a command to the car, signed with the key of the hub, and keeps it in the audit trail.',
    parameters: [...pathParameters(remotesPath), idempotencyKey],
    get body() {
      return requestBody('fleetRemote');
    },
    bodyName: 'fleetRemote',
    answers: { 202: { description: 'Kept, and sent.', media: JSON_MEDIA } },
    errors: [400, 401, 403, 404, 406, 413, 415, 421, 429, 500, 507],
    scopes: noScopes,
  },
  {
    id: 'hub.remotes.list',
    side: 'fleet',
    method: 'GET',
    path: remotesPath,
    tag: 'Hub',
    summary: 'Reads the audit trail of the commands to a car, the newest first, 100 at a time.',
    parameters: [...pathParameters(remotesPath), before],
    answers: { 200: { description: 'Commands.', media: JSON_MEDIA } },
    errors: [400, 401, 404, 406, 421, 429, 500],
    scopes: noScopes,
  },
  {
    id: 'hub.remotes.get',
    side: 'fleet',
    method: 'GET',
    path: remotePath,
    tag: 'Hub',
    summary: 'Reads who gave a command, when, and every state that the car reported.',
    parameters: pathParameters(remotePath),
    answers: { 200: { description: 'The command.', media: JSON_MEDIA } },
    errors: [400, 401, 404, 406, 421, 429, 500],
    scopes: noScopes,
  },
  ...diagnosticsOperations,
  ...liveOperations,
  ...overviewOperations,
  ...rolloutOperations,
];
