/** State of a running monitor, and the evaluation of values by its triggers. docs/monitors.md. */
import type {
  Choice,
  CompiledMonitor,
  CompiledTrigger,
  DataCondition,
  ZoneCondition,
} from '../../protocol/schema/monitor/compile.ts';
import type { TriggerData } from '../../protocol/schema/monitor/data.ts';
import { FALSE, TRUE, type Truth, UNKNOWN } from '../../protocol/schema/monitor/expression.ts';
import { type Slot, slotAt } from '../../protocol/slots.ts';
import { distance } from '../model/position.ts';
import type { StatusReader } from '../model/status.ts';
import type { WatchedSignal } from './custom-signals.ts';
import type { Thresholds } from './thresholds.ts';
import type { Due } from './timer-queue.ts';

/** A number, one name, or several names that apply together. */
export type SourceValue = number | string | readonly string[];

/** Time triggers watch `used`, zone triggers watch `position`. */
export type SourceName = TriggerData | 'used' | 'position';

export interface TriggerSource {
  readonly name: SourceName;
  readonly slots: readonly Slot[];
  /** True if the source is a single slot or custom signal. */
  readonly single: boolean;
  /** True if its parts arrive one after the other: the next tick evaluates changes. */
  readonly deferred: boolean;
  /** Returns the present value, or undefined if it is unknown. */
  read(): SourceValue | undefined;
  /** State of a custom signal of the car. */
  readonly signal: WatchedSignal | undefined;
  /** True if privacy hid the signal at the last tick that checked it. */
  obscured: boolean;
  /** True if the current evaluation sees the previous value of the signal. */
  before: boolean;
  /** Value at the last evaluation. Undefined also if a part was removed since then. */
  last: SourceValue | undefined;
  /** True if the next tick must evaluate it. */
  dirty: boolean;
  /** Triggers of running monitors. */
  readonly triggers: RunningTrigger[];
  /** Thresholds of a number. `last` is their position if `anew` is false. */
  readonly thresholds: Thresholds<RunningTrigger>;
  /** True if the triggers of this source have changed since the last evaluation: evaluate all. */
  anew: boolean;
}

/** A trigger of a running monitor; due at the end of its wait. */
export interface RunningTrigger extends Due {
  readonly kind: 'wait';
  readonly monitor: RunningMonitor;
  /** Its index among the triggers of the monitor. */
  readonly bit: number;
  readonly compiled: CompiledTrigger;
  readonly source: TriggerSource;
  /** Data: the operator is true. Zone: the car is inside the circle. Time: the current time is inside an interval. */
  main: Truth;
  /** With `previous`: the operator is true, and the previous value met the condition. Only in the changing step. */
  ready: boolean;
  /** The previous value. */
  from: string | undefined;
  /** Whether the car is in use; only for a time trigger. */
  used: Truth;
  /** Its value in the expression. */
  truth: Truth;
  /** Only for a time trigger: time of the next evaluation. */
  readonly boundary: Boundary | undefined;
}

export interface Boundary extends Due {
  readonly kind: 'boundary';
  readonly trigger: RunningTrigger;
}

/** A running monitor; due when its event is sent again. */
export interface RunningMonitor extends Due {
  readonly kind: 'refresh';
  readonly id: string;
  /** Order of evaluation: monitors are evaluated in the order in which they were created. */
  readonly order: number;
  compiled: CompiledMonitor;
  readonly triggers: RunningTrigger[];
  /** Values of the triggers in the expression, in the order of the triggers. */
  readonly truths: Truth[];
  satisfied: boolean;
  /** The collision that its last event reported. */
  collision: string | undefined;
  /** True if the monitor must be evaluated in this step. */
  touched: boolean;
}

/** Applies the operator of a level to a value; `before` is the previous outcome, for the hysteresis. */
export function levelOf(condition: DataCondition, value: SourceValue | undefined, before: Truth): Truth {
  if (value === undefined) return UNKNOWN;
  const { names, bound, hysteresis } = condition;
  if (names !== undefined) return among(names, value) ? TRUE : FALSE;
  const number = value as number;
  const slack = before === TRUE ? hysteresis : 0;
  switch (condition.op) {
    case 'greaterThan':
      return number > bound - slack ? TRUE : FALSE;
    case 'lowerThan':
      return number < bound + slack ? TRUE : FALSE;
    default:
      return number >= bound - slack && number <= bound + slack ? TRUE : FALSE;
  }
}

/** Returns the values at which {@link levelOf} of a number can change: all numbers that the condition compares. */
export function edgesOf({ condition }: CompiledTrigger): ReadonlySet<number> {
  if (condition.kind !== 'data' || condition.names !== undefined || condition.occurrence) return new Set();
  const { op, bound, hysteresis } = condition;
  const thresholds = new Set([bound]);
  if (op !== 'lowerThan') thresholds.add(bound - hysteresis);
  if (op !== 'greaterThan') thresholds.add(bound + hysteresis);
  return thresholds;
}

/** Returns true if `choice` contains the value, or at least one of several names. */
export function among(choice: Choice, value: SourceValue): boolean {
  return typeof value === 'object' ? value.some((name) => choice.has(name)) : choice.has(value);
}

const latitude = slotAt('lastPosition.latitude');
const longitude = slotAt('lastPosition.longitude');
const positionType = slotAt('lastPosition.type');
const fixStatus = slotAt('lastPosition.fixStatus');

/** Assumed error of a position in m: dead reckoning, two-dimensional fix, three-dimensional fix. */
const ESTIMATED = 200;
const FLAT = 50;
const SPATIAL = 20;

/** Returns whether the car is inside the circle; `before` is the previous result, used if the fix cannot decide. */
export function sideOf({ center, radius }: ZoneCondition, status: StatusReader, before: Truth): Truth {
  const here = { latitude: status.value(latitude), longitude: status.value(longitude) };
  if (typeof here.latitude !== 'number' || typeof here.longitude !== 'number') return UNKNOWN;
  const away = distance(center, here as { latitude: number; longitude: number });
  const estimated = status.value(positionType) === 'Estimated';
  const error = estimated ? ESTIMATED : status.value(fixStatus) === '3D' ? SPATIAL : FLAT;
  if (away < radius - error) return TRUE;
  if (away > radius + error) return FALSE;
  if (before !== UNKNOWN) return before;
  return away <= radius ? TRUE : FALSE;
}

/** Evaluates the condition of the trigger now, without its waits. */
export function rawOf(trigger: RunningTrigger): Truth {
  const { condition } = trigger.compiled;
  const { main } = trigger;
  switch (condition.kind) {
    case 'data':
      return main === TRUE && condition.previous !== undefined && !trigger.ready ? FALSE : main;
    case 'zone':
      return condition.transition === 'In' || main === UNKNOWN ? main : main === TRUE ? FALSE : TRUE;
    case 'time':
      return main === TRUE ? trigger.used : FALSE;
  }
}

/** Converts a value of the source `used`: whether the car is in use. */
export function usedOf(value: SourceValue | undefined): Truth {
  return value === undefined ? UNKNOWN : value === 'true' ? TRUE : FALSE;
}
