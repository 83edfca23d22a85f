/** Explains why message numbers of a car are still missing although the hub requested the messages again. */
import type { KeptCommand } from './ports.ts';

const HINT = 'copy keys/trust.json of the hub to the trust file of the car, with Resend among its kinds';

/**
 * Returns a human-readable sentence about the newest request. Returns undefined while the car may still carry it out,
 * and if the car is away.
 * @param commands entries of the audit trail, newest first
 * @param lastSeen UTC ms of the latest message of the car
 * @param untrusted reason why no hub of the group can sign a request for the car
 */
export function resendTrouble(
  commands: readonly Pick<KeptCommand, 'type' | 'expires' | 'states'>[],
  lastSeen: number,
  untrusted?: string,
): string | undefined {
  if (untrusted !== undefined) return `The car cannot be asked to send them again: ${untrusted}.`;
  const newest = commands.find(({ type }) => type === 'Resend');
  if (newest === undefined) return undefined;
  const last = newest.states.at(-1);
  if (last?.status === 'Failed') {
    return `The car refused to send them again (${last.detail ?? last.failureCause}). If it is about rights, ${HINT}.`;
  }
  // A car that does not trust the key does not answer at all.
  if (last !== undefined || lastSeen <= newest.expires) return undefined;
  return `The car does not answer requests to send them again: it does not trust the key of this hub, or takes no commands. To mend it, ${HINT}.`;
}
