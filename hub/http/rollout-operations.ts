/** Roll-outs of configurations, under `/vigie/v1`. */
import type { Operation } from '../../protocol/interface/operation.ts';
import { JSON_MEDIA } from '../../protocol/interface/operations/making.ts';
import { rolloutCarStates } from '../../protocol/interface/own/rollouts.ts';
import { query, reading, writing } from './reading.ts';

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

const answers = { 200: { description, media: JSON_MEDIA } };

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
  writing('hub.rollouts.continue', `${onePath}/continue`, {
    summary: 'Has every car of the fleet get the configuration.',
    parameters: [tolerate],
    answers,
  }),
  writing('hub.rollouts.stop', `${onePath}/stop`, {
    summary: 'Has no further car get the configuration; cars that have it keep it.',
    answers,
  }),
];
