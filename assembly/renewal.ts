/**
 * Renews the certificate of the car in a process of its own, which ends with it: nothing that makes certificates is in
 * the memory of the agent. A connection that lasts needs no new certificate, so each dial is the time to look.
 */
import { X509Certificate } from 'node:crypto';
import { readFileSync } from 'node:fs';
import type { MqttConfiguration } from '../config/mqtt.ts';

/** Dials that follow each other sooner: the broker does not take the car, perhaps because of its certificate; ms. */
const SOON = 600_000;
/** Two renewals are at least so far apart, ms. */
const PAUSE = 3_600_000;

interface RenewalParts {
  /** Part of its time that the certificate has left by our clock, 0 to 1; undefined: it cannot be read. */
  readonly left: () => number | undefined;
  /** Monotonic ms. */
  readonly now: () => number;
  /** Begins a renewal, which does nothing before the certificate nears its end. */
  readonly begin: () => void;
}

/** @returns what is to be called before each dial */
export function renewalBefore({ left, now, begin }: RenewalParts): () => void {
  let dialed: number | undefined;
  let begun: number | undefined;
  return () => {
    const at = now();
    const again = dialed !== undefined && at - dialed < SOON;
    dialed = at;
    if (begun !== undefined && at - begun < PAUSE) return;
    // A clock that is not set yet shows nothing: a car that is refused asks the hub.
    if (!again && (left() ?? 0) > 1 / 3) return;
    begun = at;
    begin();
  };
}

/**
 * Function to call before each dial. Undefined for a car without a certificate of a hub. `run` runs this
 * program with other words, in a process of its own.
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
