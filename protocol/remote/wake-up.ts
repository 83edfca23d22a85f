import { extended, string } from '../interface/schemas/json.ts';
import { optional, record, text } from '../schema/fields.ts';
import { remoteKind } from './kind.ts';

/** Wakes the car, as every command does before it is sent, and does nothing else. */
export const wakeUp = remoteKind({
  type: 'WakeUp',
  wire: 7,
  body: record('RemoteWakeUp', 'Wakes the car, so that it tells its present state. Interface 3.19.2 RemoteWakeUp.', {
    action: optional(
      1,
      text('Always WakeUp, also when absent. Interface 3.19.2 RemoteWakeUp.action.', { maxLength: 32 }),
    ),
  }),
  fault: ({ action }) =>
    action === undefined || action === 'WakeUp' ? undefined : `action must be WakeUp, is ${action}`,
  // Frames that wake a bus. They are sent before any command; no command requests them.
  actions: { 'wakeUp.wake': { framesOnly: 'control units that sleep answer no diagnostics' } },
  asks: () => [],
  whileStolen: true,
  whilePrivate: true,
  member: 'wakeUp',
  // A signed command is a wake-up by its kind; over HTTP, an empty object is more likely a mistake.
  http: (schema) => {
    const action = string('What is asked for. Interface 3.19.2 RemoteWakeUp.action.', { enum: ['WakeUp'] });
    return extended(schema, schema.title ?? '', { action }, ['action']);
  },
  scope: { name: 'wakeup', description: 'Wake the vehicles.' },
  capability: { actions: [] },
  example: { summary: 'Wake the vehicle', body: { action: 'WakeUp' } },
  words: { verb: 'wakeup', usage: 'wakeup', bodies: {}, alone: {} },
});
