/** Reads retained messages of a broker. */
import type { CloudClient } from './cloud-client.ts';

/** Returns the retained messages that match the filter, by topic. Rejects as {@link CloudClient.subscribe} does. */
export async function retainedAt(
  client: Pick<CloudClient, 'subscribe'>,
  filter: string,
): Promise<ReadonlyMap<string, Uint8Array>> {
  const found = new Map<string, Uint8Array>();
  const subscription = await client.subscribe(filter, (topic, payload, { retained }) => {
    if (retained && payload.byteLength > 0) found.set(topic, payload);
  });
  // Retained messages may arrive until the broker has acknowledged the end of the subscription.
  await subscription.close();
  return found;
}
