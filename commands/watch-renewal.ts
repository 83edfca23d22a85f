import type { CloudClient } from '../adapters/mqtt/index.ts';
import { VigieError } from '../protocol/errors.ts';
import { downTopic } from '../protocol/topics.ts';
import { encodeWatch } from '../protocol/watch.ts';

/** Said for so long, and again so often, ms: the car goes back to its own pace soon after the last who watches. */
const LEASE = 180_000;
const RENEWAL = 60_000;

/**
 * Tells a car that somebody watches it, until the result is called. Whom the broker does not let speak to the car sees
 * what it publishes all the same, in its own time; that is said once.
 */
export async function renewWatch(client: CloudClient, vin: string): Promise<() => void> {
  let timer: NodeJS.Timeout | undefined;
  let refused = false;
  const say = async (): Promise<void> => {
    try {
      const payload = encodeWatch({ until: Date.now() + LEASE });
      await client.publish(downTopic(vin, 'watch'), payload, { expiry: LEASE / 1000 });
    } catch (error) {
      // A connection that is being made again is there for the next time.
      if (error instanceof VigieError && error.code === 'link.lost') return;
      refused = true;
      clearInterval(timer);
      process.stderr.write(`vigie: the request for quicker sending failed: ${(error as Error).message}\n`);
    }
  };
  await say();
  if (!refused) timer = setInterval(() => void say(), RENEWAL);
  return () => clearInterval(timer);
}
