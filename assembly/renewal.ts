/**
 * Renews the certificate of the car in a separate process, so that the code that creates certificates is never in the
 * memory of the agent. An open connection needs no new certificate, so each connection attempt checks for renewal.
 */
import { X509Certificate } from 'node:crypto';
import { readFileSync } from 'node:fs';
import type { MqttConfiguration } from '../config/mqtt.ts';

/** Longest interval of attempts that indicates refusals by the broker, perhaps because of the certificate, ms. */
const SOON = 600_000;
/** Shortest interval of two renewals, ms. */
const PAUSE = 3_600_000;

interface RenewalParts {
  /** Returns the remaining part of the certificate's validity by our clock, 0 to 1; undefined if it cannot be read. */
  readonly left: () => number | undefined;
  /** Returns monotonic time, ms. */
  readonly now: () => number;
  /** Starts a renewal, which does nothing until the certificate is close to its end. */
  readonly begin: () => void;
}

/** @returns function to call before each connection attempt */
export function renewalBefore({ left, now, begin }: RenewalParts): () => void {
  let dialed: number | undefined;
  let begun: number | undefined;
  return () => {
    const at = now();
    const again = dialed !== undefined && at - dialed < SOON;
    dialed = at;
    if (begun !== undefined && at - begun < PAUSE) return;
    // A clock that is not set yet proves nothing: after a refusal, the car asks the hub.
    if (!again && (left() ?? 0) > 1 / 3) return;
    begun = at;
    begin();
  };
}

/**
 * Returns the function to call before each connection attempt; undefined for a car without a certificate of a hub.
 * `run` runs this program with other arguments, in a separate process.
 */
export function renewalOf(
  { est, ca, cert }: MqttConfiguration,
  run: (words: readonly string[]) => void,
): (() => void) | undefined {
  if (est === undefined || ca === undefined || cert === undefined) return undefined;
  return renewalBefore({
    left: () => partLeft(cert),
    now: () => performance.now(),
    begin: () => run(['enroll', est, '--renew', '--ca', ca, '--cert', cert]),
  });
}

function partLeft(file: string): number | undefined {
  try {
    const { validFrom, validTo } = new X509Certificate(readFileSync(file));
    const [from, to] = [Date.parse(validFrom), Date.parse(validTo)];
    return (to - Date.now()) / (to - from);
  } catch {
    // The link reports the fault of the file.
    return undefined;
  }
}
