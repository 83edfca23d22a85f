/** A fleet's broker on several machines: three NATS servers, one of which dies in the middle of a test. */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { SystemClock } from '../../../adapters/clock/system.ts';
import { CloudClient, MqttLink } from '../../../adapters/mqtt/index.ts';
import { memoryOutboxStore } from '../../../adapters/store/memory.ts';
import { Outbox } from '../../../agent/outbox/outbox.ts';
import { upFilter } from '../../../protocol/topics.ts';
import { vin } from '../../rig/car.ts';
import { MemoryLog } from '../../rig/log.ts';
import { NatsCluster } from '../../rig/nats.ts';
import { describePeer } from '../../rig/peers.ts';
import { Sequences } from '../../rig/sequences.ts';

/** Number of messages before, during and after the death of a server. */
const EACH = 400;

describePeer('nats-server', 'a cluster of three NATS servers', () => {
  const cluster = new NatsCluster();
  const log = new MemoryLog();
  const backoff = { first: 50, longest: 500 };
  let cloud: CloudClient;

  beforeAll(async () => {
    await cluster.start();
    // Until the servers have found each other, none accepts a client.
    while (cloud === undefined) {
      try {
        cloud = await CloudClient.connect(cluster.urls.slice(1), { clientId: 'there-throughout', backoff });
      } catch (error) {
        expect(error).toMatchObject({ code: 'link.refused' });
      }
    }
  });

  afterAll(async () => {
    await cloud?.close();
    await cluster.remove();
  });

  it('no message of a car is lost when its server is killed', async () => {
    const sequences = new Sequences();
    let arrived: () => void = () => undefined;
    await cloud.subscribe(upFilter(vin), (_topic, payload) => {
      sequences.take(payload);
      arrived();
    });
    const received = (count: number): Promise<void> =>
      new Promise((resolve) => {
        arrived = () => sequences.messages >= count && resolve();
        arrived();
      });
    const link = new MqttLink({ url: cluster.urls, vin, backoff, log });
    const outbox = new Outbox(memoryOutboxStore(), link, new SystemClock(), log, {
      vin,
      boot: 1,
      quality: () => 'ntp',
      window: () => link.window,
      limit: Number.POSITIVE_INFINITY,
    });
    const put = (): void => {
      for (let i = 0; i < EACH; i++)
        outbox.put('gap', { lost: 'telemetry', class: 5, count: i + 1, bytes: i, from: 0, to: 1 });
    };
    let ups = 0;
    const up = new Promise<void>((resolve) => {
      link.open({
        up: () => {
          ups++;
          outbox.linkUp();
          resolve();
        },
        down: () => undefined,
        message: () => undefined,
      });
    });
    await up;
    put();
    await received(EACH);
    put();
    // Some of these are in transit.
    await received(EACH + 20);
    await cluster.kill(0);
    put();
    await received(3 * EACH);
    expect([sequences.messages, sequences.missing, sequences.conflicts]).toEqual([3 * EACH, [], []]);
    expect(ups).toBeGreaterThan(1);
    // Earlier and later messages are available again with three servers.
    await cluster.revive(0);
    put();
    await received(4 * EACH);
    expect(sequences.missing).toEqual([]);
    await outbox.settled();
    expect(outbox.waiting).toBe(0);
    outbox.close();
    await link.close();
  });

  it('all three servers store each message', () => {
    for (const folder of cluster.folders) {
      expect(existsSync(join(folder, 'jetstream', 'jetstream', '$G', 'streams', '$MQTT_msgs'))).toBe(true);
    }
  });
});
