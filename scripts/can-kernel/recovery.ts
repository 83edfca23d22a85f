/** Checks that a source keeps working when interfaces appear, disappear or are renamed. */
import assert from 'node:assert/strict';
import { SystemClock } from '../../adapters/clock/system.ts';
import { addInterface, Bus, type Checks, ip, pass, run, until } from './rig.ts';

async function hears(bus: Bus, name: string, id: string): Promise<void> {
  const count = bus.frames.length;
  run('cansend', name, `${id}#01`);
  await bus.received(count + 1);
  assert.equal(bus.frames.at(-1)?.id, Number.parseInt(id, 16));
}

async function waitsFor(bus: Bus, reason: RegExp): Promise<void> {
  const waits = (): boolean => bus.health.state === 'waiting' && reason.test(bus.health.reason ?? '');
  await until(String(reason), waits, () => JSON.stringify(bus.health));
}

/** Counts how many timers were set. */
class CountingClock extends SystemClock {
  timers = 0;
  override after(delay: number, due: () => void): () => void {
    this.timers++;
    return super.after(delay, due);
  }
}

export const recovery: Checks = {
  'down and up again': async () => {
    const bus = await Bus.open();
    await hears(bus, 'vcan0', '101');
    ip('link set vcan0 down');
    await waitsFor(bus, /vcan0: the interface is down/);
    ip('link set vcan0 up');
    await bus.state('running');
    await hears(bus, 'vcan0', '102');
    await bus.can.stop();
    assert.equal(bus.count('restarts'), 1);
  },

  'frames that came before the interface went down are not lost': async () => {
    const bus = await Bus.open();
    for (let i = 0; i < 20; i++) run('cansend', 'vcan0', `${100 + i}#01`);
    ip('link set vcan0 down');
    await waitsFor(bus, /down/);
    await bus.can.stop();
    assert.equal(bus.frames.length, 20);
  },

  'deleted and made again': async () => {
    const bus = await Bus.open();
    await hears(bus, 'vcan0', '101');
    ip('link delete vcan0');
    await waitsFor(bus, /no such interface/);
    addInterface('vcan0');
    await bus.state('running');
    await hears(bus, 'vcan0', '102');
    await bus.can.stop();
  },

  'renamed: its name is followed, not the interface': async () => {
    const bus = await Bus.open();
    ip('link set vcan0 down');
    ip('link set vcan0 name vcan9');
    ip('link set vcan9 up');
    await waitsFor(bus, /no such interface/);
    addInterface('vcan0');
    await bus.state('running');
    run('cansend', 'vcan9', '009#01');
    await hears(bus, 'vcan0', '102');
    await bus.can.stop();
    assert.deepEqual(
      bus.frames.map(({ id }) => id),
      [0x102],
    );
  },

  'absent at first, then down, then there': async () => {
    ip('link delete vcan0');
    const bus = await Bus.open();
    await waitsFor(bus, /no such interface/);
    ip('link add vcan0 type vcan');
    await waitsFor(bus, /the interface is down/);
    ip('link set vcan0 up');
    await bus.state('running');
    await hears(bus, 'vcan0', '101');
    await bus.can.stop();
  },

  'an interface that is none of CAN is waited for with the reason': async () => {
    const bus = await Bus.open({ interface: 'lo' });
    await waitsFor(bus, /lo: it is not a CAN interface/);
    await bus.can.stop();
    assert.equal(bus.health.reason, 'stopped');
  },

  'up and down many times': async () => {
    const bus = await Bus.open();
    for (let i = 0; i < 25; i++) {
      ip('link set vcan0 down');
      ip('link set vcan0 up');
    }
    await until(
      'silence',
      () => bus.health.state === 'running',
      () => JSON.stringify(bus.health),
    );
    await pass(300);
    await bus.state('running');
    await hears(bus, 'vcan0', '101');
    await bus.can.stop();
  },

  'a bus that sleeps costs no timer': async () => {
    const clock = new CountingClock();
    const bus = await Bus.open({ clock });
    await hears(bus, 'vcan0', '101');
    await pass(50);
    const { timers } = clock;
    await pass(500);
    assert.equal(clock.timers, timers);
    await hears(bus, 'vcan0', '102');
    await bus.can.stop();
  },
};
