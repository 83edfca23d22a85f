/** Limits which monitors a caller may see and create: a monitor must not report data that the caller may not read. */
import { VigieError } from '../../../protocol/errors.ts';
import { monitorScopesOf } from '../../../protocol/interface/monitors.ts';
import type { Scope } from '../../../protocol/interface/operations/scopes.ts';
import { compileMonitor, type MonitorParameter } from '../../../protocol/schema/monitor.ts';
import type { Context } from './context.ts';

/** Returns the scopes that the caller lacks for the monitor. @throws VigieError as compileMonitor does */
export function scopesLacking({ call, sees, car }: Context, input: unknown): readonly Scope[] {
  if (call.caller.scopes === undefined) return [];
  const isPosition = (signal: string): boolean => car.monitors.signals?.rule(signal)?.position === true;
  return [...monitorScopesOf(compileMonitor(input), isPosition)].filter((scope) => !sees(scope));
}

/**
 * Call before a caller changes the address of a callback, because the new address gets the events of its monitors.
 * @throws VigieError `request.forbidden` if these events contain data that the caller may not read
 */
export function checkMonitorsOf(context: Context, callbackId: string): void {
  for (const { monitor } of context.car.monitors.all) {
    if (deliveryOf(monitor).subscribeParam?.callbackId === callbackId) checkScopes(context, monitor);
  }
}

/** @throws VigieError `request.forbidden` if the monitor would send hidden data, and the errors of compileMonitor */
export function checkScopes(context: Context, input: unknown): void {
  const missing = scopesLacking(context, input);
  if (missing.length === 0) return;
  const scopes = `${missing.length > 1 ? 'scopes' : 'scope'} ${missing.join(', ')}`;
  throw new VigieError('request.forbidden', `the data of the monitor need the ${scopes}`);
}

/** Delivery settings, which compileMonitor separates from the rest of a monitor. */
interface Delivery {
  readonly subscribeParam?: { readonly callbackId?: string; readonly callback?: unknown };
  readonly attributes?: unknown;
}

/** Unreadable settings, which only a command can have created, count as empty. */
export function deliveryOf({ delivery }: MonitorParameter): Delivery {
  if (delivery === undefined) return {};
  try {
    const read: unknown = JSON.parse(delivery);
    return typeof read === 'object' && read !== null ? read : {};
  } catch {
    return {};
  }
}
