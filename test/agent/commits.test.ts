/** Which changes are committed together with the states of a command, and which soon after. */

import { expect, test } from 'vitest';
import { MemoryRecords } from '../../adapters/store/index.ts';
import { Agent } from '../../agent/agent.ts';
import { emptyLedger } from '../../agent/remotes/ledger.ts';
import { agentSettings } from '../../protocol/settings.ts';
import { type Slot, slotByPath } from '../../protocol/slots.ts';
import { downTopic } from '../../protocol/topics.ts';
import { bareProfile } from '../rig/bare-profile.ts';
import { VirtualClock } from '../rig/clock.ts';
import { committingStore } from '../rig/committing-store.ts';
import { KeptMemory } from '../rig/keeping.ts';
import { MemoryLog } from '../rig/log.ts';
import { commandOf, signed, VIN, verifierOf } from './remotes/rig.ts';

/** An agent with a disk whose commits contain both messages and states. */
async function setUp() {
  const clock = new VirtualClock();
  const memory = new KeptMemory();
  const store = committingStore(async () => memory.commit());
  const agent = new Agent(
    bareProfile(),
    {
      clock,
      records: new MemoryRecords(),
      memory,
      log: new MemoryLog(),
      store,
      link: { connected: true, publish: async () => undefined },
      actuator: { actions: new Set(), actuate: async () => undefined },
      verifier: verifierOf(),
      ledger: { data: emptyLedger, write: async () => undefined },
    },
    {
      vin: VIN,
      version: '1',
      boot: 1,
      settings: agentSettings({ outbox: { limit: 1e9 } }),
      quality: () => 'gnss',
      window: () => 100,
    },
  );
  agent.start();
  agent.up();
  await clock.settle(2_000, 100);
  const command = (): void =>
    agent.message(downTopic(VIN, 'remote'), signed(commandOf(clock, 'Doors', { state: 'Locked' })), undefined);
  const drive = (kmh: number): void => agent.status.write(slotByPath.get('kinetic.speed') as Slot, kmh, clock.now());
  const speed = (): unknown => (memory.recall('status/kinetic') as { kinetic?: { speed?: unknown } })?.kinetic?.speed;
  const commands = (): number => (memory.recall('remotes') as { places: number[] }).places.length;
  return { agent, clock, command, drive, speed, commands };
}

const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

test('a command is stored without waiting for recorders, whose state follows within a group interval', async () => {
  const { clock, command, drive, speed, commands } = await setUp();
  drive(50);
  command();
  await turn();
  expect([commands(), speed()]).toEqual([1, undefined]);
  await clock.settle(100);
  expect(speed()).toBe(50);
});

test('recorders are asked for their state ten times a second, however many commands arrive', async () => {
  const { clock, command, drive, speed, commands } = await setUp();
  drive(50);
  for (let n = 1; n <= 10; n++) {
    command();
    await turn();
    expect(commands()).toBe(n);
    clock.advance(10);
  }
  expect(speed()).toBe(50);
});

test('an agent that stops stores its latest readings', async () => {
  const { agent, command, drive, speed } = await setUp();
  command();
  await turn();
  drive(50);
  await agent.stop();
  expect(speed()).toBe(50);
});
