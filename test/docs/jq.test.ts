/** The filters of docs/receiving.md, applied to the output of `vigie watch` for a driving car. */
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { CloudClient } from '../../adapters/mqtt/index.ts';
import type { OutgoingMessage } from '../../agent/ports.ts';
import { type CloudLink, createAgent } from '../../assembly/library/index.ts';
import { simulatedCar, VirtualClock } from '../../assembly/library/testing.ts';
import { CarDecoder } from '../../protocol/receiver.ts';
import { AedesRig } from '../rig/aedes.ts';
import { VigieProcess } from '../rig/bench.ts';
import { describePeer } from '../rig/peers.ts';

const VIN = 'VF3VGEBENCH000001';
const page = readFileSync(new URL('../../docs/receiving.md', import.meta.url), 'utf8');

/** A node of the Node-RED flow on the page. */
interface FlowNode {
  readonly id: string;
  readonly type: string;
  readonly command?: string;
  readonly wires: readonly (readonly string[])[];
}

/** Messages of the bench car in two minutes. */
async function twoMinutes(): Promise<OutgoingMessage[]> {
  const messages: OutgoingMessage[] = [];
  const link: CloudLink = {
    connected: true,
    open: (events) => events.up(),
    publish: async (message) => void messages.push(message),
    close: async () => undefined,
  };
  const clock = new VirtualClock();
  const agent = await createAgent({ vin: VIN, profile: 'bench', sources: [simulatedCar({ clock })], link, clock });
  await agent.start();
  await clock.settle(120_000, 100);
  await agent.stop();
  return messages;
}

test('the Node-RED flow runs the command of the page, and each of its wires ends at a node', () => {
  const flow = JSON.parse(/^```json\n([\s\S]*?)^```/m.exec(page)?.[1] ?? '[]') as readonly FlowNode[];
  const command = flow.find(({ type }) => type === 'exec')?.command ?? '';
  expect(page).toContain(`    ${command} |\n`);
  const ids = flow.map(({ id }) => id);
  const ends = flow.flatMap(({ wires }) => wires.flat());
  expect(ends.length).toBe(flow.length - 1);
  expect(ends.filter((end) => !ids.includes(end))).toEqual([]);
});

describePeer('jq', 'jq', () => {
  test('the filters of the page extract the speeds of all cars and the speed readings from the output of watch', async () => {
    const [speeds, readings, ...more] = [...page.matchAll(/jq (-[rc]) '([^']+)'/g)].map(
      ([, option = '', filter = '']) => [option, filter],
    );
    expect(more).toEqual([]);
    const messages = await twoMinutes();
    const broker = new AedesRig();
    await broker.start();
    const car = await CloudClient.connect(broker.url);
    const watching = new VigieProcess(['watch', '+', '--broker', broker.url, '--format', 'json']);
    try {
      await watching.says('watching all cars');
      for (const { topic, payload } of messages) await car.publish(topic, payload);
      await watching.says(new RegExp(`^(?:\\{.*\\n[^{]*){${messages.length}}`, 'm'));
    } finally {
      await watching.end('SIGKILL');
      await car.close();
      await broker.stop();
    }
    const input = watching.output.replaceAll(/^[^{].*\n/gm, '');
    const printed = (words: readonly string[] = []): string[] =>
      execFileSync('jq', words, { input, encoding: 'utf8' }).trimEnd().split('\n');

    const decoder = new CarDecoder();
    const decoded = messages.map(({ payload }) => decoder.decode(payload));
    const shown = decoded.flatMap((message) =>
      message.kind === 'status' && message.body.status.kinetic?.speed !== undefined
        ? [`${VIN}\t${message.body.status.kinetic.speed}`]
        : [],
    );
    expect(shown.length).toBeGreaterThan(0);
    expect(printed(speeds)).toEqual(shown);
    const series = decoded.flatMap(({ kind, body }) =>
      kind === 'telemetry'
        ? body.series.filter(({ path }) => path === 'kinetic.speed').map(({ at, values }) => ({ vin: VIN, at, values }))
        : [],
    );
    expect(series.flatMap(({ values }) => values).length).toBeGreaterThan(10);
    expect(printed(readings).map((line) => JSON.parse(line))).toEqual(series);
  });
});
