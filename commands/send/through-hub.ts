/** Sends a command through the HTTP interface of a hub: the hub signs it, and its audit trail contains the states. */
import { setTimeout } from 'node:timers/promises';
import { defined } from '../../protocol/defined.ts';
import { VigieError } from '../../protocol/errors.ts';
import { remoteKinds } from '../../protocol/remote/table.ts';
import { finalStatuses, type RemoteReport } from '../../protocol/schema/remote.ts';
import type { HubInterface } from '../hub-interface.ts';
import { type SendRequest, wrong } from './request.ts';

interface HubDelivery {
  readonly vin: string;
  readonly hub: HubInterface;
  /** Time in s to wait for the last state after the validity of the command. */
  readonly wait: number;
  /** Called once for each state. */
  readonly report: (report: RemoteReport) => void;
}

/** A command in the audit trail of a hub. */
interface AuditedCommand {
  readonly remoteActionId: string;
  readonly type: RemoteReport['type'];
  readonly requestedAt: string;
  readonly expiresAt: string;
  readonly states: readonly Pick<RemoteReport, 'status' | 'failureCause' | 'detail'>[];
}

interface HubOutcome {
  readonly report?: RemoteReport;
  /** Seconds of waiting without a last state, and the last error of the hub while it did not respond. */
  readonly waited: number;
  readonly fault?: VigieError;
}

const POLL_INTERVAL_MS = 500;

/** Sends the command, and follows it to its last state. Rejects with the hub's error. */
export async function sendThroughHub(
  request: SendRequest,
  { vin, hub, wait, report }: HubDelivery,
): Promise<HubOutcome> {
  const kind = remoteKinds.find(({ type }) => type === request.kind);
  if (kind === undefined) throw wrong('a hub sends commands to the car only, none to the agent itself');
  const path = `/vigie/v1/vehicles/${vin}/remotes`;
  const sent = await hub.submit<AuditedCommand>(path, { [kind.member]: request.body }, crypto.randomUUID());
  const valid = Date.parse(sent.expiresAt) - Date.parse(sent.requestedAt);
  const waited = valid / 1000 + wait;
  const end = performance.now() + waited * 1000;
  const seen = new Set<string>();
  let fault: VigieError | undefined;
  while (performance.now() < end) {
    try {
      const { states, type, remoteActionId } = await hub.ask<AuditedCommand>(`${path}/${sent.remoteActionId}`);
      fault = undefined;
      for (const { status, failureCause, detail } of states.filter((state) => !seen.has(state.status))) {
        seen.add(status);
        const state: RemoteReport = { remoteActionId, type, status, ...defined({ failureCause, detail }) };
        report(state);
        if (finalStatuses.has(status)) return { report: state, waited };
      }
    } catch (error) {
      // The hub has the command, and may respond again while the car executes it.
      if (!(error instanceof VigieError) || !error.fact.retriable) throw error;
      fault = error;
    }
    await setTimeout(POLL_INTERVAL_MS);
  }
  return { waited, ...defined({ fault }) };
}
