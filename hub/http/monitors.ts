/** Monitors that a car should have, and those that it has reported. */

import type { Caller, Handler } from '../../adapters/http/call.ts';
import { found } from '../../adapters/http/resources/context.ts';
import { defined } from '../../protocol/defined.ts';
import { dateTime } from '../../protocol/interface/json/date-time.ts';
import { monitorScopesOf } from '../../protocol/interface/monitors.ts';
import { seesOf } from '../../protocol/interface/visible-members.ts';
import { compileMonitor } from '../../protocol/schema/monitor.ts';
import type { HubCommands } from '../core/commands.ts';
import { differences, revisionOf } from '../core/monitor-sync.ts';
import type { CarMonitorStore, OwnedMonitor } from '../core/monitors.ts';

/** `GET /vigie/v1/vehicles/{vin}/monitors`. A caller with fleets sees their monitors; a user sees its own. */
export function monitorsOf(
  store: Pick<CarMonitorStore, 'carMonitors'>,
  commands: Pick<HubCommands, 'untrusted'>,
  digest: (text: string) => string,
): Handler {
  return async ({ path, caller }) => {
    const vin = path['vin'] ?? '';
    const { wanted, reported, reportedAt } = await store.carMonitors(vin);
    const known = new Map(reported.map((one) => [one.monitorId, one]));
    const ids = new Set(wanted.map(({ monitor }) => monitor.monitorId));
    const isCallers = ownedBy(caller);
    const isBehind = differences({ wanted, reported }, digest).length > 0;
    const trouble = isBehind ? await commands.untrusted(vin, 'Monitor') : undefined;
    return found({
      vin,
      ...defined({ trouble }),
      ...(reportedAt === undefined ? {} : { reportedAt: dateTime(reportedAt) }),
      monitors: [
        ...wanted
          .filter((one) => isCallers(one) && isSeen(caller, one))
          .map(({ owner, monitor }) => {
            const { monitorId, status } = monitor;
            const there = known.get(monitorId);
            const isCurrent = there?.revision === revisionOf(monitor, digest) && there.status === status;
            return {
              monitorId,
              label: monitor.monitor.label,
              [owner.kind]: owner.id,
              wanted: status,
              ...(there === undefined ? {} : { reported: there.status, updatedAt: dateTime(there.updatedAt) }),
              state: isCurrent ? 'current' : 'pending',
            };
          }),
        ...reported
          .filter(({ monitorId }) => !ids.has(monitorId))
          .map(({ monitorId, status, updatedAt, revision }) => ({
            monitorId,
            reported: status,
            updatedAt: dateTime(updatedAt),
            state: revision === undefined ? 'own' : 'removing',
          })),
      ],
    });
  };
}

/**
 * Returns true if the caller may read everything that the monitor watches and reports. Any custom signal may be a
 * position.
 */
function isSeen(caller: Caller, { monitor }: OwnedMonitor): boolean {
  if (caller.scopes === undefined) return true;
  return [...monitorScopesOf(compileMonitor(monitor.monitor), () => true)].every(seesOf(caller));
}

function ownedBy({ fleets, user }: Caller): (one: OwnedMonitor) => boolean {
  if (fleets === undefined && user === undefined) return () => true;
  return ({ owner: { kind, id } }) => (kind === 'user' ? id === user : fleets?.has(id) === true);
}
