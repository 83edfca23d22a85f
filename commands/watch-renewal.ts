import type { CloudClient } from '../adapters/mqtt/index.ts';
import { VigieError } from '../protocol/errors.ts';
import { downTopic } from '../protocol/topics.ts';
import { encodeWatch } from '../protocol/watch.ts';

/** Validity of a watch request, and time between renewals, in ms. Cars resume their pace soon after a viewer. */
const LEASE = 180_000;
const RENEWAL = 60_000;

/**
 * Notifies a car that it is being watched, until the returned function is called. If the broker does not let this user
 * send to the car, the car's messages still arrive, but at its own pace; this is reported once.
 */
export async function renewWatch(client: CloudClient, vin: string): Promise<() => void> {
  let timer: NodeJS.Timeout | undefined;
  let refused = false;
  const say = async (): Promise<void> => {
    try {
      const payload = encodeWatch({ until: Date.now() + LEASE });
      await client.publish(downTopic(vin, 'watch'), payload, { expiry: LEASE / 1000 });
    } catch (error) {
      // The lost connection is being restored: the next renewal can use it.
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
