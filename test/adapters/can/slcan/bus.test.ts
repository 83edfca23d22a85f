import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { afterAll, describe, expect, it } from 'vitest';
import { writeFrame } from '../../../../adapters/can/slcan/codec.ts';
import { SlcanBus, type SlcanOptions } from '../../../../adapters/can/slcan/index.ts';
import { SystemClock } from '../../../../adapters/clock/system.ts';
import { serialLine } from '../../../../adapters/lines/index.ts';
import { EXTENDED, FD, type FrameBatch } from '../../../../agent/ports.ts';
import { UnitRest } from '../../../../agent/power/rest.ts';
import { VirtualClock } from '../../../rig/clock.ts';
import { describePeers } from '../../../rig/peers.ts';
import { Cable } from '../../lines/cable.ts';
import { plugIn } from '../../lines/pseudo-terminal.ts';
import { FarEnd } from '../../lines/server.ts';
import { Adapter, type Firmware } from './adapter.ts';

interface Seen {
  readonly at: number;
  readonly id: number;
  readonly data: readonly number[];
}

function collect(seen: Seen[]): (batch: FrameBatch) => void {
  return ({ count, at, id, offset, length, data }) => {
    for (let i = 0; i < count; i++) {
      const start = offset[i] as number;
      seen.push({
        at: at[i] as number,
        id: id[i] as number,
        data: [...data.subarray(start, start + (length[i] as number))],
      });
    }
  };
}

async function started(firmware: Firmware, options: Partial<SlcanOptions> = {}) {
  const clock = new VirtualClock();
  const cable = new Cable();
  const adapter = new Adapter(firmware, (text) => cable.say(text));
  cable.heard = (text) => adapter.hear(text);
  const bus = new SlcanBus({
    bus: 'powertrain',
    name: '/dev/ttyACM0',
    bitRate: 500_000,
    open: cable.open,
    clock,
    random: () => 0.5,
    ...options,
  });
  const seen: Seen[] = [];
  await bus.start(collect(seen));
  await clock.settle(3_000);
  return { clock, cable, adapter, bus, seen };
}

const frame = { bus: 'powertrain', id: 0x123, flags: 0, data: Uint8Array.of(1, 2) };

