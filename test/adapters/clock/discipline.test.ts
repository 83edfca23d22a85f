import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { Discipline } from '../../../adapters/clock/discipline.ts';

const earliest = Date.UTC(2025, 0, 1);
const truth = Date.UTC(2026, 5, 1);
const era = 1024 * 7 * 86_400_000;
const second = 1_000;
const hour = 3_600_000;

/** A machine, the true time, and a receiver that reports it. */
class Bench {
  elapsed = 12_345;
  asleep = 0;
  /** System clock minus true time, ms. */
  error: number;
  synchronised: boolean;
  readonly steps: number[] = [];
  readonly clock: Discipline;

  constructor({ error = 0, synchronised = true } = {}) {
    this.error = error;
    this.synchronised = synchronised;
    this.clock = new Discipline(
      {
        wall: () => this.truth + this.error,
        monotonic: () => this.elapsed,
        uptime: () => this.elapsed + this.asleep + 777,
      },
      { earliest, synchronised: () => this.synchronised, stepped: (by) => this.steps.push(by) },
    );
  }

  get truth(): number {
    return truth + this.elapsed + this.asleep;
  }

  /** Agent's clock minus true time, ms. */
  get off(): number {
    return this.clock.now() - this.truth;
  }

  pass(ms: number): void {
    this.elapsed += ms;
  }

  /** Fixes one second apart that arrive `delay` ms late and have a time error of `wrong`. */
  fixes(count: number, { delay = 0, wrong = 0 } = {}): void {
    for (let i = 0; i < count; i++) {
      this.pass(second);
      this.clock.fix(this.truth - delay + wrong, this.elapsed);
    }
  }

  get seen(): unknown {
    return { state: this.clock.state, quality: this.clock.quality(), off: this.off, steps: this.steps };
  }
}

describe('the time before the first fix', () => {
  it('is the system time, with the quality that the system reports', () => {
    const bench = new Bench({ error: 70 });
    expect(bench.seen).toEqual({ state: 'free', quality: 'ntp', off: 70, steps: [] });
    bench.synchronised = false;
    expect(bench.clock.quality()).toBe('none');
  });

  it('does not go back by small amounts, but follows a step', () => {
    const bench = new Bench();
    const before = bench.clock.now();
    bench.error = -900;
    bench.pass(100);
    expect(bench.clock.now()).toBe(before);
    bench.pass(900);
    expect(bench.off).toBe(-900);
    bench.error = -hour;
    expect(bench.off).toBe(-hour);
  });
});

describe('the time of a receiver', () => {
  it('is accepted after five fixes if the time was unknown', () => {
    const bench = new Bench({ error: -truth, synchronised: false });
    bench.fixes(4, { delay: 300 });
    expect(bench.clock.state).toBe('free');
    bench.fixes(1, { delay: 200 });
    expect(bench.seen).toMatchObject({ state: 'gnss', quality: 'gnss', off: -200 });
    expect(bench.steps).toHaveLength(1);
  });

  it('replaces a known time only after a minute of fixes', () => {
    const bench = new Bench({ error: 3 * hour });
    bench.fixes(60);
    expect(bench.clock.state).toBe('free');
    bench.fixes(1);
    expect(bench.seen).toEqual({ state: 'gnss', quality: 'gnss', off: 0, steps: [-3 * hour] });
  });

  it('confirms a correct system time, and slowly corrects one that is slightly wrong', () => {
    const right = new Bench({ error: 80 });
    right.fixes(100);
    expect(right.seen).toEqual({ state: 'gnss', quality: 'gnss', off: 80, steps: [] });
    const nearly = new Bench({ error: 600 });
    nearly.fixes(5);
    expect(nearly.off).toBeCloseTo(600, 0);
    nearly.fixes(1_000);
    expect(nearly.off).toBeGreaterThan(90);
    expect(nearly.off).toBeLessThan(110);
    expect(nearly.steps).toEqual([]);
  });

  it('is independent of later changes of the system clock', () => {
    const bench = new Bench();
    bench.fixes(5);
    bench.error = -hour;
    expect(bench.off).toBe(0);
    bench.pass(hour);
    expect(bench.off).toBe(0);
  });

  it('holds for a day without a receiver, and then yields to a synchronised system clock', () => {
    const bench = new Bench();
    bench.fixes(5);
    bench.pass(61 * second);
    expect(bench.seen).toMatchObject({ state: 'holdover', quality: 'gnss', off: 0 });
    bench.error = 5_000;
    bench.pass(24 * hour);
    expect(bench.seen).toEqual({ state: 'free', quality: 'ntp', off: 5_000, steps: [5_000] });
  });

  it('holds indefinitely, with quality none, if the system clock is not synchronised', () => {
    const bench = new Bench({ error: -truth, synchronised: false });
    bench.fixes(5);
    bench.pass(25 * hour);
    expect(bench.seen).toMatchObject({ state: 'holdover', quality: 'none', off: 0 });
  });

  it('is accepted again quickly after a drift', () => {
    const bench = new Bench();
    bench.fixes(5);
    bench.pass(20 * hour);
    bench.fixes(5, { wrong: 3_000 });
    expect(bench.seen).toEqual({ state: 'gnss', quality: 'gnss', off: 3_000, steps: [3_000] });
  });

  it('continues during sleep of the machine', () => {
    const bench = new Bench({ error: 40 });
    bench.fixes(5);
    bench.asleep += 8 * hour;
    expect(bench.seen).toMatchObject({ state: 'holdover', quality: 'gnss', off: 40, steps: [] });
    bench.asleep += 20 * hour;
    expect(bench.seen).toMatchObject({ state: 'free', quality: 'ntp' });
  });

  it('counts once if a source repeats it', () => {
    const bench = new Bench({ error: -truth, synchronised: false });
    for (let i = 0; i < 20; i++) {
      bench.pass(second);
      bench.clock.fix(truth, bench.elapsed);
    }
    expect(bench.clock.state).toBe('free');
  });
});

