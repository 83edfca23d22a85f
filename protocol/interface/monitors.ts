/** Scopes of the user side needed to add a monitor over HTTP: its events contain only data its creator may read. */

import type { MonitorEvent } from '../schema/event.ts';
import type { CompiledMonitor } from '../schema/monitor/compile.ts';
import { isSignal, signalNameOf, type TriggerData } from '../schema/monitor/data.ts';
import type { Extension, ExtensionType } from '../schema/monitor/extensions.ts';
import type { Scope } from './operations/scopes.ts';

/** Scopes of contents by extension; positions are in records as well as in Status. */
const ofExtension: Readonly<Record<ExtensionType, readonly Scope[]>> = {
  'vehicle.doorsState': ['data:telemetry'],
  'vehicle.status': ['data:telemetry', 'data:position'],
  'vehicle.maintenance': ['data:telemetry'],
  'vehicle.position': ['data:position'],
  'vehicle.telemetry': ['data:telemetry'],
  'vehicle.alerts': ['data:alert', 'data:position'],
  'vehicle.collisions': ['data:collision', 'data:position'],
  'vehicle.trip': ['data:trip', 'data:position'],
  'vehicle.stolen': ['data:telemetry', 'data:position'],
  'vehicle.alarm': ['data:telemetry', 'data:position'],
};

/** Sections of telemetry that include the place where the alarm went off. */
const withAlarm: ReadonlySet<string | undefined> = new Set([undefined, 'vehicle', 'vehicle.alarm.trigger']);

/**
 * Returns the scopes for the conditions and contents of a monitor. For data, interface 4.17.2 requires all scopes.
 * `isPosition` returns true for a custom signal that contains the position of the car.
 */
export function monitorScopesOf(
  { triggers, extensions }: CompiledMonitor,
  isPosition: (signal: string) => boolean,
): ReadonlySet<Scope> {
  return new Set([
    ...triggers.flatMap(({ condition }) => {
      if (condition.kind === 'data') return ofData(condition.data, isPosition);
      // Time triggers are evaluated while the car is in use.
      return condition.kind === 'zone' ? (['data:position'] as const) : (['data:telemetry'] as const);
    }),
    ...extensions.flatMap(ofContent),
  ]);
}

/**
 * Returns the scopes for the contents of a monitor's event. An event alone does not show whether its triggers are
 * zones or custom signals, which may be positions, so `data:telemetry` and `data:position` are always included.
 */
export function eventScopesOf({ values = [], extensions = [] }: Partial<MonitorEvent>): ReadonlySet<Scope> {
  return new Set<Scope>([
    'data:telemetry',
    'data:position',
    ...values.flatMap(({ data }) => (data === 'signal' ? [] : ofData(data, () => true))),
    ...extensions.flatMap((one) => ofExtension[one.type]),
  ]);
}

function ofData(name: TriggerData, isPosition: (signal: string) => boolean): readonly Scope[] {
  if (isSignal(name)) return isPosition(signalNameOf(name)) ? ['data:telemetry', 'data:position'] : ['data:telemetry'];
  // Events contain complete records, with their positions.
  if (name === 'vehicle.alert') return ofExtension['vehicle.alerts'];
  if (name.startsWith('vehicle.collision.')) return ofExtension['vehicle.collisions'];
  return /^vehicle\.trip(\.|$)/.test(name) ? ['data:trip'] : ['data:telemetry'];
}

function ofContent({ type, section }: Extension): readonly Scope[] {
  if (type === 'vehicle.telemetry' && withAlarm.has(section)) return ['data:telemetry', 'data:position'];
  return ofExtension[type];
}
