/** Required behaviour of the unit on a real bus with a broker: one sentence for each requirement, in order. */
import assert from 'node:assert/strict';
import { upTopic } from '../../protocol/topics.ts';
import { type Cloud, VIN } from './cloud.ts';
import { speeds } from './disks.ts';
import type { Machine } from './machine.ts';

/** Number of frames that one actuation sends, see car/profile.yaml. */
export const ACTUATION = 3;

interface Series {
  readonly path: string;
  readonly values: readonly unknown[];
}

/** Checks in order, by the sentence that each verifies. */
export type UnitScenario = Readonly<Record<string, (machine: Machine, cloud: Cloud) => Promise<void>>>;

/** Returns all values of a path that were reported, starting at message number `from`. */
export function readings(cloud: Cloud, path: string, from = 0): readonly unknown[] {
  return cloud.received
    .slice(from)
    .filter(({ topic }) => topic === upTopic(VIN, 'telemetry'))
    .flatMap(({ body }) => (body as { series: readonly Series[] }).series)
    .filter((series) => series.path === path)
    .flatMap(({ values }) => values);
}

/** Resolves when the condition holds. Checks it again after each message and each line of the console. */
async function holds(machine: Machine, what: string, condition: () => boolean): Promise<void> {
  await machine.until(what, () => (condition() ? true : undefined));
}

/** Returns the frames to the body printed since line `from`. The last may follow the published outcome. */
function actuated(machine: Machine, from: number): readonly string[] {
  return machine.lines.slice(from).filter((line) => line.startsWith('actuated'));
}

export const scenario: UnitScenario = {
  'what canplayer plays is decoded and published': async (machine, cloud) => {
    const heard = () => new Set(readings(cloud, 'kinetic.speed'));
    await holds(machine, 'five speeds', () => heard().size >= 5);
    const played = new Set(speeds.map((speed) => speed / 100));
    assert.deepEqual(
      [...heard()].filter((speed) => !played.has(speed as number)),
      [],
    );
  },

  'what isotpsend answers in several frames is asked for and published': async (machine, cloud) => {
    const path = 'engines.Thermic.extension.thermic.air.temp';
    await holds(machine, 'the temperature', () => readings(cloud, path).length > 0);
    assert.deepEqual(new Set(readings(cloud, path)), new Set([23]));
  },

  'a signed command is carried out on the bus and confirmed by what the car then says': async (machine, cloud) => {
    const from = machine.lines.length;
    const lock = await cloud.command('doors', 'lock');
    await holds(machine, 'the outcome', () => cloud.outcome(lock) !== undefined);
    // On a slow machine the bus may have been silent for so long that the command wakes the car.
    const waking: readonly unknown[] = ['WakingUpVehicle', 'CheckingVehicle'];
    const states = cloud.states(lock).filter((state) => !waking.includes(state));
    assert.deepEqual(states, ['Accepted', 'SentToVehicle', 'Success']);
    await holds(machine, 'its frames', () => actuated(machine, from).length >= ACTUATION);
    assert.deepEqual(
      actuated(machine, from).filter((line) => !line.startsWith('actuated 210#01')),
      [],
    );
    assert.equal(actuated(machine, from).length, ACTUATION);
  },

  'a command that comes again is answered again and not carried out': async (machine, cloud) => {
    const from = machine.lines.length;
    const unlock = await cloud.command('doors', 'unlock');
    await holds(machine, 'the outcome', () => cloud.outcome(unlock) !== undefined);
    assert.equal(cloud.outcome(unlock), 'Success');
    await holds(machine, 'its frames', () => actuated(machine, from).length >= ACTUATION);
    const [lines, messages] = [machine.lines.length, cloud.received.length];
    await cloud.send(unlock);
    await holds(machine, 'the answer', () => cloud.outcome(unlock, messages) !== undefined);
    assert.equal(cloud.outcome(unlock, messages), 'Success');
    assert.deepEqual(actuated(machine, lines), []);
  },

  'the interface goes away and comes back': async (machine, cloud) => {
    const lines = machine.lines.length;
    await machine.run('ip link set vcan0 down');
    await machine.says(/^vigie: .*vcan0: the interface is down/, lines);
    await machine.run('ip link set vcan0 up');
    await machine.says(/^vigie: .*can\.open/, lines);
    const from = cloud.received.length;
    await holds(machine, 'speeds again', () => readings(cloud, 'kinetic.speed', from).length >= 3);
  },
};
