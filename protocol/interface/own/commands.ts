/** Content of `/vigie/v1/commands`: available commands of the car, and the outcomes of past commands. */
import type { Static } from 'typebox';
import * as Type from 'typebox';
import { type FailureCause, failureCauses } from '../../errors.ts';
import { type RemoteType, remoteTypes } from '../../remote/table.ts';
import { type CommandKind, commandKinds, type RemoteStatus, remoteStatuses } from '../../schema/remote.ts';

const body = Type.Unsafe<Readonly<Record<string, unknown>>>({
  type: 'object',
  description: 'Body of the command, as that of a signed command of this kind.',
});

export const interlockReportSchema = Type.Object({
  demand: Type.String({ description: 'What must be so.' }),
  shown: Type.String({ description: 'What the car shows now.' }),
  holds: Type.Boolean(),
});

export const orderReportSchema = Type.Object({
  name: Type.String({ description: 'Word for the order, such as `lock`.' }),
  body,
  actions: Type.Array(Type.String(), { description: 'Actions of the profile that it comes to.' }),
  confirmedBy: Type.Optional(Type.String({ description: 'Path of Status that shows the effect.' })),
  already: Type.Boolean({ description: 'The car shows the effect already.' }),
  interlocks: Type.Array(interlockReportSchema, {
    description: 'What must be so before the car does it. One that does not hold refuses.',
  }),
});

export const kindReportSchema = Type.Object({
  type: Type.Unsafe<RemoteType>({ type: 'string', enum: remoteTypes }),
  needs: Type.Optional(Type.String({ description: 'Scope that the caller lacks for it.' })),
  orders: Type.Array(orderReportSchema),
});

/** Event `commands`. */
export const commandsReportSchema = Type.Object({
  kinds: Type.Array(kindReportSchema, { description: 'What the car can be asked.' }),
});

const commandStateSchema = Type.Object({
  status: Type.Unsafe<RemoteStatus>({ type: 'string', enum: remoteStatuses }),
  at: Type.Number({ description: 'UTC ms.' }),
  failureCause: Type.Optional(Type.Unsafe<FailureCause>({ type: 'string', enum: failureCauses })),
  detail: Type.Optional(Type.String({ description: 'Why, for people.' })),
});

/** Event `history`. */
export const commandHistorySchema = Type.Array(
  Type.Object({
    remoteActionId: Type.String(),
    type: Type.Unsafe<CommandKind>({ type: 'string', enum: commandKinds }),
    order: Type.Optional(
      Type.String({ description: 'Word for what was commanded, such as `lock`; absent: it needs more.' }),
    ),
    origin: Type.Optional(
      Type.Union([Type.Literal('page'), Type.Literal('interface'), Type.Literal('broker')], {
        description: 'Where it came from: this address, the published interface of the car, or the broker.',
      }),
    ),
    by: Type.Optional(
      Type.String({
        description: 'Who gave it: the caller at this address, otherwise the name of the key that signed it.',
      }),
    ),
    states: Type.Array(commandStateSchema, { description: 'Oldest first.' }),
  }),
  { description: 'The newest commands of all callers since a client began to follow, newest first.' },
);

export const commandRequestSchema = Type.Object({
  type: Type.Unsafe<RemoteType>({ type: 'string', enum: remoteTypes }),
  body,
});

export type InterlockReport = Static<typeof interlockReportSchema>;
export type OrderReport = Static<typeof orderReportSchema>;
export type KindReport = Static<typeof kindReportSchema>;
export type CommandsReport = Static<typeof commandsReportSchema>;
export type CommandHistory = Static<typeof commandHistorySchema>;
export type CommandRequest = Static<typeof commandRequestSchema>;
