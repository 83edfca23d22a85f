import { defined } from '../../defined.ts';
import type { ShownDefinition, SignalValue } from '../../signals/values.ts';
import { dateTime } from './date-time.ts';

/** A custom signal as in the HTTP interface and its stream of changes. */
interface ShownSignal {
  readonly definition: ShownDefinition;
  readonly value: SignalValue | undefined;
  /** UTC ms. */
  readonly changedAt: number | undefined;
  readonly stale: boolean;
}

export function signalJson({ definition, value, changedAt, stale }: ShownSignal): object {
  return {
    ...definitionJson(definition),
    ...(value === undefined || changedAt === undefined ? {} : { value, changedAt: dateTime(changedAt), stale }),
  };
}

/** A value at a time (UTC ms). */
export interface ShownReading {
  readonly at: number;
  readonly value: SignalValue;
  /** Present if it differs from the unit of the signal. */
  readonly unit?: string;
}

/** Returns a custom signal of a car with its newest reading, as received by a hub. */
export function sentSignalJson({
  definition,
  reading,
}: {
  definition: ShownDefinition;
  reading?: ShownReading;
}): object {
  return {
    ...definitionJson(definition),
    ...(reading === undefined ? {} : { value: reading.value, at: dateTime(reading.at) }),
  };
}

function definitionJson({ name, kind, unit, resolution, names }: ShownDefinition): object {
  return {
    name,
    kind,
    ...defined({ unit }),
    ...(kind === 'quantity' ? { resolution: Math.abs(resolution ?? 1) } : {}),
    ...(names === undefined ? {} : { names: names.map(({ name: one }) => one) }),
  };
}

/** Returns a change of a signal. If `value` is undefined, the signal no longer has one. */
export function signalChangeJson({ definition: { name }, value, stale }: ShownSignal, at: number): object {
  return { name, at: dateTime(at), ...(value === undefined ? {} : { value, stale }) };
}

export function signalHistoryJson(
  { name, unit }: ShownDefinition,
  samples: readonly ShownReading[],
  more: boolean,
): object {
  return {
    name,
    ...defined({ unit }),
    readings: samples.map(({ at, ...rest }) => ({ at: dateTime(at), ...rest })),
    more,
  };
}
