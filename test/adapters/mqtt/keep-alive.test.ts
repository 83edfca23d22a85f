import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { KeepAlive } from '../../../adapters/mqtt/keep-alive.ts';

/** Simulates connections through a NAT that drops them after `patience` s of silence; returns the intervals used. */
function live(keepAlive: KeepAlive, patience: number, connections: number, questions = 30): number[] {
  const used: number[] = [];
  for (let n = 0; n < connections; n++) {
    keepAlive.reached('10.0.0.2');
    const silence = keepAlive.seconds;
    used.push(silence);
    if (silence <= patience) for (let i = 0; i < questions; i++) keepAlive.answered();
    keepAlive.ended(silence > patience);
  }
  return used;
}

const seconds = fc.integer({ min: 15, max: 3600 });

describe('keep-alive', () => {
  it('finds the longest interval that the network tolerates, and keeps it', () => {
    fc.assert(
      fc.property(seconds, seconds, (longest, patience) => {
        const used = live(new KeepAlive(longest, 15), patience, 60);
        const settled = used.slice(30);
        expect(Math.max(...settled)).toBeLessThanOrEqual(Math.max(15, patience));
        // Not much shorter, because each ping costs traffic and battery.
        expect(Math.min(...settled)).toBeGreaterThanOrEqual(Math.max(15, Math.min(longest, patience) * 0.75 - 1));
        // Finding it costs few connections.
        expect(used.filter((silence) => silence > patience).length).toBeLessThanOrEqual(patience < 15 ? 60 : 12);
      }),
    );
  });

  it('does not change after one loss that the network did not cause', () => {
    const keepAlive = new KeepAlive(60, 15);
    keepAlive.reached('10.0.0.2');
    keepAlive.ended(true);
    keepAlive.missed();
    keepAlive.reached('10.0.0.2');
    expect(keepAlive.seconds).toBe(60);
  });

  it('starts again with another local address', () => {
    const keepAlive = new KeepAlive(60, 15);
    keepAlive.reached('10.0.0.2');
    keepAlive.ended(true);
    keepAlive.reached('10.0.0.2');
    expect(keepAlive.seconds).toBe(30);
    keepAlive.ended(true);
    keepAlive.reached('10.9.9.9');
    expect(keepAlive.seconds).toBe(60);
  });

  it('stays within its limits for any events', () => {
    const event = fc.constantFrom('answered', 'lost', 'ended', 'missed', 'here', 'there');
    fc.assert(
      fc.property(seconds, fc.array(event, { maxLength: 200 }), (longest, events) => {
        const keepAlive = new KeepAlive(longest, 15);
        for (const one of events) {
          if (one === 'answered') keepAlive.answered();
          else if (one === 'missed') keepAlive.missed();
          else if (one === 'here' || one === 'there') keepAlive.reached(one);
          else keepAlive.ended(one === 'lost');
          expect(keepAlive.seconds).toBeGreaterThanOrEqual(15);
          expect(keepAlive.seconds).toBeLessThanOrEqual(longest);
          expect(Number.isInteger(keepAlive.seconds)).toBe(true);
        }
      }),
    );
  });

  it('is longer while the unit sleeps, and the broker gets the longer of both values', () => {
    const keepAlive = new KeepAlive(60, 15, 900);
    keepAlive.reached('10.0.0.2');
    expect([keepAlive.seconds, keepAlive.announced]).toEqual([60, 900]);
    keepAlive.asleep = true;
    expect(keepAlive.seconds).toBe(900);
    // The network drops connections after this time: the interval is halved asleep and unchanged awake.
    keepAlive.ended(true);
    expect(keepAlive.seconds).toBe(450);
    keepAlive.reached('10.0.0.2');
    expect([keepAlive.seconds, keepAlive.announced]).toEqual([450, 450]);
    keepAlive.asleep = false;
    expect(keepAlive.seconds).toBe(60);
    // Short intervals prove nothing about long ones; intervals of the current length do.
    for (let i = 0; i < 100; i++) keepAlive.answered();
    expect(keepAlive.announced).toBe(450);
    keepAlive.asleep = true;
    for (let i = 0; i < 10; i++) keepAlive.answered();
    expect(keepAlive.seconds).toBe(675);
  });

  it('of the sleeping unit also shortens after a loss in the awake unit', () => {
    const keepAlive = new KeepAlive(60, 15, 900);
    keepAlive.reached('10.0.0.2');
    keepAlive.ended(true);
    keepAlive.reached('10.0.0.2');
    expect([keepAlive.seconds, keepAlive.announced]).toEqual([30, 30]);
    keepAlive.asleep = true;
    expect(keepAlive.seconds).toBe(30);
  });
});