describe('a receiver with a wrong time', () => {
  it.each([
    ['counts weeks modulo 1024', -era],
    ['is an era ahead', era],
    ['counts from 1980', Date.UTC(1980, 0, 6) - truth],
    ['counts from its own build', Date.UTC(2019, 3, 7) - truth],
    ['reports NaN', Number.NaN],
    ['reports infinity', Number.POSITIVE_INFINITY],
  ])('%s: its time is never accepted', (_, wrong) => {
    for (const bench of [new Bench(), new Bench({ error: -truth, synchronised: false })]) {
      const { off } = bench;
      bench.fixes(1_000, { wrong });
      expect(bench.off).toBe(off);
      expect([bench.clock.state, bench.steps]).toEqual(['free', []]);
    }
  });

  it('never steps a known clock with less than a minute of consistent fixes', () => {
    const jump = fc.record({
      wrong: fc.oneof(fc.integer({ min: 1_600, max: era }), fc.integer({ min: -era, max: -1_600 })),
      count: fc.integer({ min: 1, max: 59 }),
      good: fc.integer({ min: 1, max: 5 }),
    });
    fc.assert(
      fc.property(fc.array(jump, { maxLength: 10 }), fc.boolean(), (jumps, learnt) => {
        const bench = new Bench();
        if (learnt) bench.fixes(5);
        for (const { wrong, count, good } of jumps) {
          bench.fixes(count, { wrong });
          if (learnt) bench.fixes(good);
          else bench.pass(61 * second);
          expect(Math.abs(bench.off)).toBeLessThanOrEqual(1);
        }
        expect(bench.steps).toEqual([]);
      }),
    );
  });
});

it('for any events, time never goes back except in steps, and a correct receiver always wins', () => {
  const event = fc.oneof(
    fc.record({ kind: fc.constant('pass' as const), ms: fc.integer({ min: 0, max: 2 * hour }) }),
    fc.record({ kind: fc.constant('sleep' as const), ms: fc.integer({ min: 0, max: 30 * hour }) }),
    fc.record({ kind: fc.constant('system' as const), ms: fc.integer({ min: -2 * hour, max: 2 * hour }) }),
    fc.record({ kind: fc.constant('known' as const), ms: fc.constantFrom(0, 1) }),
    fc.record({ kind: fc.constant('fix' as const), ms: fc.integer({ min: -3_000, max: 3_000 }) }),
    fc.record({ kind: fc.constant('fix' as const), ms: fc.integer() }),
    fc.record({ kind: fc.constant('fixes' as const), ms: fc.integer({ min: -4_000, max: 400 }) }),
  );
  fc.assert(
    fc.property(fc.array(event, { maxLength: 60 }), fc.integer({ min: -era, max: hour }), (events, error) => {
      const bench = new Bench({ error });
      let before = bench.clock.now();
      let stepped = 0;
      for (const { kind, ms } of events) {
        if (kind === 'pass') bench.pass(ms);
        else if (kind === 'sleep') bench.asleep += ms;
        else if (kind === 'known') bench.synchronised = ms === 1;
        else if (kind === 'fix') bench.clock.fix(bench.truth + ms, bench.elapsed);
        else if (kind === 'fixes') bench.fixes(30, { wrong: ms });
        const free = bench.clock.state === 'free';
        if (kind === 'system') bench.error += ms;
        const now = bench.clock.now();
        const jumped = bench.steps.length > stepped || (free && kind === 'system' && ms < -1_000);
        if (!jumped) expect(now).toBeGreaterThanOrEqual(before);
        before = now;
        stepped = bench.steps.length;
      }
      bench.fixes(130, { delay: 250 });
      expect(bench.clock.quality()).toBe('gnss');
      expect(bench.off).toBeGreaterThanOrEqual(-1_250);
      expect(bench.off).toBeLessThanOrEqual(750);
    }),
    { numRuns: 300 },
  );
});
