import { optional, record, type Static, text } from '../fields.ts';

/** Body of a command that only wakes the car. */
export const wakeUpSchema = record(
  'RemoteWakeUp',
  {
    action: optional(
      1,
      text({ maxLength: 32, description: 'Always WakeUp, also when absent. Interface 3.19.2 RemoteWakeUp.action.' }),
    ),
  },
  { description: 'Wakes the car, so that it tells its present state. Interface 3.19.2 RemoteWakeUp.' },
);
export type RemoteWakeUp = Static<typeof wakeUpSchema>;
