/** The time becomes known while the agent runs. */

import { describe, expect, test } from 'vitest';
import { MemoryRecords, memoryOutboxStore } from '../../adapters/store/index.ts';
import { Agent } from '../../agent/agent.ts';
import type { OutgoingMessage } from '../../agent/ports.ts';
import { emptyLedger } from '../../agent/remotes/ledger.ts';
import { decodeMessage } from '../../protocol/cbor/message.ts';
import { type Channel, channelByPath } from '../../protocol/channels.ts';
import { shiftInstants } from '../../protocol/instants.ts';
import type { SourceMapping } from '../../protocol/profile.ts';
import { bodies, type ClockQuality, type Message } from '../../protocol/schema/message.ts';
import { agentSettings } from '../../protocol/settings.ts';
import { type Slot, slotByPath } from '../../protocol/slots.ts';
import { bareProfile } from '../rig/bare-profile.ts';
import { VirtualClock } from '../rig/clock.ts';
import { KeptMemory } from '../rig/keeping.ts';

const NOW = Date.UTC(2026, 5, 1, 12);
/** Clock at the start after the unit's battery was disconnected. */
const UNKNOWN = Date.UTC(1970, 0, 1, 0, 1);

function setUp() {
  const clock = new VirtualClock(UNKNOWN);
  const records = new MemoryRecords();
  const sent: Message[] = [];
  let quality: ClockQuality = 'none';
  const paths = ['alarm.trigger.type', 'kinetic.speed', 'key.present'];
  const agent = new Agent(
    bareProfile(
      paths.map((path): SourceMapping => {
        const plain = { path, message: 'M', signal: path, scale: 1, offset: 0, invalid: [], priority: 0 };
        if (path === 'key.present') return { ...plain, timeout: 5_000 };
        return path === 'kinetic.speed' ? plain : { ...plain, map: { 0: 'NoBreakIn', 1: 'VehicleLifting' } };
      }),
    ),
    {
      clock,
      records,
      memory: new KeptMemory(),
      log: {
        info: () => undefined,
        warn: () => undefined,
        error: (event, fields) => expect.fail(`${event} ${JSON.stringify(fields)}`),
      },
      store: memoryOutboxStore(),
      link: {
        connected: true,
        publish: async ({ payload }: OutgoingMessage) => void sent.push(decodeMessage(payload)),
      },
      actuator: { actions: new Set(), actuate: async () => undefined },
      verifier: { key: () => undefined, verify: () => false, digest: () => '' },
      ledger: { data: emptyLedger, write: async () => undefined },
    },
    {
      vin: 'VF3TEST0000000001',
      version: '1',
      boot: 1,
      settings: agentSettings({ outbox: { limit: 1e9 } }),
      quality: () => quality,
      window: () => 100,
    },
  );
  agent.start();
  agent.up();
  const sink = agent.sink();
  const give = (signal: number, value: number) => {
    sink.reading(signal, value, value, clock.now());
    sink.settled(clock.now());
  };
  const known = (wall: number) => {
    clock.step(wall - clock.now());
    quality = 'gnss';
  };
  const of = <K extends Message['kind']>(kind: K) => sent.filter((message) => message.kind === kind) as Message<K>[];
  return { agent, clock, records, give, known, of };
}

