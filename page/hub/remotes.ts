/** Commands through a hub. */

import type { CommandHistory } from '../../protocol/interface/own/commands.ts';
import { askJson, post } from '../shared/connection.ts';

/** A command in the audit trail of the hub. */
export interface HubRemote {
  readonly remoteActionId: string;
  readonly type: CommandHistory[number]['type'];
  /** Last state that the car reported, or `Requested` before that. */
  readonly status: string;
  readonly failureCause?: string;
  /** Id of the signed command. */
  readonly body?: object;
  readonly requestedBy: string;
  readonly requestedAt: string;
  readonly expiresAt: string;
  readonly states: readonly {
    readonly status: string;
    readonly at: string;
    readonly failureCause?: string;
    readonly detail?: string;
  }[];
}

const FINAL: ReadonlySet<string> = new Set(['Success', 'AlreadyDone', 'Failed']);

/** Returns true if the state is final. */
export function isFinal({ status }: Pick<HubRemote, 'status'>): boolean {
  return FINAL.has(status);
}

export function pathOfRemotes(vin: string): string {
  return `/vigie/v1/vehicles/${encodeURIComponent(vin)}/remotes`;
}

export function requestRemote(vin: string, body: object): Promise<HubRemote> {
  return post<HubRemote>(pathOfRemotes(vin), body);
}

export function readRemote(vin: string, { remoteActionId }: Pick<HubRemote, 'remoteActionId'>): Promise<HubRemote> {
  return askJson<HubRemote>(`${pathOfRemotes(vin)}/${remoteActionId}`);
}
