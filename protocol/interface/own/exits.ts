/** Content of `/vigie/v1/exits`: other programs that get the values and records of a car, or of the cars of a hub. */
import type { Static } from 'typebox';
import * as Type from 'typebox';
import { answered, type OwnPathParts } from './signal-paths.ts';

const oneOf = <T extends string>(...names: readonly T[]) => Type.Unsafe<T>({ type: 'string', enum: [...names] });

const exitReportSchema = Type.Object({
  name: Type.String({ description: 'Unique among the exits.' }),
  kind: oneOf('topics', 'influx', 'abrp'),
  state: Type.Unsafe<'running' | 'waiting' | 'off'>({
    type: 'string',
    enum: ['running', 'waiting', 'off'],
    description:
      'waiting: the receiver takes nothing now; off: its scopes, or a missing folder of records, leave nothing to send.',
  }),
  waiting: Type.Integer({ description: 'Items that the receiver has not confirmed; an upper bound.' }),
  lost: Type.Integer({ description: 'Items that were deleted before the receiver got them.' }),
  refused: Type.Integer({ description: 'Items that the receiver refused for good.' }),
  error: Type.Optional(Type.String({ description: 'Reason of the last failure, if it has not ended.' })),
  succeededAt: Type.Optional(Type.Number({ description: 'Last time that the receiver confirmed something. UTC ms.' })),
});

export const exitsReportSchema = Type.Object({ exits: Type.Array(exitReportSchema) });

export const exitTestSchema = Type.Object({
  succeeded: Type.Boolean(),
  ms: Type.Integer({ description: 'Time until the receiver answered, or until the failure.' }),
  reason: Type.Optional(Type.String({ description: 'Reason of the failure.' })),
});

export type ExitReport = Static<typeof exitReportSchema>;
export type ExitsReport = Static<typeof exitsReportSchema>;
export type ExitTest = Static<typeof exitTestSchema>;

export const exitPaths = ({ tag, refusals, refused }: OwnPathParts) => ({
  '/vigie/v1/exits': {
    get: {
      operationId: 'vigieExitsGet',
      tags: [tag],
      summary: 'Reads the state of the exits to other programs.',
      description: 'Answers the exits of the configuration, such as plain topics and InfluxDB; none without `exits`.',
      responses: { 200: answered('The exits.', exitsReportSchema), ...refusals },
    },
  },
  '/vigie/v1/exits/{name}/test': {
    post: {
      operationId: 'vigieExitsTest',
      tags: [tag],
      summary: 'Tries the receiver of an exit now.',
      description:
        'Sends a message that changes nothing: a time on the topic `test`, a comment to InfluxDB, the present values to A Better ' +
        'Routeplanner. Answers within 35 s. A user needs `exits:test`.',
      parameters: [{ name: 'name', in: 'path', required: true, schema: { type: 'string' } }],
      responses: {
        200: answered('What the receiver answered.', exitTestSchema),
        ...refusals,
        404: refused('There is no such exit.'),
      },
    },
  },
});
