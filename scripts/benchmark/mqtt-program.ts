/**
 * Publishing as a program of contest.ts. Arguments: `link` (messages in memory), `mqttjs` (messages in memory,
 * published by the library with TCP_NODELAY and nothing else) or `outbox` (a backlog on disk, as after an outage);
 * port; publishes in flight at a time; messages per round; bytes per message; maximum number of rounds; directory.
 */
import { join } from 'node:path';
import { connectAsync } from 'mqtt';
import { SystemClock } from '../../adapters/clock/system.ts';
import { MqttLink } from '../../adapters/mqtt/index.ts';
import { openStore } from '../../adapters/store/index.ts';
import { Outbox } from '../../agent/outbox/outbox.ts';
import type { Log } from '../../agent/ports.ts';
import { answer, type Work } from './answers.ts';

const VIN = 'VF3VGEBENCH000001';
/** Class and kind of a reading. */
const TELEMETRY = 5;

const [kind = '', port = '', ...numbers] = process.argv.slice(2, -1);
const directory = process.argv.at(-1) ?? '';
const [window, count, size, rounds] = numbers.map(Number) as [number, number, number, number];
const log: Log = { info: () => undefined, warn: () => undefined, error: () => undefined };
const link = new MqttLink({
  url: `mqtt://127.0.0.1:${port}`,
  vin: VIN,
  clientId: `${kind}-${process.pid}`,
  window,
  log,
});

function connected(told: () => void = () => undefined): Promise<void> {
  return new Promise((resolve) => {
    link.open({
      up: () => {
        told();
        resolve();
      },
      down: (reason) => {
        throw new Error(`the connection was lost: ${reason}`);
      },
      message: () => undefined,
    });
  });
}

type Publish = (topic: string, payload: Uint8Array) => Promise<unknown>;

async function ours(): Promise<Publish> {
  await connected();
  return (topic, payload) => link.publish({ topic, payload, retain: false });
}

async function mqttjs(): Promise<Publish> {
  const client = await connectAsync(`mqtt://127.0.0.1:${port}`, { protocolVersion: 5 });
  (client as { stream: { setNoDelay?(on: boolean): void } }).stream.setNoDelay?.(true);
  return (topic, payload) => client.publishAsync(topic, payload as Buffer, { qos: 1 });
}

function fromMemory(publish: Publish): Work {
  const topic = `vigie/1/${VIN}/up/telemetry`;
  const payload = Buffer.alloc(size);
  const round = async (): Promise<void> => {
    let [sent, acknowledged] = [0, 0];
    await new Promise<void>((resolve, reject) => {
      const next = (): void => {
        sent++;
        publish(topic, payload).then(() => {
          if (++acknowledged === count) resolve();
          else if (sent < count) next();
        }, reject);
      };
      while (sent < window && sent < count) next();
    });
  };
  return {
    round,
    check: async () => {
      await round();
      return String(count);
    },
  };
}

async function fromDisk(): Promise<Work> {
  // A contest starts several programs, and the previous one may still be exiting.
  const store = await openStore(join(directory, String(process.pid)));
  for (let backlog = 0; backlog < rounds * count; backlog++) {
    const seq = store.outbox.nextSeq(TELEMETRY);
    const payload = new Uint8Array(size).fill(seq);
    store.outbox.append({ class: TELEMETRY, seq, kind: 'telemetry', at: seq, retain: false, payload });
    if (backlog % 1000 === 0) await store.outbox.commit();
  }
  await store.outbox.commit();
  /** Number of messages that are left to send in this round. */
  let left = 0;
  let [underWay, acknowledged] = [0, 0];
  let done: () => void = () => undefined;
  const outbox = new Outbox(
    store.outbox,
    {
      get connected() {
        return link.connected;
      },
      publish: async (message) => {
        left--;
        underWay++;
        await link.publish(message);
        underWay--;
        if (++acknowledged === count) done();
      },
    },
    new SystemClock(),
    log,
    {
      vin: VIN,
      boot: 1,
      quality: () => 'ntp',
      window: () => Math.min(link.window, underWay + left),
      limit: Number.POSITIVE_INFINITY,
    },
  );
  await connected();
  const round = async (): Promise<void> => {
    acknowledged = 0;
    left = count;
    await new Promise<void>((resolve) => {
      done = resolve;
      outbox.linkUp();
    });
    // The removal of messages must be written to disk, too.
    await store.outbox.commit();
  };
  return {
    round,
    check: async () => {
      await round();
      return String(acknowledged);
    },
  };
}

await answer(kind === 'outbox' ? await fromDisk() : fromMemory(await (kind === 'mqttjs' ? mqttjs() : ours())));
process.exit(0);
