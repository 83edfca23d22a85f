/** Which frames on a bus show that the car is awake. */

import { expect, test } from 'vitest';
import { MemoryRecords, memoryOutboxStore } from '../../../adapters/store/index.ts';
import { Agent } from '../../../agent/agent.ts';
import { ERROR, type FrameBatch, SENT } from '../../../agent/ports.ts';
import { BusActivity } from '../../../agent/power/bus-activity.ts';
import { emptyLedger } from '../../../agent/remotes/ledger.ts';
import { agentSettings } from '../../../protocol/settings.ts';
import { bareProfile } from '../../rig/bare-profile.ts';
import { VirtualClock } from '../../rig/clock.ts';
import { KeptMemory } from '../../rig/keeping.ts';

/**
 * From linux/can/error.h: no acknowledgement of a transmission. On a bus of sleeping nodes no frame is acknowledged.
 */
const CAN_ERR_ACK = 0x20;
const FRAME = 0x123;

/** @param sends whether the unit can send, and so may receive its own frames. If not, the source is a log. */
function setUp(sends: boolean) {
  const clock = new VirtualClock();
  const rests: boolean[] = [];
  const agent = new Agent(
    bareProfile(),
    {
      clock,
      records: new MemoryRecords(),
      memory: new KeptMemory(),
      log: {
        info: () => undefined,
        warn: () => undefined,
        error: (event, fields) => expect.fail(`${event} ${JSON.stringify(fields)}`),
      },
      store: memoryOutboxStore(),
      link: { connected: true, publish: async () => undefined },
      actuator: { actions: new Set(), actuate: async () => undefined },
      verifier: { key: () => undefined, verify: () => false, digest: () => '' },
      ledger: { data: emptyLedger, write: async () => undefined },
      ...(sends ? { activity: new BusActivity(clock, 5_000) } : {}),
      rest: (asleep) => void rests.push(asleep),
    },
    {
      vin: 'VF3TEST0000000001',
      version: '1',
      boot: 1,
      settings: agentSettings({ power: { standbyFor: 10_000, busSilentAfter: 5_000 } }),
      quality: () => 'gnss',
      window: () => 100,
    },
  );
  agent.start();
  const intake = agent.intake(() => ({ decode: () => undefined }));
  /** Receives a batch of frames with these identifiers. An empty batch is a spurious wake-up. */
  const hear = (ids: readonly number[], flags = 0): void => {
    const batch: FrameBatch = {
      count: ids.length,
      at: new Float64Array(ids.length).fill(clock.now()),
      id: Uint32Array.from(ids),
      bus: new Uint8Array(ids.length),
      flags: new Uint8Array(ids.length).fill(flags),
      length: new Uint8Array(ids.length).fill(8),
      offset: Uint32Array.from(ids, (_, i) => 8 * i),
      data: new Uint8Array(8 * ids.length),
    };
    intake(batch);
  };
  const asleep = (): boolean | undefined => rests.at(-1);
  return { clock, hear, asleep };
}

const UNACKNOWLEDGED = (ERROR | CAN_ERR_ACK) >>> 0;

test.each([true, false])(
  'controller errors neither keep the unit awake nor wake it, but a frame does (%j)',
  async (sends) => {
    const { clock, hear, asleep } = setUp(sends);
    for (let second = 0; second < 20; second++) {
      hear([UNACKNOWLEDGED]);
      await clock.settle(1_000);
    }
    expect(asleep()).toBe(true);
    hear([UNACKNOWLEDGED, UNACKNOWLEDGED]);
    hear([]);
    expect(asleep()).toBe(true);
    hear([UNACKNOWLEDGED, FRAME]);
    expect(asleep()).toBe(false);
  },
);

test('a frame that the unit sent itself neither keeps it awake nor wakes it, except in a log', async () => {
  for (const sends of [true, false]) {
    const { clock, hear, asleep } = setUp(sends);
    for (let second = 0; second < 20; second++) {
      hear([FRAME, FRAME], SENT);
      await clock.settle(1_000);
    }
    expect(asleep()).toBe(sends);
    await clock.settle(30_000);
    expect(asleep()).toBe(true);
    hear([FRAME], SENT);
    expect(asleep()).toBe(sends);
    hear([FRAME]);
    expect(asleep()).toBe(false);
  }
});