describe('a bus on a serial adapter', () => {
  it('is only listened to while the unit sleeps, and is checked at once when the unit wakes', async () => {
    const rest = new UnitRest();
    const { clock, cable, adapter, seen, bus } = await started('lawicel', { rest });
    const questions = (): number => [...cable.written].filter((character) => character === 'F').length;
    await clock.settle(25_000, 100);
    expect(questions()).toBe(2);
    rest.set(true);
    await clock.settle(8 * 3_600_000, 600_000);
    expect([questions(), clock.pending, cable.opened]).toEqual([2, 0, 1]);
    adapter.receive('t10021122');
    expect(seen.map(({ id }) => id)).toEqual([0x100]);
    rest.set(false);
    await clock.settle(1_000, 100);
    expect([questions(), cable.opened]).toEqual([3, 1]);
    // An adapter that died while the unit slept is reopened as soon as one question goes unanswered.
    rest.set(true);
    await clock.settle(3_600_000, 600_000);
    adapter.dead = true;
    rest.set(false);
    await clock.settle(5_000, 100);
    expect(cable.opened).toBe(2);
    await bus.stop();
    expect(clock.pending).toBe(0);
  });

  it.each<[Firmware, string[]]>([
    ['lawicel', ['S6']],
    ['canable', ['S6']],
    ['mute', ['S6']],
    ['echoing', ['S6']],
  ])('%s: is opened to listen only', async (firmware, rates) => {
    const { adapter, bus, seen } = await started(firmware);
    expect([adapter.mode, adapter.rates]).toEqual(['listening', rates]);
    adapter.receive('t12321122');
    adapter.receive('T1ABCDEF01FF');
    expect(seen).toMatchObject([
      { id: 0x123, data: [0x11, 0x22] },
      { id: (0x1abcdef0 | EXTENDED) >>> 0, data: [0xff] },
    ]);
    await expect(bus.send(frame)).rejects.toMatchObject({
      code: 'command.actuation',
      message: expect.stringMatching(/only listened to/),
    });
    expect(bus.health()).toMatchObject({ state: 'running', counts: { frames: 2, broken: 0, unsent: 1 } });
    await bus.stop();
    expect(adapter.mode).toBe('closed');
  });

  it.each<Firmware>(['lawicel', 'canable', 'mute', 'echoing'])(
    '%s: is opened to take part if frames are sent',
    async (firmware) => {
      const { adapter, bus, seen, clock } = await started(firmware, { sends: true });
      expect(adapter.mode).toBe('joined');
      const sent = Promise.all([bus.send(frame), bus.send({ ...frame, id: (0x100 | EXTENDED) >>> 0 })]);
      await clock.settle(200);
      await sent;
      expect(adapter.sent).toEqual(['t12320102', 'T0000010020102']);
      expect([seen, bus.health().counts['sent']]).toEqual([[], 2]);
      await bus.stop();
    },
  );

  it('with a CANable has CAN FD and its own bit rates', async () => {
    const { adapter, bus, clock } = await started('canable', {
      sends: true,
      bitRate: 750_000,
      dataBitRate: 2_000_000,
    });
    expect(adapter.rates).toEqual(['S7', 'Y2']);
    const sent = bus.send({ ...frame, flags: FD, data: new Uint8Array(12) });
    await clock.settle(200);
    await sent;
    expect(adapter.sent).toEqual([`d1239${'00'.repeat(12)}`]);
    await expect(bus.send({ ...frame, data: new Uint8Array(9) })).rejects.toThrow(/there is no such frame/);
    await bus.stop();
  });

  it('can have timing registers instead of a bit rate', async () => {
    const { bitRate: _, ...rest } = { bitRate: 0, timing: '011C' };
    const clock = new VirtualClock();
    const cable = new Cable();
    const adapter = new Adapter('lawicel', (text) => cable.say(text));
    cable.heard = (text) => adapter.hear(text);
    const bus = new SlcanBus({ bus: 'b', name: 'x', open: cable.open, clock, ...rest });
    await bus.start(() => undefined);
    await clock.settle(100);
    expect(adapter.rates).toEqual(['s011C']);
    await bus.stop();
  });

  it.each<[Partial<SlcanOptions>, RegExp]>([
    [{ bitRate: 123 }, /x: no adapter has a bit rate of 123; known are 10000, /],
    [{ bitRate: 500_000, dataBitRate: 3 }, /no adapter has a data bit rate of 3/],
    [{ timing: 'zz' }, /"zz" are not timing registers/],
    [{}, /give either/],
    [{ bitRate: 500_000, timing: '011C' }, /give either/],
  ])('refuses %j', (rates, message) => {
    const { open } = new Cable();
    expect(() => new SlcanBus({ bus: 'b', name: 'x', open, clock: new VirtualClock(), ...rates })).toThrow(message);
  });

  it('spaces frames received together by the time stamps of the adapter', async () => {
    const { adapter, bus, seen, cable, clock } = await started('lawicel');
    expect(adapter.stamps).toBe(true);
    const now = clock.now();
    cable.say('t12300000\rt1230000A\rt12300008\rt1230001E\r');
    cable.say('t1230001F\r');
    await clock.settle(100);
    cable.say('t1230EA5F\rt12300004\r');
    expect(seen.map(({ at }) => at - now)).toEqual([-30, -20, -20, 0, 0, 95, 100]);
    await bus.stop();
  });

  it('counts broken lines and keeps the frames around them', async () => {
    const { bus, cable, seen } = await started('lawicel');
    cable.say(`t1230\rt12\rnonsense\r${'t'.repeat(500)}\rt12401\x07t1240\rs`);
    cable.say('a000000\re1a\rt1250\r');
    expect(seen.map(({ id }) => id)).toEqual([0x123, 0x124, 0x125]);
    expect(bus.health().counts).toMatchObject({ frames: 3, broken: 3, errors: 2 });
    await bus.stop();
  });

  it('counts the overruns and errors that the adapter reports', async () => {
    const { adapter, bus, clock } = await started('lawicel');
    adapter.flags = '89';
    await clock.settle(10_000, 100);
    expect(bus.health().counts).toMatchObject({ overruns: 1, errors: 1, broken: 0 });
    await bus.stop();
  });

  it('rejects a frame that the adapter refuses or does not answer', async () => {
    const { adapter, bus, clock, cable } = await started('lawicel', { sends: true });
    adapter.refuses.add('t');
    await expect(bus.send(frame)).rejects.toThrow(/the adapter refuses it/);
    adapter.dead = true;
    const late = expect(bus.send(frame)).rejects.toThrow(/the adapter does not answer/);
    await clock.settle(600);
    await late;
    const lost = expect(bus.send(frame)).rejects.toThrow(/pulled/);
    await clock.settle(20);
    cable.cut();
    await lost;
    await expect(bus.send(frame)).rejects.toThrow(/the channel is not open: pulled/);
    await expect(bus.send({ ...frame, bus: 'other' })).rejects.toThrow(/this is powertrain, not other/);
    expect(bus.health().counts).toMatchObject({ sent: 0, unsent: 5 });
    await bus.stop();
  });

  it.each<[string, RegExp]>([
    ['S', /refuses the bit rate \(S6\)/],
    ['L', /cannot listen without joining in/],
  ])('does not use an adapter that refuses %s, and retries', async (letter, reason) => {
    const { adapter, bus, clock, cable } = await started('lawicel');
    adapter.refuses.add(letter);
    cable.cut();
    await clock.settle(400);
    expect(bus.health()).toMatchObject({ state: 'waiting', reason: expect.stringMatching(reason) });
    expect(adapter.mode).toBe('closed');
    adapter.refuses.clear();
    await clock.settle(30_000, 100);
    expect([adapter.mode, bus.health().state]).toEqual(['listening', 'running']);
    await bus.stop();
  });

  it('recovers when the adapter was unplugged or hung', async () => {
    const { adapter, bus, clock, cable, seen } = await started('lawicel');
    cable.cut();
    expect(bus.health()).toMatchObject({ state: 'waiting', reason: 'pulled' });
    await clock.settle(1_000);
    adapter.receive('t1230');
    adapter.dead = true;
    await clock.settle(26_000, 100);
    expect(bus.health()).toMatchObject({ counts: { lost: 2 } });
    adapter.dead = false;
    await clock.settle(10_000, 100);
    adapter.receive('t1240');
    expect(seen.map(({ id }) => id)).toEqual([0x123, 0x124]);
    expect(bus.health()).toMatchObject({ state: 'running' });
    await bus.stop();
  });

  it('gives up a line that accepts no data, and can still stop', async () => {
    const { bus, clock, cable } = await started('lawicel', { sends: true });
    cable.stuck = true;
    const refused = expect(bus.send(frame)).rejects.toThrow(/the line takes nothing/);
    await clock.settle(1_100);
    await refused;
    cable.cut();
    await clock.settle(400);
    await clock.settle(1_000);
    expect(bus.health()).toMatchObject({ state: 'waiting', reason: 'the line takes nothing' });
    cable.stuck = false;
    await clock.settle(5_000);
    expect(bus.health()).toMatchObject({ state: 'running' });
    cable.stuck = true;
    const stopped = bus.stop();
    await clock.settle(600);
    await stopped;
    expect(cable.plugged).toBe(false);
  });

  it('tolerates an adapter without answers while the bus is silent', async () => {
    const { bus, clock, cable } = await started('mute');
    await clock.settle(3_600_000, 60_000);
    expect(cable.opened).toBe(1);
    await bus.stop();
    expect(clock.pending).toBe(0);
  });

  it('yields the same frames in order, however the bytes are split', async () => {
    const id = fc.integer({ min: 0, max: 0x7ff });
    const data = fc.uint8Array({ maxLength: 8 });
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.record({ id, data, flags: fc.constant(0) }), { maxLength: 600 }),
        fc.array(fc.nat(20_000), { maxLength: 20 }),
        async (frames, cuts) => {
          const { bus, cable, seen } = await started('lawicel');
          const text = frames.map((one) => `${writeFrame(one)}\r`).join('');
          const places = [0, ...cuts.map((cut) => cut % (text.length + 1)).sort((a, b) => a - b), text.length];
          for (const [i, to] of places.slice(1).entries()) cable.say(text.slice(places[i], to));
          expect(seen.map(({ id, data }) => [id, data])).toEqual(frames.map((one) => [one.id, [...one.data]]));
          await bus.stop();
        },
      ),
      { numRuns: 20 },
    );
  });

  it('tolerates anything that an adapter sends', async () => {
    const word = fc.oneof(
      fc.constantFrom('\r', '\n', '\x07', 'z', 'Z', 'V1013', 'F00', 'F89', 't1230', 'C', 'S6', 'L', 'canable'),
      fc.string({ maxLength: 200 }),
    );
    await fc.assert(
      fc.asyncProperty(fc.array(word, { maxLength: 60 }), async (words) => {
        const clock = new VirtualClock();
        const cable = new Cable();
        const bus = new SlcanBus({ bus: 'b', name: 'x', bitRate: 500_000, open: cable.open, clock, random: () => 0.5 });
        await bus.start(() => undefined);
        for (const text of words) {
          cable.say(text);
          await clock.settle(100, 100);
        }
        await bus.stop();
        expect(clock.pending).toBe(0);
      }),
      { numRuns: 50 },
    );
  });
});

