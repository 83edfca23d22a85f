/** Content of `/vigie/v1/outbox`: messages that the broker has not acknowledged yet, by class. */
import type { Static } from 'typebox';
import * as Type from 'typebox';

const outboxClassSchema = Type.Object({
  name: Type.String(),
  kinds: Type.Array(Type.String(), { description: 'Kinds of message in this class.' }),
  made: Type.Integer({ description: 'Sequence numbers given out so far; the next message gets this number.' }),
  acknowledged: Type.Integer({ description: 'All numbers below this one are acknowledged or accounted for.' }),
  waiting: Type.Integer({ description: 'Messages that the broker has not acknowledged.' }),
  bytes: Type.Integer({ description: 'Their payload.' }),
  missing: Type.Integer({
    description: 'Numbers whose message will never come, and which no gap message has told a receiver yet.',
  }),
});

/** Event `outbox`. */
export const outboxReportSchema = Type.Object({
  classes: Type.Array(outboxClassSchema, { description: 'The highest priority first.' }),
});

/** Counts of the receiver. */
const receivedReportSchema = Type.Object(
  {
    classes: Type.Array(
      Type.Object({
        name: Type.String(),
        kinds: Type.Array(Type.String()),
        arrived: Type.Integer({ description: 'Messages that came, each counted once.' }),
        again: Type.Integer({ description: 'Messages that came once more: what is not acknowledged is sent again.' }),
        below: Type.Integer({ description: 'The number after the highest that came.' }),
        missing: Type.Integer({ description: 'Lower numbers that did not come, without those that the car gave up.' }),
      }),
      { description: 'The highest priority first.' },
    ),
  },
  { description: 'What the broker of the bench has received since the agent has a process of its own.' },
);

/** Event `bench`: connections that a person can unplug, and actions of the simulated car. Absent in a real car. */
export const benchReportSchema = Type.Object({
  broker: Type.Optional(Type.Boolean({ description: 'The broker of the bench runs; absent: it uses another one.' })),
  car: Type.Optional(Type.Boolean({ description: 'The frames of the simulated car reach its unit.' })),
  process: Type.Optional(
    Type.Union([Type.Literal('within'), Type.Literal('starts'), Type.Literal('runs'), Type.Literal('ended')], {
      description:
        'The agent runs within the process of the bench; its own process starts, runs, or has ended, as by being killed.',
    }),
  ),
  pid: Type.Optional(Type.Integer({ description: 'Number of that process.' })),
  received: Type.Optional(receivedReportSchema),
  scenes: Type.Optional(Type.Array(Type.String(), { description: 'What the simulated car can do at once.' })),
  scene: Type.Optional(Type.String({ description: 'What it does; absent: its scenario.' })),
  published: Type.Optional(
    Type.Object(
      {
        bytes: Type.Integer({ description: 'Their payloads.' }),
        json: Type.Integer({ description: 'The same messages as JSON in UTF-8, without spaces.' }),
      },
      { description: 'All messages that the broker has acknowledged since the bench began, except captures.' },
    ),
  ),
});

export type OutboxReport = Static<typeof outboxReportSchema>;
export type ReceivedReport = Static<typeof receivedReportSchema>;
export type BenchReportEvent = Static<typeof benchReportSchema>;
