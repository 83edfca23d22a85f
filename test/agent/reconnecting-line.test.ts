import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { LineEvents } from '../../agent/ports.ts';
import { ReconnectingLine } from '../../agent/reconnecting-line.ts';
import { Cable } from '../adapters/lines/cable.ts';
import { VirtualClock } from '../rig/clock.ts';
import { MemoryLog } from '../rig/log.ts';

function kept(options: { random?: () => number; opened?: () => Promise<void> | void } = {}) {
  const clock = new VirtualClock();
  const cable = new Cable();
  const events: string[] = [];
  const line = new ReconnectingLine(
    { open: cable.open, clock, random: options.random ?? (() => 1) },
    {
      opened: () => {
        events.push('opened');
        return options.opened?.();
      },
      data: (bytes) => {
        events.push(Buffer.from(bytes).toString());
      },
      ended: (reason) => {
        events.push(`ended: ${reason}`);
      },
      idle: () => {
        events.push('idle');
      },
    },
  );
  return { clock, cable, events, line };
}

describe('reconnecting lines', () => {
  it('a line is opened, and opened again after it ended', async () => {
    const { clock, cable, events, line } = kept();
    await expect(line.write(new Uint8Array(1))).rejects.toMatchObject({ code: 'input.unreadable' });
    line.start();
    line.start();
    await clock.settle(10);
    cable.say('a');
    cable.cut();
    expect(line.health()).toMatchObject({ state: 'waiting', reason: 'pulled', counts: { opened: 1, lost: 1 } });
    await clock.settle(600);
    cable.say('b');
    await line.write(Buffer.from('x'));
    expect(cable.written).toBe('x');
    expect(line.health()).toEqual({ state: 'running', counts: { opened: 2, lost: 1, refused: 0 } });
    expect(events).toEqual(['opened', 'a', 'ended: pulled', 'opened', 'b']);
  });

  it('a line is reopened when its user throws on the data, whatever is called afterwards', async () => {
    const clock = new VirtualClock();
    const cable = new Cable();
    const log = new MemoryLog();
    const boom = (): never => {
      throw new TypeError('boom');
    };
    let failing: string | undefined = 'data';
    const may = (name: string) => (): void => (name === failing ? boom() : undefined);
    const line = new ReconnectingLine(
      { open: cable.open, clock, random: () => 1, log, name: '/dev/ttyACM0' },
      { opened: may('opened'), data: may('data'), ended: may('ended'), idle: may('idle') },
    );
    line.silence = 1_000;
    line.start();
    for (const name of ['data', 'opened', 'ended', 'idle']) {
      failing = name;
      await clock.settle(10);
      cable.say('x');
      if (name === 'ended') cable.cut();
      await clock.settle(40_000, 100);
    }
    failing = undefined;
    await clock.settle(40_000, 100);
    expect(line.health()).toMatchObject({ counts: { refused: 0 } });
    expect(cable.opened).toBeGreaterThan(4);
    expect(log.lines.filter(({ event }) => event === 'line.waiting').map(({ fields }) => fields?.['reason'])).toContain(
      'boom',
    );
  });

  it('the log has the reason of each wait once, and when the line is open', async () => {
    const clock = new VirtualClock();
    const cable = new Cable();
    const log = new MemoryLog();
    const nothing = { opened: () => undefined, data: () => undefined, ended: () => undefined };
    const line = new ReconnectingLine({ open: cable.open, clock, random: () => 1, log, name: '/dev/ttyACM0' }, nothing);
    cable.refusal = 'absent';
    line.start();
    await clock.settle(60_000, 100);
    cable.refusal = 'no permission';
    await clock.settle(60_000, 100);
    cable.refusal = undefined;
    await clock.settle(60_000, 100);
    cable.say('a');
    cable.cut();
    const said = log.lines.map(({ event, fields }) => [event, fields?.['line'], fields?.['reason']]);
    expect(said).toEqual([
      ['line.waiting', '/dev/ttyACM0', 'absent'],
      ['line.waiting', '/dev/ttyACM0', 'no permission'],
      ['line.open', '/dev/ttyACM0', undefined],
      ['line.waiting', '/dev/ttyACM0', 'pulled'],
    ]);
    await line.stop();
  });

  it('the wait doubles up to a limit until a line has been sound for a while', async () => {
    const { clock, cable, line } = kept();
    cable.refusal = 'absent';
    line.start();
    const waits: number[] = [];
    await clock.settle(1);
    for (let i = 0; i < 9; i++) {
      const before = clock.monotonic();
      const { refused } = line.health().counts;
      while (line.health().counts['refused'] === refused) await clock.settle(100, 100);
      waits.push(Math.round((clock.monotonic() - before) / 100) * 100);
    }
    expect(waits).toEqual([500, 1_000, 2_000, 4_000, 8_000, 16_000, 30_000, 30_000, 30_000]);
    cable.refusal = undefined;
    await clock.settle(31_000, 100);
    cable.say('a');
    await clock.settle(30_000, 100);
    cable.say('b');
    cable.cut();
    await clock.settle(600, 100);
    expect(cable.opened).toBe(2);
  });

  it('a silent line is probed once at half time, and reopened at the end', async () => {
    const { clock, cable, events, line } = kept();
    line.silence = 10_000;
    line.start();
    await clock.settle(4_000, 100);
    cable.say('a');
    await clock.settle(9_800, 100);
    expect(events).toEqual(['opened', 'a', 'idle']);
    cable.say('b');
    await clock.settle(9_800, 100);
    expect(events).toEqual(['opened', 'a', 'idle', 'b', 'idle']);
    await clock.settle(900, 100);
    expect(events.slice(5)).toEqual(['ended: nothing came for 10 s', 'opened']);
    expect([cable.opened, cable.closed]).toEqual([2, 1]);
  });

  it('a silence that is allowed to last never closes the line', async () => {
    const { clock, cable, line } = kept();
    line.start();
    await clock.settle(3_600_000, 60_000);
    expect([cable.opened, line.health().state]).toEqual([1, 'running']);
  });

  it('a line is closed with the reason if its user asks for it or cannot start', async () => {
    const { clock, cable, events, line } = kept({ opened: () => Promise.reject(new Error('no welcome')) });
    line.start();
    await clock.settle(10);
    expect(events).toEqual(['opened', 'ended: no welcome']);
    await clock.settle(1_100, 100);
    line.restart('nonsense');
    expect(cable.closed).toBeGreaterThanOrEqual(2);
    expect(line.health().state).toBe('waiting');
  });

  it('a stopped line is silent and closed, even while it is being opened', async () => {
    const { clock, cable, events, line } = kept();
    line.start();
    await line.stop();
    await clock.settle(10);
    expect([cable.opened, cable.plugged, events]).toEqual([1, false, []]);
    line.start();
    await clock.settle(10);
    await line.stop();
    cable.say('late');
    await clock.settle(60_000, 1_000);
    expect([cable.opened, cable.plugged, events, clock.pending]).toEqual([2, false, ['opened'], 0]);
  });

  it('a line delivers nothing before it is open or after its end, whatever the opener does', () => {
    const step = fc.constantFrom('data', 'closed', 'resolve', 'reject', 'restart', 'wait', 'stop', 'start');
    return fc.assert(
      fc.asyncProperty(fc.array(step, { maxLength: 40 }), async (steps) => {
        const clock = new VirtualClock();
        let opening: { events: LineEvents; resolve: () => void; reject: () => void } | undefined;
        let current: LineEvents | undefined;
        let live = 0;
        let open = false;
        const line = new ReconnectingLine(
          {
            clock,
            random: () => 0.5,
            open: (events) =>
              new Promise((resolve, reject) => {
                current = events;
                opening = {
                  events,
                  resolve: () => {
                    live++;
                    let closed = false;
                    resolve({
                      write: () => Promise.resolve(),
                      close: () => {
                        if (!closed) live--;
                        closed = true;
                        return Promise.resolve();
                      },
                    });
                  },
                  reject: () => reject(new Error('refused')),
                };
              }),
          },
          {
            opened: () => {
              expect(open).toBe(false);
              open = true;
            },
            data: () => expect(open).toBe(true),
            ended: () => {
              expect(open).toBe(true);
              open = false;
            },
          },
        );
        line.start();
        for (const name of steps) {
          if (name === 'data') current?.data(new Uint8Array(1));
          else if (name === 'closed') current?.closed('gone');
          else if (name === 'resolve' || name === 'reject') {
            opening?.[name]();
            opening = undefined;
          } else if (name === 'restart') line.restart('nonsense');
          else if (name === 'start') line.start();
          else if (name === 'stop') {
            await line.stop();
            open = false;
          }
          await clock.settle(name === 'wait' ? 40_000 : 1, 20_000);
        }
        await line.stop();
        opening?.resolve();
        await clock.settle(1);
        expect(clock.pending).toBe(0);
        // A line that reported its own end needs no closing.
        expect(live).toBeLessThanOrEqual(steps.filter((name) => name === 'closed').length);
      }),
    );
  });
});
