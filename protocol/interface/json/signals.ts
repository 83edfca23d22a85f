import type { ShownDefinition, SignalValue } from '../../signals/values.ts';
import { dateTime } from './date-time.ts';

/** A custom signal as the HTTP interface and its stream of changes write it. */
export interface ShownSignal {
  readonly definition: ShownDefinition;
  readonly value: SignalValue | undefined;
  /** UTC ms. */
  readonly changedAt: number | undefined;
  readonly stale: boolean;
}

export function signalJson({ definition, value, changedAt, stale }: ShownSignal): object {
  const { name, kind, unit, resolution, names } = definition;
  return {
    name,
    kind,
    ...(unit === undefined ? {} : { unit }),
    ...(kind === 'quantity' ? { resolution: Math.abs(resolution ?? 1) } : {}),
    ...(names === undefined ? {} : { names: names.map(({ name: one }) => one) }),
    ...(value === undefined || changedAt === undefined ? {} : { value, changedAt: dateTime(changedAt), stale }),
  };
}

/** A change of a signal; without a value it has none any more. */
export function signalChangeJson({ definition: { name }, value, stale }: ShownSignal, at: number): object {
  return { name, at: dateTime(at), ...(value === undefined ? {} : { value, stale }) };
}

export function signalHistoryJson(
  { name, unit }: ShownDefinition,
  samples: readonly { readonly at: number; readonly value: SignalValue }[],
  more: boolean,
): object {
  return {
    name,
    ...(unit === undefined ? {} : { unit }),
    readings: samples.map(({ at, value }) => ({ at: dateTime(at), value })),
    more,
  };
}
