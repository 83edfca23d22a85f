/** Checks with counters in the frames that no frames are lost, except those that the kernel reports as dropped. */
import assert from 'node:assert/strict';
import { readFileSync, writeFileSync } from 'node:fs';
import { SocketCan } from '../../adapters/can/socketcan/index.ts';
import type { FrameBatch } from '../../agent/ports.ts';
import { playFast, writeLog } from './reading.ts';
import { addInterface, Bus, type Checks, clock, droppedBy, pass, runBeside, tc, until } from './rig.ts';

function* counted(count: number): Generator<string> {
  for (let i = 0; i < count; i++)
    yield `${(i % 0x700).toString(16).padStart(3, '0')}#${i.toString(16).padStart(8, '0')}`;
}

/** Checks the counters that {@link counted} puts into frames. */
class Counter {
  frames = 0;
  lost = 0;
  #next = 0;

  readonly take = ({ count, offset, data }: FrameBatch): void => {
    const view = new DataView(data.buffer, data.byteOffset);
    for (let i = 0; i < count; i++) {
      const value = view.getUint32(offset[i] as number);
      this.frames++;
      this.lost += value - this.#next;
      this.#next = value + 1;
    }
  };
}

/** Result of playing frames at a given rate. */
export interface Load {
  readonly sent: number;
  readonly received: number;
  /** Number of counter values that are missing among the received ones. */
  readonly missing: number;
  /** Number of frames that were dropped at the sockets and before them, as counted by the kernel. */
  readonly dropped: number;
  /** Duration of playback in s. */
  readonly seconds: number;
  /** Processor time of the reader in s. */
  readonly processor: number;
}

/** Plays `rate` frames/s for `seconds` s on each of the buses at the same time. Returns the actual duration in s. */
export async function play(names: readonly string[], rate: number, seconds: number): Promise<number> {
  const path = '/run/load.log';
  let time = 0;
  let lines = '';
  for (const frame of counted(rate * seconds)) {
    lines += `(${(1000 + time).toFixed(6)}) vcan0 ${frame}\n`;
    time += 1 / rate;
  }
  writeFileSync(path, lines);
  const began = clock.monotonic();
  await Promise.all(names.map((name) => runBeside('canplayer', '-g', '1', '-I', path, `${name}=vcan0`)));
  return (clock.monotonic() - began) / 1000;
}

/** Reads the buses as the agent does, while `rate` frames/s are played on each of them for `seconds` s. */
export async function load(names: readonly string[], rate: number, seconds: number): Promise<Load> {
  const counters = names.map(() => new Counter());
  const sources = names.map((name) => new SocketCan({ interface: name, bus: name, clock }));
  await Promise.all(sources.map((source, i) => source.start((counters[i] as Counter).take)));
  const before = process.cpuUsage();
  const lasted = await play(names, rate, seconds);
  const { user, system } = process.cpuUsage(before);
  const sent = names.length * rate * seconds;
  const received = (): number => counters.reduce((sum, { frames }) => sum + frames, 0);
  const dropped = (): number => sources.reduce((sum, source) => sum + droppedBy(source), 0);
  await until(
    `${sent} frames`,
    () => received() + dropped() >= sent,
    () => JSON.stringify({ counters, health: sources.map((source) => source.health().counts) }),
  );
  const result = {
    sent,
    received: received(),
    missing: counters.reduce((sum, { lost }) => sum + lost, 0),
    dropped: dropped(),
    seconds: lasted,
    processor: (user + system) / 1e6,
  };
  await Promise.all(sources.map((source) => source.stop()));
  return result;
}

/** Like {@link load}, on `buses` buses, of which vcan0 already exists. Fails if a frame is lost. Prints the cost. */
async function allOf(buses: number, rate: number, seconds: number): Promise<void> {
  const names = Array.from({ length: buses }, (_, i) => `vcan${i}`);
  for (const name of names.slice(1)) addInterface(name);
  const { sent, received, missing, dropped, seconds: lasted, processor } = await load(names, rate, seconds);
  assert.deepEqual({ received, missing, dropped }, { received: sent, missing: 0, dropped: 0 });
  const [speed, share] = [Math.round(sent / lasted), ((processor / lasted) * 100).toFixed(1)];
  console.log(`         ${speed} frames/s on ${buses} bus(es) for ${lasted.toFixed(1)} s: ${share} % of the core`);
}

export function loadChecks(seconds: number): Checks {
  return {
    'a flood of 20,000 frames: received and dropped are all': async () => {
      const bus = await Bus.open();
      const count = writeLog('/run/flood.log', counted(20_000));
      await playFast('/run/flood.log');
      await until(
        'all',
        () => bus.frames.length + bus.dropped >= count,
        () => JSON.stringify(bus.health),
      );
      await bus.can.stop();
      assert.equal(bus.frames.length + bus.dropped, count);
      console.log(`         ${bus.frames.length} received, ${bus.dropped} dropped`);
    },

    'a queue that is too small: every dropped frame is counted': async () => {
      const bus = await Bus.open({ receiveBuffer: 2048 });
      const count = writeLog('/run/flood.log', counted(3000));
      // No reader runs while the player does, as if the process were blocked.
      const play = playFast('/run/flood.log');
      const end = clock.monotonic() + 1500;
      while (clock.monotonic() < end);
      await play;
      await until(
        'all',
        () => bus.frames.length + bus.dropped >= count,
        () => JSON.stringify(bus.health),
      );
      const dropped = bus.dropped;
      await pass(20);
      await bus.can.stop();
      assert.ok(dropped > 0, 'none was dropped');
      assert.equal(bus.frames.length + bus.dropped, count);
    },

    'what is dropped on the way to the sockets is counted': async () => {
      // A shaper releases frames in bursts, but the processor accepts only two at a time.
      const limit = '/proc/sys/net/core/netdev_max_backlog';
      const usual = readFileSync(limit, 'utf8');
      tc('qdisc add dev vcan0 root tbf rate 160kbit burst 1600 limit 1000000');
      writeFileSync(limit, '2');
      try {
        const bus = await Bus.open();
        const count = writeLog('/run/flood.log', counted(3000));
        await playFast('/run/flood.log');
        await until(
          'all',
          () => bus.frames.length + bus.dropped >= count,
          () => JSON.stringify(bus.health),
        );
        await bus.can.stop();
        assert.ok(bus.count('interfaceDropped') > 0, 'none was dropped');
        assert.equal(bus.frames.length + bus.dropped, count);
      } finally {
        writeFileSync(limit, usual);
      }
    },

    '2,000 frames/s': () => allOf(1, 2000, Math.min(seconds, 5)),
    'four buses of 4,000 frames/s each: none is lost': () => allOf(4, 4000, seconds),
  };
}
