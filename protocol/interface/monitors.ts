/** Scopes of the user side that a monitor by HTTP needs: it never reports what its creator may not read. */

import type { MonitorEvent } from '../schema/event.ts';
import type { CompiledMonitor } from '../schema/monitor/compile.ts';
import { isSignal, signalNameOf, type TriggerData } from '../schema/monitor/data.ts';
import type { Extension, ExtensionType } from '../schema/monitor/extensions.ts';
import type { Scope } from './operations/scopes.ts';

/** Contents by extension; positions are in records as well as in Status. */
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

/** Sections of telemetry that have where the alarm went off. */
const withAlarm: ReadonlySet<string | undefined> = new Set([undefined, 'vehicle', 'vehicle.alarm.trigger']);

/**
 * Conditions and contents of a monitor, as scopes. Interface 4.17.2 requires all for data. `isPosition` returns
 * for a custom signal whether it contains the position of the car.
 */
export function monitorScopesOf(
  { triggers, extensions }: CompiledMonitor,
  isPosition: (signal: string) => boolean,
): ReadonlySet<Scope> {
  return new Set([
    ...triggers.flatMap(({ condition }) => {
      if (condition.kind === 'data') return ofData(condition.data, isPosition);
      // Times count while the car is used.
      return condition.kind === 'zone' ? (['data:position'] as const) : (['data:telemetry'] as const);
    }),
    ...extensions.flatMap(ofContent),
  ]);
}

/**
 * Scopes of what an event of a monitor contains. Where only the event is known its triggers may be zones and custom signals, which
 * may be positions: `data:telemetry` and `data:position` are always among them.
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
  // Events contain these records whole, with their positions.
  if (name === 'vehicle.alert') return ofExtension['vehicle.alerts'];
  if (name.startsWith('vehicle.collision.')) return ofExtension['vehicle.collisions'];
  return /^vehicle\.trip(\.|$)/.test(name) ? ['data:trip'] : ['data:telemetry'];
}

function ofContent({ type, section }: Extension): readonly Scope[] {
  if (type === 'vehicle.telemetry' && withAlarm.has(section)) return ['data:telemetry', 'data:position'];
  return ofExtension[type];
}