describe('the time becomes known', () => {
  test('when the time becomes known, records, Status and stored state are corrected, and the receiver gets the offset', async () => {
    const { agent, clock, records, give, known, of } = setUp();
    give(0, 0);
    await clock.settle(5000);
    give(0, 1);
    give(1, 50);
    await clock.settle(5000);
    const by = NOW - clock.now();
    known(NOW);
    await clock.settle(2000);
    const [early, late] = of('alarm');
    expect(early).toMatchObject({ clock: 'none', body: { trigger: { startAt: UNKNOWN + 5000 } } });
    expect(late).toMatchObject({ clock: 'gnss', body: { trigger: { startAt: NOW - 5000 }, createdAt: NOW - 5000 } });
    expect(late?.body.id).toBe(early?.body.id);
    expect(records.get('alarm', late?.body.id ?? '')?.record).toEqual(late?.body);
    expect(of('hello').map(({ body }) => body.behind)).toEqual([undefined, by]);
    expect(of('hello')[1]?.body.startedAt).toBe(NOW - 10_000);
    expect(agent.status.contents().kinetic).toEqual({ createdAt: NOW - 5000, speed: 50 });
    for (const { at } of records.list('telemetry')) expect(at).toBeGreaterThan(NOW - 20_000);
  });

  test('the receiver gets corrected times of Status even if no value changes any more', async () => {
    const { agent, clock, give, known, of } = setUp();
    give(1, 50);
    // All values have been sent by then.
    await clock.settle(60_000);
    known(NOW);
    await clock.settle(2000);
    expect(of('status').at(-1)?.body).toEqual({ full: true, status: agent.status.contents() });
    const { length } = of('status');
    await clock.settle(600_000);
    expect(of('status')).toHaveLength(length);
  });

  test('the hello of each connection reports the highest number sent per class', async () => {
    const { agent, clock, give, known, of } = setUp();
    known(NOW);
    await clock.settle(2000);
    give(0, 0);
    give(0, 1);
    await clock.settle(2000);
    agent.down('the broker stopped');
    agent.up();
    await clock.settle(2000);
    const [last] = of('alarm');
    const hellos = of('hello');
    expect(hellos).toHaveLength(3);
    expect(hellos.at(-1)?.body.numbers).toEqual(
      expect.arrayContaining([{ class: 1, first: 0, below: (last?.seq ?? Number.NaN) + 1 }]),
    );
  });

  test('a step of a clock that was already right corrects nothing', async () => {
    const { clock, give, known, of } = setUp();
    known(NOW);
    await clock.settle(2000);
    give(0, 0);
    give(0, 1);
    known(NOW + 3_600_000);
    await clock.settle(2000);
    expect(of('alarm')).toHaveLength(1);
    expect(of('hello')).toHaveLength(2);
  });

  test.each([-3_600_000, -60_000, -1_500, 60_000])(
    'readings keep their age after a clock step of %i ms',
    async (by) => {
      const { agent, clock, give, known } = setUp();
      const speed = slotByPath.get('kinetic.speed') as Slot;
      const key = channelByPath.get('key.present') as Channel;
      agent.status.expireAfter(speed, 5_000);
      known(NOW);
      await clock.settle(2_000);
      give(1, 50);
      give(2, 1);
      const isFresh = () => [agent.status.fresh(speed, clock.now()), agent.channels.fresh(key, clock.now())];
      await clock.settle(3_000);
      clock.step(by);
      await clock.settle(1_000);
      const fresh = [isFresh()];
      // The bus is silent from here on. By the clock that was set back, the time of the reading comes a second time.
      for (let second = 0; second < 4_000; second += 2) {
        await clock.settle(2_000, 2_000);
        fresh.push(isFresh());
      }
      expect(fresh[0]).toEqual([true, true]);
      expect(fresh.slice(1).flat()).not.toContain(true);
    },
  );
});

test('a correction moves every timestamp that the schemas have, and nothing else', () => {
  const alert = {
    createdAt: 1000,
    id: 'a-1',
    active: false,
    type: 'EngineFault',
    startedAt: 2000,
    endAt: 3000,
    startPosition: {
      type: 'Feature',
      geometry: { type: 'Point', coordinates: [2, 48] },
      properties: { createdAt: 500, heading: 90 },
    },
  };
  expect(shiftInstants(bodies.alert, alert, 10)).toEqual({
    ...alert,
    createdAt: 1010,
    startedAt: 2010,
    endAt: 3010,
    startPosition: { ...alert.startPosition, properties: { createdAt: 510, heading: 90 } },
  });
});
