/** A viewer watches the car: readings are sent at once until the lease ends. */

import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { MemoryRecords, memoryOutboxStore } from '../../../adapters/store/index.ts';
import { Agent } from '../../../agent/agent.ts';
import type { OutgoingMessage } from '../../../agent/ports.ts';
import { WatchLease } from '../../../agent/power/watch-lease.ts';
import { emptyLedger } from '../../../agent/remotes/ledger.ts';
import { decodeMessage } from '../../../protocol/cbor/message.ts';
import type { SourceMapping } from '../../../protocol/profile.ts';
import type { Message } from '../../../protocol/schema/message.ts';
import { agentSettings } from '../../../protocol/settings.ts';
import { downTopic } from '../../../protocol/topics.ts';
import { decodeWatch, encodeWatch } from '../../../protocol/watch.ts';
import { bareProfile } from '../../rig/bare-profile.ts';
import { VirtualClock } from '../../rig/clock.ts';
import { KeptMemory } from '../../rig/keeping.ts';

const VIN = 'VF3TEST0000000001';
const NOW = Date.UTC(2026, 5, 1, 12);
const MINUTE = 60_000;

function setUp() {
  const clock = new VirtualClock(NOW);
  const records = new MemoryRecords();
  const sent: Message[] = [];
  const warnings: string[] = [];
  const paths = ['kinetic.speed', 'lastPosition.latitude', 'lastPosition.longitude'];
  const agent = new Agent(
    bareProfile(
      paths.map((path): SourceMapping => {
        return { path, message: 'M', signal: path, scale: 1, offset: 0, invalid: [], priority: 0 };
      }),
    ),
    {
      clock,
      records,
      memory: new KeptMemory(),
      log: {
        info: () => undefined,
        warn: (event) => void warnings.push(event),
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
      quality: () => 'gnss',
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
  const of = <K extends Message['kind']>(kind: K) => sent.filter((message) => message.kind === kind) as Message<K>[];
  return { agent, clock, give, of, warnings };
}

type Rig = ReturnType<typeof setUp>;

function say(agent: Agent, payload: Uint8Array): void {
  agent.message(downTopic(VIN, 'watch'), payload, undefined);
}

/** Drives north for this many seconds with increasing speed. */
async function drive({ clock, give }: Rig, seconds: number): Promise<void> {
  for (let second = 0; second < seconds; second++) {
    const t = clock.now() - NOW;
    give(0, 20 + ((t / 1000) % 100));
    give(1, 45 + t / 1e7);
    give(2, 2);
    await clock.settle(1000, 500);
  }
}

/** Age of the first reading of each telemetry message when it was sent, ms. */
function ages(rig: Rig, from: number): number[] {
  return rig
    .of('telemetry')
    .filter(({ at }) => at > from)
    .map(({ at, body }) => at - body.start);
}

describe('watched cars', () => {
  test('a watched car sends readings and waypoints within two seconds, and within a minute when the lease has ended', async () => {
    const rig = setUp();
    await drive(rig, 59);
    expect(rig.of('telemetry')).toEqual([]);
    const from = rig.clock.now();
    const statuses = rig.of('status').length;
    say(rig.agent, encodeWatch({ until: from + 2 * MINUTE }));
    await drive(rig, 100);
    const watched = ages(rig, from).slice(1);
    expect(watched.length).toBeGreaterThan(40);
    expect(Math.max(...watched)).toBeLessThanOrEqual(3_000);
    expect(rig.of('status').length - statuses).toBeGreaterThan(30);
    const points = rig.of('waypoint').filter(({ at }) => at > from);
    for (const { at, body } of points.slice(1)) expect(at - (body.points[0]?.at ?? 0)).toBeLessThanOrEqual(3_000);

    await drive(rig, 30);
    const over = rig.clock.now();
    await drive(rig, 150);
    expect(ages(rig, over).length).toBeLessThanOrEqual(3);
    expect(Math.max(...ages(rig, over))).toBeGreaterThan(50_000);
  });

  test('an invalid watch message is ignored and logged', async () => {
    const rig = setUp();
    say(rig.agent, new Uint8Array([0xff]));
    say(rig.agent, new Uint8Array(1_000));
    say(rig.agent, new Uint8Array());
    say(rig.agent, encodeWatch({ until: NOW - 1 }));
    expect(rig.warnings).toEqual(Array.from({ length: 3 }, () => 'downlink.malformed'));
    await drive(rig, 30);
    expect(rig.of('telemetry')).toEqual([]);
  });
});

describe('watch leases', () => {
  test('a lease ends at the latest requested time, at most an hour after its request', () => {
    const step = fc.record({
      until: fc.integer({ min: -7_200_000, max: 20_000_000 }),
      pass: fc.integer({ min: 0, max: 4_000_000 }),
    });
    fc.assert(
      fc.property(fc.array(step, { maxLength: 20 }), (steps) => {
        const clock = new VirtualClock(NOW);
        const audience = new WatchLease(clock);
        let end = Number.NEGATIVE_INFINITY;
        for (const { until, pass } of steps) {
          audience.watch(clock.now() + until);
          end = Math.max(end, clock.now() + Math.min(until, 3_600_000));
          clock.advance(pass);
          expect(audience.watches).toBe(clock.now() < end);
          expect(audience.patience(60_000)).toBe(clock.now() < end ? 2_000 : 60_000);
          expect(audience.patience(1_000)).toBe(1_000);
        }
      }),
    );
  });

  test('a clock step does not change a running lease', () => {
    const clock = new VirtualClock(NOW);
    const audience = new WatchLease(clock);
    audience.watch(NOW + MINUTE);
    clock.step(-86_400_000);
    clock.advance(MINUTE - 1);
    expect(audience.watches).toBe(true);
    clock.advance(1);
    expect(audience.watches).toBe(false);
  });

  test('a watch message is decoded as it was encoded, and anything else gets a named error', () => {
    fc.assert(
      fc.property(fc.integer({ min: 0, max: 8.64e15 }), (until) => {
        expect(decodeWatch(encodeWatch({ until }))).toEqual({ until });
      }),
    );
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 400 }), (bytes) => {
        try {
          expect(decodeWatch(bytes).until).toBeGreaterThanOrEqual(0);
        } catch (error) {
          expect(error).toMatchObject({ code: expect.stringMatching(/^message\./) });
        }
      }),
    );
  });
});
