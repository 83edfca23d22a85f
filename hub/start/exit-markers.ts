/**
 * Retained messages at the broker of plain topics that say for which cars this hub has retained topics there. The
 * broker keeps them, so that a forgotten car leaves nothing in the database, and its topics can still be found.
 */
import { createHash } from 'node:crypto';
import type { ExitMessage } from '../../adapters/exits/exit.ts';
import type { CloudClient } from '../../adapters/mqtt/cloud-client.ts';
import { retainedAt } from '../../adapters/mqtt/retained.ts';

/** How a car was announced to Home Assistant. Empty if it was not. */
export interface ExitMarker {
  /** Topic of the discovery message. */
  readonly discovery?: string;
  /** Scopes of the exit, which decide on the announced components. */
  readonly scopes?: readonly string[];
}

/** Number of topics above the markers: brokers queue only some hundred retained messages for a subscription. */
const BUCKETS = 64;

/** Returns the message that marks a car. `own`: start of the topics of the exit itself. */
export function markerMessage(own: string, vin: string, marker: ExitMarker | undefined): ExitMessage {
  const digest = createHash('sha256').update(vin).digest();
  const bucket = (digest[0] as number) % BUCKETS;
  const text = marker === undefined ? '' : JSON.stringify(marker);
  return { topic: `${own}/cars/${bucket}/${vin}`, text, retain: true };
}

/** Returns the markers at the broker by VIN. */
export async function readMarkers(client: CloudClient, own: string): Promise<ReadonlyMap<string, ExitMarker>> {
  const found = new Map<string, ExitMarker>();
  for (let bucket = 0; bucket < BUCKETS; bucket++) {
    for (const [topic, payload] of await retainedAt(client, `${own}/cars/${bucket}/+`)) {
      found.set(topic.slice(topic.lastIndexOf('/') + 1), markerIn(payload));
    }
  }
  return found;
}

/** Clears all retained topics of a car, the marker last. Rejects as {@link CloudClient.publish} does. */
export async function clearTopics(
  client: CloudClient,
  { own, prefix, vin, marker }: { own: string; prefix: string; vin: string; marker: ExitMarker },
): Promise<void> {
  const topics = [...(await retainedAt(client, `${prefix}/${vin}/#`)).keys()];
  if (marker.discovery !== undefined) topics.push(marker.discovery);
  for (const topic of [...topics, markerMessage(own, vin, undefined).topic]) {
    await client.publish(topic, new Uint8Array(), { retain: true });
  }
}

function markerIn(payload: Uint8Array): ExitMarker {
  try {
    const { discovery, scopes } = JSON.parse(new TextDecoder().decode(payload)) as Record<string, unknown>;
    return {
      ...(typeof discovery === 'string' && { discovery }),
      ...(Array.isArray(scopes) && { scopes: scopes.map(String) }),
    };
  } catch {
    return {};
  }
}
