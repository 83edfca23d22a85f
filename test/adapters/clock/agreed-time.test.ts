import { expect, test } from 'vitest';
import { AgreedTime } from '../../../adapters/clock/agreed-time.ts';
import { Discipline } from '../../../adapters/clock/discipline.ts';

const truth = Date.UTC(2026, 5, 1);
const [hour, day] = [3_600_000, 86_400_000];

/** A unit whose system clock may be wrong, with a receiver. */
class Unit {
  elapsed = 5_000;
  asleep = 0;
  /** System clock minus true time, ms. `synchronised` is the state that the system reports. */
  error = 0;
  synchronised = true;
  readonly #discipline: Discipline;
  readonly #agreed: AgreedTime;

  constructor() {
    const machine = {
      wall: () => this.truth + this.error,
      monotonic: () => this.elapsed,
      uptime: () => this.elapsed + this.asleep,
    };
    const synchronised = () => this.synchronised;
    this.#discipline = new Discipline(machine, { earliest: Date.UTC(2025, 0, 1), synchronised });
    this.#agreed = new AgreedTime(machine, this.#discipline, synchronised);
  }

  get truth(): number {
    return truth + this.elapsed + this.asleep;
  }

  /** Agreed time minus true time, ms; undefined if there is no agreed time. */
  get off(): number | undefined {
    const now = this.#agreed.now();
    return now === undefined ? undefined : now - this.truth;
  }

  /** Advances the time, and reads the agreed time every hour like the commits of the journal. */
  run(ms: number): void {
    for (let rest = ms; rest > 0; rest -= hour) {
      this.elapsed += Math.min(rest, hour);
      void this.off;
    }
  }

  /** Fixes one second apart with a time error of `wrong`. */
  fixes(count: number, wrong = 0): void {
    for (let i = 0; i < count; i++) {
      this.elapsed += 1_000;
      this.#discipline.fix(this.truth + wrong, this.elapsed);
    }
  }
}

test('a synchronised system clock alone is trusted only after 24 h of running without a step', () => {
  for (const error of [0, 400 * day]) {
    const unit = new Unit();
    unit.error = error;
    expect(unit.off).toBeUndefined();
    unit.run(day - 1);
    expect(unit.off).toBeUndefined();
    unit.run(1);
    expect(unit.off).toBe(error);
  }
});

test('time asleep does not count towards the 24 h, and does not end the trust', () => {
  const unit = new Unit();
  unit.run(day - hour);
  unit.asleep += 30 * day;
  expect(unit.off).toBeUndefined();
  unit.run(hour);
  expect(unit.off).toBeUndefined();
  unit.run(hour);
  expect(unit.off).toBe(0);
  unit.asleep += 30 * day;
  expect(unit.off).toBe(0);
});

test('a step of the system clock ends the trust and restarts the 24 h', () => {
  const held = new Unit();
  held.run(2 * day);
  expect(held.off).toBe(0);
  held.error = 400 * day;
  expect(held.off).toBeUndefined();
  held.run(hour);
  held.error = 0;
  held.run(day - hour);
  expect(held.off).toBeUndefined();
  held.run(2 * hour);
  expect(held.off).toBe(0);
});

test('a time on which receiver and system clock agree is trusted at once, also after the receiver is lost', () => {
  const unit = new Unit();
  unit.error = 20_000;
  unit.fixes(4);
  expect(unit.off).toBeUndefined();
  unit.fixes(70);
  expect(unit.off).toBeCloseTo(0, -4);
  unit.run(hour);
  expect(unit.off).toBeCloseTo(0, -4);
});

test('a receiver alone, or in conflict with the system clock, is trusted only after 24 h of running', () => {
  const alone = new Unit();
  alone.synchronised = false;
  alone.error = -truth;
  alone.fixes(100);
  expect(alone.off).toBeUndefined();
  const against = new Unit();
  against.fixes(100, 1024 * 7 * day);
  expect(against.off).toBeUndefined();
  for (const wrong of [400 * day, -400 * day]) {
    const unit = new Unit();
    unit.fixes(100, wrong);
    expect(unit.off).toBeUndefined();
    for (let i = 0; i < 25 * 60; i++) {
      unit.elapsed += 59_000;
      unit.fixes(1, wrong);
      if (i === 23 * 60) expect(unit.off).toBeUndefined();
    }
    expect(unit.off).toBeCloseTo(wrong, -4);
  }
});

test('an unknown time is never trusted', () => {
  const unit = new Unit();
  unit.synchronised = false;
  unit.run(3 * day);
  expect(unit.off).toBeUndefined();
  unit.synchronised = true;
  expect(unit.off).toBeUndefined();
});