describePeers(['socat', '/dev/ptmx'], 'a bus behind a real serial device', () => {
  const folder = mkdtempSync(join(tmpdir(), 'vigie-slcan-'));
  afterAll(() => rmSync(folder, { recursive: true }));

  it('receives, sends, and recovers when the device is unplugged and plugged in again', async () => {
    const far = await FarEnd.listen();
    const adapter = new Adapter('lawicel', (text) => far.say(text));
    far.heard = (text) => adapter.hear(text);
    const path = join(folder, 'tty');
    let device = await plugIn(path, far.port);
    const seen: Seen[] = [];
    const bus = new SlcanBus({
      bus: 'powertrain',
      name: path,
      bitRate: 500_000,
      open: serialLine({ path, baudRate: 115_200 }),
      clock: new SystemClock(),
      random: () => 0,
      sends: true,
    });
    let changed: () => void = () => undefined;
    const until = async (holds: () => boolean): Promise<void> => {
      while (!holds()) await new Promise<void>((resolve) => (changed = resolve));
    };
    const take = collect(seen);
    await bus.start((batch) => {
      take(batch);
      changed();
    });
    for (const round of [1, 2]) {
      await far.until(() => adapter.mode === 'joined');
      adapter.receive(`t12${round}0`);
      await until(() => seen.length === round);
      await bus.send(frame);
      expect(adapter.sent).toHaveLength(round);
      if (round === 2) break;
      adapter.mode = 'closed';
      await device.unplug();
      device = await plugIn(path, far.port);
    }
    expect(seen.map(({ id }) => id)).toEqual([0x121, 0x122]);
    expect(bus.health()).toMatchObject({ state: 'running', counts: { opened: 2, lost: 1, frames: 2, sent: 2 } });
    await bus.stop();
    await far.until(() => adapter.mode === 'closed');
    await device.unplug();
    await far.close();
  });
});
