/** Notifications to systemd, over a socket like the one that it provides. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { addressOf } from '../../../adapters/service/libc.ts';
import { openNotifier, watchdogInterval } from '../../../adapters/service/notify.ts';
import { Watchdog } from '../../../adapters/service/watchdog.ts';
import { memoryOutboxStore } from '../../../adapters/store/index.ts';
import { Health } from '../../../agent/health/health.ts';
import type { FrameBatch, FrameSource, Log, SourceHealth } from '../../../agent/ports.ts';
import type { LogEvent } from '../../../protocol/log-events.ts';
import { VirtualClock } from '../../rig/clock.ts';
import { describePeer } from '../../rig/peers.ts';
import { closeReceivers, Receiver } from './receiver.ts';

const logged: string[] = [];
const keep = (event: LogEvent, fields?: Record<string, unknown>): void => {
  logged.push(`${event} ${JSON.stringify(fields ?? {})}`);
};
const log: Log = { info: keep, warn: keep, error: keep };
const noProcess = () => ({ residentBytes: 0, heapBytes: 0, cpu: 0, busy: 0 });

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'vigie-notify-'));
  logged.length = 0;
});
afterEach(() => {
  closeReceivers();
  rmSync(folder, { recursive: true, force: true });
});

describePeer('python3', 'the service manager', () => {
  test.each([
    ['in the file system', () => join(folder, 'notify')],
    ['in the abstract name space', () => `@vigie-notify-${process.pid}`],
  ])('systemd receives each message unchanged, %s', async (_where, path) => {
    const receiver = await Receiver.listen(path());
    const notifier = await openNotifier({ NOTIFY_SOCKET: receiver.path }, log);
    try {
      notifier.ready('two buses\nand a receiver');
      notifier.feed();
      notifier.feedWithin(1_500);
      notifier.stopping('until the next ignition');
      await receiver.saying('STOPPING');
      expect(receiver.messages.all).toEqual([
        'listening',
        'READY=1\nSTATUS=two buses and a receiver',
        'WATCHDOG=1',
        'WATCHDOG_USEC=1500000',
        'STOPPING=1\nSTATUS=until the next ignition',
      ]);
    } finally {
      notifier.close();
    }
  });

  test('the watchdog is fed every third of its interval while the pipeline works, and not while a part is stuck', async () => {
    const receiver = await Receiver.listen(join(folder, 'notify'));
    const notifier = await openNotifier({ NOTIFY_SOCKET: receiver.path }, log);
    const clock = new VirtualClock();
    const health = new Health({ clock, process: noProcess });
    const watchdog = new Watchdog(notifier, clock, log, 30_000);
    const source = new Bus();
    await health.frames('body', source).start(() => undefined);
    let hang = false;
    const memory = memoryOutboxStore();
    const store = health.store({
      ...memory,
      commit: () => (hang ? new Promise<void>(() => undefined) : memory.commit()),
    });
    health.attach({ readings: 0, refused: 0, faults: 0 }, () => true);
    const beats = (seconds: number, each: () => void = () => undefined): void => {
      for (let i = 0; i < seconds; i++) {
        clock.advance(1_000);
        each();
        health.pulse.ticked();
        watchdog.beat(health.pulse);
      }
    };
    const fed = async (): Promise<number> => {
      // Earlier messages arrive before this one.
      notifier.status('mark');
      await receiver.saying('mark');
      const mark = receiver.messages.all.lastIndexOf('STATUS=mark');
      const before = receiver.messages.all.lastIndexOf('STATUS=mark', mark - 1);
      return receiver.messages.all.slice(before + 1, mark).filter((message) => message === 'WATCHDOG=1').length;
    };

    beats(60, () => source.frame());
    expect(await fed()).toBe(6);

    // The bus is silent for longer than in a car in use, although the source reports that it is running.
    beats(290);
    expect(watchdog.starving).toBeUndefined();
    await fed();
    beats(60);
    expect(watchdog.starving).toContain('body');
    expect(await fed()).toBeLessThan(3);
    // A source that reports that it waits is not stuck.
    source.state = { state: 'waiting', reason: 'the interface is down', counts: {} };
    beats(10);
    expect(watchdog.starving).toBeUndefined();
    expect(await fed()).toBe(1);
    source.state = { state: 'opening', counts: {} };
    beats(200);
    expect(watchdog.starving).toContain('opening');
    source.state = { state: 'running', counts: {} };
    beats(20, () => source.frame());
    expect(watchdog.starving).toBeUndefined();
    await fed();

    // Simulate a disk that never answers.
    hang = true;
    void store.commit();
    beats(29, () => source.frame());
    expect(watchdog.starving).toBeUndefined();
    await fed();
    beats(30, () => source.frame());
    expect(watchdog.starving).toContain('commit');
    expect(await fed()).toBeLessThan(2);

    expect(logged.filter((line) => line.startsWith('watchdog.stuck '))).toHaveLength(3);
    notifier.close();
  });

  test('the watchdog interval is longer while the car sleeps', async () => {
    const receiver = await Receiver.listen(join(folder, 'notify'));
    const notifier = await openNotifier({ NOTIFY_SOCKET: receiver.path }, log);
    const clock = new VirtualClock();
    const health = new Health({ clock, process: noProcess });
    const watchdog = new Watchdog(notifier, clock, log, 30_000);
    watchdog.slacken(240_000);
    health.pulse.expectEvery(240_000);
    for (let i = 0; i < 3; i++) {
      clock.advance(240_000);
      health.pulse.ticked();
      watchdog.beat(health.pulse);
    }
    watchdog.tighten(30_000);
    await receiver.saying('WATCHDOG_USEC=30000000');
    expect(receiver.messages.all.slice(1)).toEqual([
      'WATCHDOG_USEC=720000000',
      'WATCHDOG=1',
      'WATCHDOG=1',
      'WATCHDOG=1',
      'WATCHDOG_USEC=30000000',
    ]);
    notifier.close();
  });
});

test('a missing receiver is reported once and prevents nothing', async () => {
  const notifier = await openNotifier({ NOTIFY_SOCKET: join(folder, 'nobody') }, log);
  notifier.ready('x');
  notifier.feed();
  expect(logged).toHaveLength(1);
  expect(logged[0]).toContain('ENOENT');
  notifier.close();
  const none = await openNotifier({}, log);
  none.ready('x');
  none.close();
  expect(logged).toHaveLength(1);
});

test('a path that does not fit into a socket address is refused', () => {
  expect(() => addressOf(`/${'x'.repeat(107)}`)).toThrow(/1 to 107 bytes/);
  expect(() => addressOf('@')).toThrow(/1 to 107 bytes/);
  const address = addressOf('/run/n');
  expect([...address]).toEqual([...new Uint8Array(Uint16Array.of(1).buffer), 47, 114, 117, 110, 47, 110, 0]);
});

test('the watchdog settings apply only to the process that they name', () => {
  expect(watchdogInterval({})).toBeUndefined();
  expect(watchdogInterval({ WATCHDOG_USEC: '30000000' })).toBe(30_000);
  expect(watchdogInterval({ WATCHDOG_USEC: '30000000', WATCHDOG_PID: '17' }, 17)).toBe(30_000);
  expect(watchdogInterval({ WATCHDOG_USEC: '30000000', WATCHDOG_PID: '17' }, 18)).toBeUndefined();
  expect(watchdogInterval({ WATCHDOG_USEC: '0' })).toBeUndefined();
  expect(watchdogInterval({ WATCHDOG_USEC: 'soon' })).toBeUndefined();
});

class Bus implements FrameSource {
  readonly buses = ['body'];
  state: SourceHealth = { state: 'running', counts: {} };
  #receive: (batch: FrameBatch) => void = () => undefined;
  readonly health = (): SourceHealth => this.state;

  async start(receive: (batch: FrameBatch) => void): Promise<void> {
    this.#receive = receive;
  }

  async stop(): Promise<void> {}

  frame(): void {
    this.#receive({
      count: 1,
      at: new Float64Array(1),
      id: new Uint32Array(1),
      bus: new Uint8Array(1),
      flags: new Uint8Array(1),
      length: new Uint8Array(1),
      offset: new Uint32Array(1),
      data: new Uint8Array(8),
    });
  }
}
