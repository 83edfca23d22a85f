/** Checks that our code reads exactly the frames that can-utils write to a bus. */
import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { filtersFor, passes } from '../../adapters/can/socketcan/index.ts';
import { BIT_RATE_SWITCH, ERROR, ERROR_STATE, EXTENDED, FD, REMOTE } from '../../agent/ports.ts';
import { Bus, type Checks, clock, pass, run, runBeside } from './rig.ts';

/** Writes a log for canplayer, in which frames are `gap` apart. */
export function writeLog(path: string, frames: Iterable<string>, gap = 0): number {
  let lines = '';
  let count = 0;
  for (const frame of frames) lines += `(${(1000 + count++ * gap).toFixed(6)}) vcan0 ${frame}\n`;
  writeFileSync(path, lines);
  return count;
}

/** Plays a log without its pauses. */
export function playFast(path: string): Promise<void> {
  return runBeside('canplayer', '-t', '-g', '0', '-I', path);
}

export const reading: Checks = {
  'classic frames of cansend arrive with identifier, content and kernel time': async () => {
    const bus = await Bus.open();
    const before = clock.now();
    for (const frame of ['123#DEADBEEF', '12345678#1122334455667788', '321#', '7FF#R4']) run('cansend', 'vcan0', frame);
    const frames = await bus.received(4);
    const after = clock.now();
    await bus.can.stop();
    assert.deepEqual(
      frames.map(({ id, flags, data }) => ({ id, flags, data })),
      [
        { id: 0x123, flags: 0, data: 'deadbeef' },
        { id: EXTENDED + 0x12345678, flags: 0, data: '1122334455667788' },
        { id: 0x321, flags: 0, data: '' },
        { id: REMOTE + 0x7ff, flags: 0, data: '00000000' },
      ],
    );
    for (const { at } of frames) assert.ok(at > before - 20 && at < after + 20, `${at} between ${before} and ${after}`);
    assert.ok(
      frames.some(({ at }) => !Number.isInteger(at)),
      'times have no fraction',
    );
  },

  'FD frames of cansend arrive with their flags': async () => {
    const bus = await Bus.open();
    const long = Array.from({ length: 64 }, (_, i) => (i * 3).toString(16).padStart(2, '0')).join('');
    for (const frame of [`123##1${long}`, `1ABCDEF0##2${long.slice(0, 24)}`, '100##0']) run('cansend', 'vcan0', frame);
    run('cansend', 'vcan0', '101#01');
    const frames = await bus.received(4);
    await bus.can.stop();
    assert.deepEqual(
      frames.map(({ id, flags, data }) => ({ id, flags, data })),
      [
        { id: 0x123, flags: FD | BIT_RATE_SWITCH, data: long },
        { id: EXTENDED + 0x1abcdef0, flags: FD | ERROR_STATE, data: long.slice(0, 24) },
        { id: 0x100, flags: FD, data: '' },
        { id: 0x101, flags: 0, data: '01' },
      ],
    );
  },

  'a log that canplayer plays arrives frame by frame': async () => {
    const bus = await Bus.open();
    const sent = Array.from({ length: 5000 }, (_, i) => {
      const id = i % 3 === 0 ? (i * 7919).toString(16).padStart(8, '0') : (i % 0x800).toString(16).padStart(3, '0');
      const bytes = Buffer.alloc(8);
      bytes.writeUInt32BE(i);
      return `${id.toUpperCase()}#${bytes.toString('hex', 0, 4 + (i % 5)).toUpperCase()}`;
    });
    writeLog('/run/mixed.log', sent);
    await playFast('/run/mixed.log');
    const frames = await bus.received(sent.length);
    await bus.can.stop();
    const text = frames.map(({ id, data }) => {
      const extended = id >= EXTENDED;
      const name = (extended ? id - EXTENDED : id).toString(16).padStart(extended ? 8 : 3, '0');
      return `${name}#${data}`.toUpperCase();
    });
    assert.deepEqual(text, sent);
    assert.equal(bus.count('dropped'), 0);
    for (let i = 1; i < frames.length; i++) assert.ok(frames[i]!.at >= frames[i - 1]!.at, 'times go back');
  },

  'what cangen makes is well formed': async () => {
    const bus = await Bus.open();
    await runBeside('cangen', 'vcan0', '-m', '-g', '0', '-n', '3000', '-I', 'r', '-L', 'r', '-D', 'r', '-p', '10');
    await bus.received(3000);
    await bus.can.stop();
    assert.equal(bus.count('malformed'), 0);
    assert.ok(bus.frames.some(({ flags }) => (flags & FD) !== 0) && bus.frames.some(({ flags }) => flags === 0));
  },

  'only the identifiers asked for pass the kernel, single ones and masks': async () => {
    const identifiers = [0x123, 0x7ff, 0, EXTENDED + 0x123, { id: EXTENDED + 0x18fef100, mask: 0x00ffff00 }];
    const bus = await Bus.open({ identifiers });
    const all = await Bus.open();
    const standard = Array.from({ length: 0x800 }, (_, id) => id.toString(16).padStart(3, '0'));
    const extended = ['00000123', '00000124', '18FEF121', '0CFEF1FF', '18FEF221', '1FFFFFFF', '00000000'];
    const count = writeLog(
      '/run/ids.log',
      [...standard, ...extended].map((id) => `${id}#01`),
    );
    await playFast('/run/ids.log');
    run('cansend', 'vcan0', '123#R');
    const passed = (await all.received(count + 1))
      .map(({ id }) => id)
      .filter((id) => passes(filtersFor(identifiers), id));
    await bus.received(passed.length);
    await pass(50);
    await Promise.all([bus.can.stop(), all.can.stop()]);
    assert.deepEqual(
      bus.frames.map(({ id }) => id),
      passed,
    );
    assert.deepEqual(passed, [0, 0x123, 0x7ff, EXTENDED + 0x123, EXTENDED + 0x18fef121, EXTENDED + 0xcfef1ff]);
  },

  'more identifiers than the kernel has filters: none is lost': async () => {
    const identifiers = Array.from({ length: 900 }, (_, i) => (i * 1103) % 0x800);
    const bus = await Bus.open({ identifiers });
    assert.equal(bus.health.state, 'running');
    const wanted = [...new Set(identifiers)].sort((a, b) => a - b);
    writeLog(
      '/run/many.log',
      wanted.map((id) => `${id.toString(16).padStart(3, '0')}#01`),
    );
    await playFast('/run/many.log');
    await bus.received(wanted.length);
    await bus.can.stop();
    assert.deepEqual(
      bus.frames.map(({ id }) => id),
      wanted,
    );
  },

  'no identifier asked for: nothing passes but errors': async () => {
    const bus = await Bus.open({ identifiers: [] });
    run('cansend', 'vcan0', '123#01');
    run('cansend', 'vcan0', '20000004#0001000000000000');
    await bus.received(1);
    await bus.can.stop();
    assert.deepEqual(
      bus.frames.map(({ id }) => id),
      [ERROR + 4],
    );
  },

  'error frames are delivered, counted by class and shown in health': async () => {
    const bus = await Bus.open();
    const errors = ['20000040', '20000002', '20000020', '20000008', '20000004'];
    for (const id of errors) run('cansend', 'vcan0', `${id}#0010000000000000`);
    const frames = await bus.received(errors.length);
    assert.deepEqual(
      frames.map(({ id }) => id.toString(16)),
      errors,
    );
    assert.equal(bus.health.state, 'waiting');
    assert.match(bus.health.reason ?? '', /bus-off/);
    run('cansend', 'vcan0', '20000100#0000000000000000');
    await bus.received(errors.length + 1);
    assert.equal(bus.health.state, 'running');
    await bus.can.stop();
    const { counts } = bus.health;
    const { busOff, arbitrationLost, notAcknowledged, protocolViolations, errorPassive, controllerRestarts } = counts;
    assert.deepEqual(
      [
        counts['errors'],
        busOff,
        arbitrationLost,
        notAcknowledged,
        protocolViolations,
        errorPassive,
        controllerRestarts,
      ],
      [6, 1, 1, 1, 1, 1, 1],
    );
  },
};
