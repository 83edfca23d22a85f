/** Power cuts at chosen times. The cloud, which keeps its power, reports lost messages. */
import assert from 'node:assert/strict';
import type { Cloud, SentOrder } from './cloud.ts';
import type { Disks } from './disks.ts';
import { Machine } from './machine.ts';
import type { Platform } from './platforms.ts';
import { ACTUATION } from './scenario.ts';

/** State that the command has in the cloud when the power is cut, used in turn. */
const moments = ['Accepted', 'SentToVehicle', 'Success', 'readings after it'] as const;

/** Number of messages after a result until the power is cut, for the last of these states. */
const FURTHER = 3;

/** Output of the agent when it has connected to its broker. */
export const LINK_UP: RegExp = /"event":"link\.up"/;

export interface Site {
  readonly platform: Platform;
  readonly disks: Disks;
  readonly cloud: Cloud;
  /** Port of the cloud's broker on this machine. */
  readonly port: number;
}

/**
 * Boots the unit and cuts its power `count` times, then boots it again and shuts it down properly. After each boot, the
 * last command is sent again: an answer that was sent must not change, and the command must not be executed again.
 * @throws AssertionError if something that was acknowledged is lost, or is done twice
 */
export async function cutPower(site: Site, count: number, tell: (words: string) => void): Promise<void> {
  let last: SentOrder | undefined;
  for (let cut = 0; cut < count; cut++) {
    const machine = await bootAgent(site);
    if (last !== undefined) await askAgain(machine, site.cloud, last);
    const moment = moments[cut % moments.length] as (typeof moments)[number];
    last = await site.cloud.command('doors', 'lock');
    await reached(machine, site.cloud, last, moment);
    await machine.cut();
    tell(`power cut ${cut + 1} at ${moment}: ${site.cloud.sequences.messages} messages so far`);
  }
  const machine = await bootAgent(site);
  if (last !== undefined) await askAgain(machine, site.cloud, last);
  const { sequences } = site.cloud;
  await machine.until('all that is missing', () => (sequences.missing.length === 0 ? true : undefined));
  await machine.run('killall vigie; while pidof vigie >/dev/null; do sleep 0.2; done');
  await machine.powerOff();
  assert.deepEqual({ missing: sequences.missing, conflicts: sequences.conflicts }, { missing: [], conflicts: [] });
  assert.equal(sequences.boots.size, count + 1);
}

/** Boots a unit, and waits until its agent is connected. */
export async function bootAgent({ platform, disks, cloud, port }: Site): Promise<Machine> {
  const machine = await Machine.boot(platform, disks);
  cloud.heard = () => machine.nudge();
  await machine.run('car >/dev/null 2>&1 & true');
  await machine.start('vigie', `VIGIE_MQTT_URL=mqtt://10.0.2.2:${port} vigie run -c /opt/car/vigie.yaml`, LINK_UP);
  return machine;
}

/** Sends a command again that was in progress when the power was cut, as a broker does if it got no acknowledgement. */
async function askAgain(machine: Machine, cloud: Cloud, order: SentOrder): Promise<void> {
  const told = cloud.outcome(order);
  const from = cloud.received.length;
  await cloud.send(order);
  const answer = await machine.until('the recorded answer', () => cloud.outcome(order, from));
  if (told !== undefined) assert.equal(answer, told, 'an answer that was told has changed');
  // The body control unit has forgotten the state of the locks: a second execution would be visible on the bus.
  const actuated = machine.lines.filter((line) => line.startsWith('actuated'));
  assert.deepEqual(actuated, [], 'a command was carried out again');
}

async function reached(
  machine: Machine,
  cloud: Cloud,
  order: SentOrder,
  moment: (typeof moments)[number],
): Promise<void> {
  const state = moment === 'readings after it' ? 'Success' : moment;
  const told = (): boolean => cloud.states(order).includes(state) || cloud.outcome(order) !== undefined;
  await machine.until(state, () => (told() ? true : undefined));
  if (state === 'Success') assert.equal(cloud.outcome(order), 'Success');
  if (moment === 'readings after it') {
    const from = cloud.received.length;
    await machine.until('further messages', () => (cloud.received.length >= from + FURTHER ? true : undefined));
  }
  const actuated = machine.lines.filter((line) => line.startsWith('actuated')).length;
  assert.ok(actuated <= ACTUATION, `${actuated} frames were sent`);
}
