import { mkdtempSync, readFileSync, rmSync, watch } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { CloudClient } from '../../adapters/mqtt/index.ts';
import { decodeMessage } from '../../protocol/cbor/message.ts';
import { upFilter } from '../../protocol/topics.ts';
import { matchCddl } from '../protocol/cddl/matcher.ts';
import { Arrivals } from '../rig/arrivals.ts';
import { VigieProcess } from '../rig/bench.ts';
import { MosquittoRig } from '../rig/mosquitto.ts';
import { describePeer } from '../rig/peers.ts';
import { Sequences } from '../rig/sequences.ts';

const VIN = 'VF3VGEBENCH000001';

/** Resolves when the files in the directory have been written `times` times. */
function written(folder: string, times: number): Promise<void> {
  return new Promise((resolve) => {
    const watcher = watch(folder, { recursive: true }, () => {
      if (--times > 0) return;
      watcher.close();
      resolve();
    });
  });
}

describePeer('mosquitto', 'the bench through a broker outage and a SIGKILL', () => {
  const data = mkdtempSync(join(tmpdir(), 'vigie-outage-'));
  const broker = new MosquittoRig();
  const sequences = new Sequences();
  const payloads: Uint8Array[] = [];
  const arrivals = new Arrivals<ReturnType<typeof decodeMessage>>();
  let subscriber: CloudClient;
  let bench: VigieProcess;
  const start = () => new VigieProcess(['bench', '--data', data, '--broker', broker.url, '--log', 'info']);
  const next = async (count: number) => {
    for (let i = 0; i < count; i++) await arrivals.take();
  };

  beforeAll(async () => {
    await broker.start();
    subscriber = await CloudClient.connect(broker.url, { clientId: 'there-throughout' });
    await subscriber.subscribe(upFilter(VIN), (_topic, payload, { retained }) => {
      if (retained) return;
      sequences.take(payload);
      payloads.push(payload);
      arrivals.push(decodeMessage(payload));
    });
  });

  afterAll(async () => {
    await bench.end('SIGKILL');
    await subscriber.close();
    await broker.remove();
    rmSync(data, { recursive: true, force: true });
  });

  test('every sequence number arrives, and none with two contents', async () => {
    bench = start();
    await next(5);

    await broker.stop();
    await bench.says('"link.down"');
    await written(join(data, 'outbox'), 6);
    await broker.start();
    await bench.says(/"link\.up","waiting":[1-9]\d*/, bench.output.indexOf('"link.down"'));
    await next(8);

    await bench.end('SIGKILL');
    const before = [...sequences.boots];
    bench = start();
    await arrivals.take(({ kind, boot }) => kind === 'hello' && !before.includes(boot));
    await next(5);

    expect(await bench.end('SIGINT'), bench.output).toBe(0);
    // The bench ended after the last acknowledgement. Messages that the broker still holds for the test come before
    // this one.
    await new Promise<void>((resolve) => {
      void subscriber
        .subscribe('barrier', () => resolve())
        .then(() => subscriber.publish('barrier', new Uint8Array(1)));
    });
    expect(sequences.missing).toEqual([]);
    expect(sequences.conflicts).toEqual([]);
    const [first = 0] = before;
    expect([...sequences.boots]).toEqual([first, first + 1]);
    // It waited for 19 deliveries, and some of those may be repetitions.
    expect(sequences.messages).toBeGreaterThan(12);
    const cddl = readFileSync(new URL('../../protocol/generated/vigie.cddl', import.meta.url), 'utf8');
    for (const payload of payloads) expect(matchCddl(cddl, 'message', payload)).toEqual([]);
  });
});
