/** Monitors: rules that the car evaluates by itself (docs/monitors.md). */
import { count } from './count.ts';
import { enumeration, instant, list, optional, record, required, type Static, text } from './fields.ts';
import { monitorParameterSchema } from './monitor/parameter.ts';

export { type CompiledMonitor, compileMonitor } from './monitor/compile.ts';
export type { MonitorParameter } from './monitor/parameter.ts';

/** Maximum number of monitors of a car. */
export const MONITORS = 2_000;

export const monitorIdPattern = '^[0-9a-zA-Z_-]{1,64}$';

export const monitorId = text('Names the monitor. Interface 3.19.2 MonitorId.', {
  maxLength: 64,
  pattern: monitorIdPattern,
});

/** Interface 3.19.2 MonitorStatusSetter: statuses that a client may set; it lists `Failed`, which is never set. */
export const monitorStatuses = ['Running', 'Paused'] as const;
export type MonitorStatus = (typeof monitorStatuses)[number];

export const monitorStatus = enumeration('Whether it watches. Interface 3.19.2 MonitorStatus.', monitorStatuses);

export const monitorRevision = text(
  'Chosen by the sender for this form of the monitor; absent: the sender wants no report of it. An addition.',
  { maxLength: 32 },
);

/** A monitor as it is stored, and as commands contain it. */
export const monitorSchema = record('Monitor', 'A rule that the car watches. Interface 3.19.2 Monitor.', {
  createdAt: required(0, instant('When it was given. Interface 3.19.2 Monitor.createdAt.')),
  monitorId: required(1, monitorId),
  updatedAt: required(2, instant('When it was last changed. Interface 3.19.2 Monitor.updatedAt.')),
  status: required(3, monitorStatus),
  monitor: required(4, monitorParameterSchema),
  revision: optional(5, monitorRevision),
});
export type Monitor = Static<typeof monitorSchema>;

/** Body of a `monitor` message: the monitors of the car. */
export const monitorListSchema = record('MonitorList', 'The monitors of the car.', {
  version: required(1, count('Number of changes of the list: a list with a lower number is older.')),
  monitors: required(
    2,
    list(
      'All of them, in the order in which they were given.',
      record('MonitorEntry', 'One monitor.', {
        monitorId: required(1, monitorId),
        status: required(2, monitorStatus),
        updatedAt: required(3, instant('When it was last changed.')),
        revision: optional(4, monitorRevision),
      }),
      { maxItems: MONITORS },
    ),
  ),
});
export type MonitorList = Static<typeof monitorListSchema>;
