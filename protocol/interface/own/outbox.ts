/** What `/vigie/v1/outbox` says: the messages that the broker has not acknowledged yet, by class. */
import type { Static } from 'typebox';
import * as Type from 'typebox';

export const outboxClassSchema = Type.Object({
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

/** The event `outbox`. */
export const outboxReportSchema = Type.Object({
  classes: Type.Array(outboxClassSchema, { description: 'The highest priority first.' }),
});

/** The event `bench`: what a person can unplug there, and let the simulated car do. Absent in a car. */
export const benchReportSchema = Type.Object({
  broker: Type.Optional(Type.Boolean({ description: 'The broker of the bench runs; absent: it uses another one.' })),
  car: Type.Optional(Type.Boolean({ description: 'The frames of the simulated car reach its unit.' })),
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
export type BenchReportEvent = Static<typeof benchReportSchema>;
