/** Operations of a hub in addition to the interface, under `/vigie/v1`. */
import type { Operation } from '../../protocol/interface/operation.ts';
import { JSON_MEDIA } from '../../protocol/interface/operations/making.ts';
import { idempotencyKey } from '../../protocol/interface/parameters/query.ts';
import { requestBody } from '../../protocol/interface/schemas/requests.ts';
import { diagnosticsOperations } from './diagnostics.ts';
import { exitOperations } from './exits.ts';
import { liveOperations } from './live-operations.ts';
import { messageOperations } from './messages.ts';
import { overviewOperations } from './overview-operations.ts';
import { query, reading, writing } from './reading.ts';
import { rolloutOperations } from './rollout-operations.ts';
import { signalOperations } from './signals.ts';
import { statusOperations } from './status.ts';
import { tripClassOperations } from './trip-classes.ts';

const vehiclePath = '/vigie/v1/vehicles/{vin}';
const remotesPath = `${vehiclePath}/remotes`;

export const hubOperations: readonly Operation[] = [
  reading(
    'hub.numbers.get',
    `${vehiclePath}/numbers`,
    'Reads which message numbers of a car arrived, which the car gave up, and which are missing.',
    { description: 'By priority class.' },
  ),
  writing('hub.resend.create', `${vehiclePath}/resend`, {
    summary: 'Asks the car now to send the messages again that are missing, with one command for each priority class.',
    answers: { 202: { description: 'The commands; none when nothing is missing.', media: JSON_MEDIA } },
  }),
  reading(
    'hub.monitors.list',
    `${vehiclePath}/monitors`,
    'Reads which monitors a car should have, and which it has reported.',
    { description: 'Monitors, each with its state.' },
  ),
  {
    ...writing('hub.remotes.create', remotesPath, {
      summary: 'Sends a command to the car, signed with the key of the hub, and keeps it in the audit trail.',
      parameters: [idempotencyKey],
      answers: { 202: { description: 'Kept, and sent.', media: JSON_MEDIA } },
    }),
    get body() {
      return requestBody('fleetRemote');
    },
    bodyName: 'fleetRemote',
    errors: [400, 401, 403, 404, 406, 413, 415, 421, 429, 500, 503, 507],
  },
  reading(
    'hub.remotes.list',
    remotesPath,
    'Reads the audit trail of the commands to a car, the newest first, 100 at a time.',
    {
      parameters: [
        query('before', 'Id of a command: those before it.', { type: 'string', minLength: 1, maxLength: 64 }),
      ],
      description: 'Commands.',
    },
  ),
  reading(
    'hub.remotes.get',
    `${remotesPath}/{rid}`,
    'Reads who gave a command, when, and every state that the car reported.',
    { description: 'The command.' },
  ),
  ...diagnosticsOperations,
  ...signalOperations,
  ...messageOperations,
  ...liveOperations,
  ...overviewOperations,
  ...rolloutOperations,
  ...statusOperations,
  ...exitOperations,
  ...tripClassOperations,
];
