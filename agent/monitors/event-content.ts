/** Contents of an event: values, extensions, and the changes around it. */
import type { Alert } from '../../protocol/schema/alert.ts';
import type { EventExtension, EventValue } from '../../protocol/schema/event.ts';
import { codedData, type TriggerData } from '../../protocol/schema/monitor/data.ts';
import { TRUE } from '../../protocol/schema/monitor/expression.ts';
import { type Extension, type ExtensionType, telemetrySections } from '../../protocol/schema/monitor/extensions.ts';
import type { StatusContents } from '../../protocol/schema/status.ts';
import type { StatusReader } from '../model/status.ts';
import type { OpenTripReader } from '../recorders/recorder.ts';
import type { Facts } from './facts.ts';
import type { RunningMonitor, RunningTrigger, SourceValue } from './running.ts';
import { literal, type Sources } from './sources.ts';

interface EventContentParts {
  readonly status: StatusReader;
  readonly sources: Sources;
  readonly facts: Facts;
  readonly trips: OpenTripReader;
  /** UTC ms */
  readonly now: number;
}

/** The step that causes the event. */
interface StepContext {
  readonly values: ReadonlyMap<TriggerData, SourceValue>;
  /** The alert that has just ended. */
  readonly ended: Alert | undefined;
}

/** Returns the names of the triggers that are true. */
export function triggersOf(monitor: RunningMonitor): string[] {
  return monitor.triggers.filter(({ truth }) => truth === TRUE).map(({ compiled }) => compiled.name);
}

/** Returns each data name that the monitor watches once, if it has a value now. */
export function valuesOf(monitor: RunningMonitor, parts: EventContentParts, step: StepContext): EventValue[] {
  const values = new Map<TriggerData, EventValue>();
  for (const trigger of monitor.triggers) {
    const { condition } = trigger.compiled;
    if (condition.kind !== 'data') continue;
    const { data } = condition;
    const value = values.get(data) ?? currentText(data, parts, step);
    if (value === undefined) continue;
    values.set(data, { ...value, ...previousOf(trigger) });
  }
  return [...values.values()];
}

function previousOf({ truth, from }: RunningTrigger): { previous?: string } {
  return truth === TRUE && from !== undefined ? { previous: from } : {};
}

function currentText(data: TriggerData, parts: EventContentParts, step: StepContext): EventValue | undefined {
  const { facts, sources } = parts;
  if (data === 'vehicle.collision.side' || data === 'vehicle.collision.severity') {
    const collision = facts.newest('collision');
    if (!step.values.has(data) || collision === undefined) return undefined;
    return { data, collision: shown(collision, facts) };
  }
  if (data === 'vehicle.alert') {
    if (sources.value(data) === undefined) return undefined;
    const { ended } = step;
    const alerts = ended === undefined ? facts.alerts : [...facts.alerts, ended];
    return { data, alerts: alerts.map((alert) => shown(alert, facts)) };
  }
  const value = step.values.get(data) ?? sources.value(data);
  return value === undefined ? undefined : { ...codedData(data), literal: literal(value) };
}

/** Returns the requested extensions, in addition to the values. */
export function extensionsOf(monitor: RunningMonitor, parts: EventContentParts): EventExtension[] {
  return monitor.compiled.extensions.map(
    (extension) => ({ ...extension, ...contentOf(extension, parts) }) as EventExtension,
  );
}

/** Extensions that contain the newest record of a kind. */
const recordOf = {
  'vehicle.maintenance': 'maintenance',
  'vehicle.stolen': 'stolen',
} as const satisfies Partial<Record<ExtensionType, string>>;

function contentOf(
  { type, section }: Extension,
  { status, facts, trips, now }: EventContentParts,
): Omit<EventExtension, 'type' | 'section'> {
  switch (type) {
    case 'vehicle.status':
      return { status: status.contents() };
    case 'vehicle.doorsState':
      return part(status, ['doorsState']);
    case 'vehicle.position':
      return part(status, ['lastPosition']);
    case 'vehicle.telemetry':
      return part(
        status,
        section === undefined ? Object.values(telemetrySections).flat() : (telemetrySections[section] ?? []),
      );
    case 'vehicle.alerts':
      return facts.hidden > 1 ? {} : { alerts: facts.alerts.map((alert) => shown(alert, facts)) };
    case 'vehicle.collisions': {
      const collision = facts.newest('collision');
      return collision === undefined ? {} : { collision: shown(collision, facts) };
    }
    case 'vehicle.alarm': {
      const alarm = facts.newest('alarm');
      if (alarm === undefined || facts.hidden > 1) return {};
      const { trigger } = alarm;
      return { alarm: trigger === undefined ? alarm : { ...alarm, trigger: shown(trigger, facts) } };
    }
    case 'vehicle.trip': {
      const trip = facts.newest('trip');
      if (trip === undefined || facts.hidden > 1) return {};
      // The stored record of an open trip contains only its start.
      const present = trip.done === true ? undefined : trips.present(now);
      return { trip: shown(present?.id === trip.id ? present : trip, facts) };
    }
    default: {
      const kind = recordOf[type];
      const record = facts.newest(kind);
      return record === undefined || facts.hidden > 1 ? {} : { [kind]: shown(record, facts) };
    }
  }
}

/** Returns the named objects of Status; `alarm.status` is a part of one. */
function part(status: StatusReader, names: readonly string[]): { status?: StatusContents } {
  const contents = status.contents() as Readonly<Record<string, unknown>>;
  const found: Record<string, unknown> = {};
  for (const name of names) {
    const [outer = '', inner] = name.split('.');
    const value = contents[outer];
    if (value === undefined) continue;
    if (inner === undefined) found[outer] = value;
    else if ((value as Record<string, unknown>)[inner] !== undefined) {
      found[outer] = { ...(found[outer] as object | undefined), [inner]: (value as Record<string, unknown>)[inner] };
    }
  }
  return Object.keys(found).length === 0 ? {} : { status: found as StatusContents };
}

const places = ['position', 'startPosition', 'stopPosition', 'endPosition'];

/** Returns a record without its positions while privacy hides them, including those that were recorded before. */
function shown<T extends object>(record: T, { hidden }: Facts): T {
  if (hidden === 0) return record;
  return Object.fromEntries(Object.entries(record).filter(([name]) => !places.includes(name))) as T;
}
