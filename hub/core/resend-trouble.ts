/** Why numbers of a car stay missing although the hub asked it to send their messages again. */
import type { KeptCommand } from './ports.ts';

const HINT = 'copy keys/trust.json of the hub to the trust file of the car, with Resend among its kinds';

/**
 * A sentence for people, by the newest request; undefined while that may still be carried out, and for a car that is away.
 * @param commands of the audit trail, the newest first
 * @param lastSeen UTC ms of the latest message of the car
 */
export function resendTrouble(
  commands: readonly Pick<KeptCommand, 'type' | 'expires' | 'states'>[],
  lastSeen: number,
): string | undefined {
  const newest = commands.find(({ type }) => type === 'Resend');
  if (newest === undefined) return undefined;
  const last = newest.states.at(-1);
  if (last?.status === 'Failed') {
    return `The car refused to send them again (${last.detail ?? last.failureCause}). If it is about rights, ${HINT}.`;
  }
  // A car that trusts no such key does not answer at all.
  if (last !== undefined || lastSeen <= newest.expires) return undefined;
  return `The car does not answer requests to send them again: it does not trust the key of this hub, or takes no commands. To mend it, ${HINT}.`;
}
