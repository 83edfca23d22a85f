/**
 * Renews the certificate of the car in a separate process, so that the agent never loads the code that creates
 * certificates. An open connection needs no new certificate, so it is enough to check before each connection attempt.
 */
import { X509Certificate } from 'node:crypto';
import { readFileSync } from 'node:fs';
import type { MqttConfiguration } from '../config/mqtt.ts';

/** If attempts are closer together than this, in ms, the broker may be refusing the certificate. */
const SOON = 600_000;
/** Minimum time in ms between two renewals. */
const PAUSE = 3_600_000;

interface RenewalParts {
  /** Returns how much of the certificate's validity is left by our clock, 0 to 1; undefined if it cannot be read. */
  readonly left: () => number | undefined;
  /** Returns the monotonic time in ms. */
  readonly now: () => number;
  /** Starts a renewal, which does nothing unless the certificate expires soon. */
  readonly begin: () => void;
}

/** @returns the function to call before each connection attempt */
export function renewalBefore({ left, now, begin }: RenewalParts): () => void {
  let dialed: number | undefined;
  let begun: number | undefined;
  return () => {
    const at = now();
    const again = dialed !== undefined && at - dialed < SOON;
    dialed = at;
    if (begun !== undefined && at - begun < PAUSE) return;
    // The clock may not be set yet and then proves nothing: after a refusal, ask the hub anyway.
    if (!again && (left() ?? 0) > 1 / 3) return;
    begun = at;
    begin();
  };
}

/**
 * Returns the function to call before each connection attempt, or undefined if the car has no certificate from a hub.
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
    // The link reports what is wrong with the file.
    return undefined;
  }
}
