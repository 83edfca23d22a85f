/** Fault codes for OpenAPI. Only a car with fault codes in its configuration has this path (docs/records.md). */
import { faultSchema } from '../../schema/fault.ts';
import { derived } from '../schemas/derive.ts';
import { array, boolean, object } from '../schemas/json.ts';
import { answered, type OwnPathParts, queryParameter } from './signal-paths.ts';

const { title: _, ...fault } = derived(faultSchema);
const { title: __, ...answer } = object('FaultList', 'Fault codes.', ['faults', 'more'], {
  faults: array(fault, 'The newest first.'),
  more: boolean('There are further records.'),
});

export const faultPaths = ({ tag, refusals, refused }: OwnPathParts) => ({
  '/vigie/v1/faults': {
    get: {
      operationId: 'faultsGet',
      tags: [tag],
      summary: 'Reads the fault codes of the car.',
      description:
        'Fault codes that control units report or have reported, the newest first, each with its first and last moment. ' +
        'Users need `data:telemetry`.',
      parameters: [
        queryParameter('active', 'Only codes that are still reported, or only others.', { type: 'boolean' }),
        queryParameter('limit', 'Most records.', { type: 'integer', minimum: 1, maximum: 1_000, default: 1_000 }),
      ],
      responses: {
        200: answered('The fault codes.', answer),
        400: refused('A parameter has a wrong form.'),
        ...refusals,
        404: refused('The car does not read fault codes.'),
      },
    },
  },
});
