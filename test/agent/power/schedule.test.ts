import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { localSeconds, nextOf, Schedule, type When } from '../../../agent/power/schedule.ts';

const DAY = 86_400_000;
const PARIS = 'Europe/Paris';
const every = [true, true, true, true, true, true, true];
const only = (...days: number[]): boolean[] => every.map((_, day) => days.includes(day));
const local = (seconds: number, rest: Partial<Extract<When, { kind: 'local' }>> = {}): When => ({
  kind: 'local',
  seconds,
  weekdays: every,
  zone: PARIS,
  repeats: true,
  ...rest,
});
const at = (text: string): number => Date.parse(text);
const said = (moment: number): string => new Date(moment).toISOString();

describe('the next occurrence', () => {
  test.each([
    ['today', 7, '2026-01-05T05:59:59.999Z', '2026-01-05T06:00:00.000Z'],
    ['tomorrow if the time is now', 7, '2026-01-05T06:00:00.000Z', '2026-01-06T06:00:00.000Z'],
    ['an hour earlier in summer', 7, '2026-07-05T06:00:00.000Z', '2026-07-06T05:00:00.000Z'],
    ['across the change to summer time', 7, '2026-03-28T06:00:00.000Z', '2026-03-29T05:00:00.000Z'],
    ['an hour later for a skipped local time', 2.5, '2026-03-28T12:00:00.000Z', '2026-03-29T01:30:00.000Z'],
    ['the first of a local time that occurs twice', 2.5, '2026-10-24T12:00:00.000Z', '2026-10-25T00:30:00.000Z'],
    [
      'the next day after the first of a local time that occurs twice',
      2.5,
      '2026-10-25T00:30:00.000Z',
      '2026-10-26T01:30:00.000Z',
    ],
  ])('the next occurrence is %s', (_name, hour, after, expected) => {
    expect(said(nextOf(local(hour * 3600), at(after)))).toBe(expected);
  });

  test('the next occurrence is on a selected weekday in its time zone', () => {
    // Monday 23:30 UTC is Tuesday in Paris.
    const tuesdays = local(600, { weekdays: only(1) });
    expect(said(nextOf(tuesdays, at('2026-01-05T12:00:00Z')))).toBe('2026-01-05T23:10:00.000Z');
    expect(said(nextOf(tuesdays, at('2026-01-05T23:10:00Z')))).toBe('2026-01-12T23:10:00.000Z');
  });

  test('the next occurrence shows the requested time of day on a requested day', () => {
    const zone = fc.constantFrom(PARIS, 'America/New_York', 'Asia/Kathmandu', 'Australia/Lord_Howe', 'Pacific/Apia');
    const days = fc.array(fc.boolean(), { minLength: 7, maxLength: 7 }).filter((day) => day.includes(true));
    const time = fc.oneof(fc.nat(86_399), fc.integer({ min: 7_200, max: 10_799 }));
    // Half of the cases begin within a day before clocks go forward: in Paris, New York, on Lord Howe, in Apia.
    const skips = ['2026-03-29T01:00Z', '2026-03-08T07:00Z', '2026-10-03T15:30Z', '2011-12-30T10:00Z'].map(at);
    const moment = fc.oneof(
      fc.integer({ min: 0, max: 4e12 }),
      fc.tuple(fc.constantFrom(...skips), fc.nat(DAY)).map(([skip, before]) => skip - before),
    );
    fc.assert(
      fc.property(zone, days, time, moment, (name, weekdays, seconds, after) => {
        const next = nextOf(local(seconds, { weekdays, zone: name }), after);
        expect(next).toBeGreaterThan(after);
        expect(next).toBeLessThanOrEqual(after + 9 * DAY);
        // Computed by Intl as well, through a different function than in the tested code.
        const shown = new Intl.DateTimeFormat('en-GB', { timeZone: name, timeStyle: 'medium' }).format(next);
        const wanted = new Date(seconds * 1000).toISOString().slice(11, 19);
        if (shown !== wanted) {
          // The local time is skipped by the clock change: the offset before the change applies.
          expect(localSeconds(name, next - 2 * 3_600_000)).toBe((seconds - 7200 + 86_400) % 86_400);
        }
      }),
      { numRuns: 400 },
    );
  });
});

