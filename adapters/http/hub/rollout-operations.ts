/** Roll-outs of configurations, under `/vigie/v1`. Access is that of the fleet side. */
import type { Operation } from '../../../protocol/interface/operation.ts';
import { rolloutCarStates } from '../../../protocol/interface/own/rollouts.ts';
import { query, reading } from './reading.ts';

const allPath = '/vigie/v1/rollouts';
const onePath = `${allPath}/{oid}`;
const description = 'The roll-out.';

const after = query('after', 'VIN of a car: those after it.', { type: 'string', minLength: 1, maxLength: 64 });
const state = query('state', 'Only cars in this state.', { type: 'string', enum: [...rolloutCarStates] });
const tolerate = query(
  'tolerate',
  'Cars that may return or refuse the configuration before the roll-out stops by itself.',
  { type: 'integer', minimum: 0, maximum: 1_000_000 },
);

const changing = { method: 'POST', errors: [400, 401, 403, 404, 406, 421, 429, 500, 507] } as const;

export const rolloutOperations: readonly Operation[] = [
  reading(
    'hub.rollouts.list',
    allPath,
    'Reads the roll-outs of configurations to the fleets of the caller, the newest first.',
    { description: 'Roll-outs with the number of cars by state.' },
  ),
  reading(
    'hub.rollouts.get',
    onePath,
    'Reads which cars of a roll-out have the configuration, reported it good, or went back; 200 cars at a time.',
    { parameters: [after, state], description },
  ),
  {
    ...reading('hub.rollouts.continue', `${onePath}/continue`, 'Has every car of the fleet get the configuration.', {
      parameters: [tolerate],
      description,
    }),
    ...changing,
  },
  {
    ...reading(
      'hub.rollouts.stop',
      `${onePath}/stop`,
      'Has no further car get the configuration; cars that have it keep it.',
      { description },
    ),
    ...changing,
  },
];
