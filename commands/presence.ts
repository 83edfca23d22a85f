import type { CloudClient } from '../adapters/mqtt/index.ts';
import { parseTopic, presenceFilter, presenceTopic } from '../protocol/topics.ts';

/** Longest wait in ms for retained messages after a subscription: most brokers send them before they acknowledge it. */
const PATIENCE = 2_000;

/**
 * Follows the state of a car: `online`, `asleep` or `offline`. The broker retains the last state of every car that was
 * ever connected. `kept` resolves with that state, or with undefined if the broker has none. Rejects with
 * `link.refused` or `link.lost`.
 */
export async function followPresence(
  client: CloudClient,
  vin: string,
  changed: (word: string) => void = () => undefined,
): Promise<{ readonly kept: Promise<string | undefined> }> {
  let found: (word: string | undefined) => void = () => undefined;
  const kept = new Promise<string | undefined>((resolve) => {
    found = resolve;
  });
  await client.subscribe(presenceTopic(vin), (_topic, payload) => {
    const word = Buffer.from(payload).toString();
    found(word);
    changed(word);
  });
  setTimeout(() => found(undefined), PATIENCE).unref();
  return { kept };
}

/** Follows the states of all cars; retained states arrive first. Rejects with `link.refused` or `link.lost`. */
export async function followAllPresence(
  client: CloudClient,
  changed: (vin: string, word: string) => void,
): Promise<void> {
  await client.subscribe(presenceFilter, (topic, payload) => {
    const vin = parseTopic(topic)?.vin;
    if (vin !== undefined) changed(vin, Buffer.from(payload).toString());
  });
}

/** Returns advice for the case that the broker retains no message of a car. */
export function explainAbsence(vin: string): string {
  return `the broker has no presence of ${vin}: no car with this VIN was ever connected to it, or this user may not read \
${presenceTopic(vin)}; check the VIN, the broker (--broker) and its rules`;
}