describe('due entries', () => {
  const noon = at('2026-01-05T12:00:00Z');

  test('a due entry is returned once, at its time and not before', () => {
    const schedule = new Schedule();
    schedule.set('a', { kind: 'once', at: noon }, noon - 10);
    expect(schedule.next).toBe(noon);
    expect(schedule.take(noon - 1)).toEqual([]);
    expect(schedule.take(noon)).toEqual([{ key: 'a', due: noon, skipped: 0, last: true }]);
    expect(schedule.take(noon)).toEqual([]);
    expect(schedule.next).toBeUndefined();
  });

  test('after missed occurrences the newest one is returned, with the number of the others', () => {
    const schedule = new Schedule();
    schedule.set('a', local(13 * 3600), noon - 1);
    const [missed] = schedule.take(noon + 3 * DAY + 5);
    expect(missed).toEqual({ key: 'a', due: noon + 3 * DAY, skipped: 3, last: false });
    expect(schedule.next).toBe(noon + 4 * DAY);
  });

  test('a clock that is set back repeats nothing, and a clock that was wrong loses nothing', () => {
    const schedule = new Schedule();
    schedule.set('a', local(13 * 3600), noon - 1);
    expect(schedule.take(noon)).toHaveLength(1);
    expect(schedule.take(noon - 3_600_000)).toEqual([]);
    expect(schedule.take(noon + 1)).toEqual([]);
    expect(schedule.next).toBe(noon + DAY);
    // The clock is ten years ahead for a while. Occurrences returned then do not count afterwards.
    schedule.take(noon + 3650 * DAY);
    expect(schedule.take(noon + 2)).toEqual([]);
    expect(schedule.next).toBe(noon + DAY);
  });

  test('an entry that does not repeat is removed', () => {
    const schedule = new Schedule();
    schedule.set('a', local(13 * 3600, { repeats: false }), noon - 1);
    expect(schedule.take(noon + DAY)).toEqual([{ key: 'a', due: noon, skipped: 0, last: true }]);
    expect(schedule.has('a')).toBe(false);
  });

  test('every occurrence is returned at most once, whatever the clock and restarts do', () => {
    const step = fc.oneof(
      fc.record({ do: fc.constant('pass' as const), by: fc.integer({ min: 0, max: 3 * DAY }) }),
      fc.record({ do: fc.constant('step' as const), by: fc.integer({ min: -DAY, max: DAY }) }),
      fc.record({ do: fc.constant('restart' as const), by: fc.constant(0) }),
    );
    fc.assert(
      fc.property(fc.array(step, { maxLength: 40 }), fc.nat(86_399), fc.nat(86_399), (steps, one, other) => {
        let schedule = new Schedule();
        let now = noon;
        schedule.set('one', local(one), now);
        schedule.set('other', local(other, { weekdays: only(0, 3) }), now);
        const out = new Set<string>();
        for (const { do: what, by } of steps) {
          now += by;
          if (what === 'restart') {
            const next = new Schedule();
            next.restore(JSON.parse(JSON.stringify(schedule.state())));
            schedule = next;
          }
          for (const { key, due } of schedule.take(now)) {
            expect(due).toBeLessThanOrEqual(now);
            expect(out.has(`${key}@${due}`)).toBe(false);
            out.add(`${key}@${due}`);
          }
          expect(schedule.next).toBeGreaterThan(now);
        }
      }),
      { numRuns: 300 },
    );
  });
});

describe('stored schedules', () => {
  test.each([
    undefined,
    {},
    { items: 1 },
    { items: [{ key: 'a', when: { kind: 'once' }, next: 1 }] },
    { items: [{ key: 'a', when: local(1, { zone: 'Mars/Olympus' }), next: 1 }] },
    { items: [{ key: 'a', when: local(1, { weekdays: only() }), next: 1 }] },
    { items: [{ key: 'a', when: local(1), next: 'soon' }] },
  ])('an invalid stored schedule is refused and the current one stays: %j', (state) => {
    const schedule = new Schedule();
    schedule.set('a', { kind: 'once', at: 5 }, 0);
    expect(() => schedule.restore(state)).toThrow(expect.objectContaining({ code: 'input.malformed' }));
    expect(schedule.next).toBe(5);
  });
});
