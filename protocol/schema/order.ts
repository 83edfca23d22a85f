/** Bodies of the commands that are about the agent itself, not about the car. */
import { flag, optional, record, required, type Static, type TSchema } from './fields.ts';
import { monitorParameterSchema } from './monitor/parameter.ts';
import { monitorId, monitorStatus } from './monitor.ts';

/** Gives a monitor, pauses it or lets it watch again, or takes it away. */
export const monitorOrderSchema = record(
  'MonitorOrder',
  {
    monitorId: required(1, monitorId),
    monitor: optional(2, monitorParameterSchema),
    status: optional(3, monitorStatus),
    remove: optional(4, flag({ description: 'Take it away.' })),
  },
  { description: 'With `monitor`: watch it. Without: set its status, or remove it.' },
);
export type MonitorOrder = Static<typeof monitorOrderSchema>;

/** Bodies by kind of command. */
export const orderBodies = { Monitor: monitorOrderSchema } as const satisfies Record<string, TSchema>;
