/**
 * `npm run outage`: runs a minute of the bench on a real Mosquitto that is stopped from second 15 to 30. The agent is
 * killed (SIGKILL) at second 40 and restarted. Prints the messages that a permanent subscriber received, and fails if a
 * sequence number is missing or arrived with two contents. The test suite includes an event-driven short form.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as until } from 'node:timers/promises';
import { CloudClient } from '../../adapters/mqtt/index.ts';
import { upFilter } from '../../protocol/topics.ts';
import { VigieProcess } from '../../test/rig/bench.ts';
import { MosquittoRig } from '../../test/rig/mosquitto.ts';
import { Sequences } from '../../test/rig/sequences.ts';
import type { RunnableScenario } from './scenario.ts';

const VIN = 'VF3VGEBENCH000001';
export const outage: RunnableScenario<Readonly<Record<string, never>>> = {
  options: {},
  async run() {
    const data = mkdtempSync(join(tmpdir(), 'vigie-outage-'));
    const broker = new MosquittoRig();
    await broker.start();
    const sequences = new Sequences();
    const subscriber = await CloudClient.connect(broker.url, { clientId: 'there-throughout' });
    await subscriber.subscribe(upFilter(VIN), (_topic, payload, { retained }) => {
      if (!retained) sequences.take(payload);
    });

    const began = performance.now();
    const at = async (second: number, what: string): Promise<void> => {
      await until(Math.max(0, second * 1000 - (performance.now() - began)));
      console.log(`${String(second).padStart(2)} s: ${what} (${sequences.messages} messages so far)`);
    };
    const start = () => new VigieProcess(['bench', '--data', data, '--broker', broker.url]);

    let bench = start();
    await at(15, 'broker stops');
    await broker.stop();
    await at(30, 'broker starts');
    await broker.start();
    await at(40, 'SIGKILL to the agent');
    await bench.end('SIGKILL');
    bench = start();
    await at(60, 'Ctrl-C');
    const status = await bench.end('SIGINT');
    await until(1_000);

    const { deliveries, messages, duplicates, missing, conflicts } = sequences;
    console.log(
      `${messages} messages in ${deliveries} deliveries (${duplicates} repeated by QoS 1), ` +
        `${missing.length} missing, ${conflicts.length} with two contents, boots ${[...sequences.boots].join(' and ')}`,
    );
    await subscriber.close();
    await broker.remove();
    rmSync(data, { recursive: true, force: true });
    return missing.length + conflicts.length > 0 || status !== 0 ? [...missing, ...conflicts, bench.output] : [];
  },
};
