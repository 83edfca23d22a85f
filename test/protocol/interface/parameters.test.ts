import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { VigieError } from '../../../protocol/errors.ts';
import { dateTime } from '../../../protocol/interface/json/date-time.ts';
import type { Operation } from '../../../protocol/interface/operation.ts';
import { operationById, operations } from '../../../protocol/interface/operations.ts';
import { after, calendarDuration } from '../../../protocol/interface/parameters/calendar-duration.ts';
import { covers, type Period, readPeriods } from '../../../protocol/interface/parameters/periods.ts';
import { readHeaders, readPath, readQuery } from '../../../protocol/interface/parameters.ts';

const NOW = Date.parse('2026-06-15T12:00:00Z');
const HOUR = 3_600_000;
const DAY = 24 * HOUR;
const at = (text: string): number => Date.parse(text);
const operation = (id: string): Operation => operationById.get(id) as Operation;

function query(id: string, text: string): Readonly<Record<string, unknown>> {
  return readQuery(operation(id), new URLSearchParams(text), NOW);
}

function refusal(id: string, text: string): string {
  try {
    query(id, text);
  } catch (error) {
    expect(error).toBeInstanceOf(VigieError);
    expect((error as VigieError).code).toBe('input.malformed');
    return (error as VigieError).message;
  }
  throw new Error(`${text} was taken`);
}

describe('the parameters of a query', () => {
  it('are parsed by their schemas; lists are repeated or comma-separated', () => {
    expect(query('fleet.telemetry.list', 'type=vehicle.adas,privacy&type=environment&pageSize=2000&other=1')).toEqual({
      type: ['vehicle.adas', 'privacy', 'environment'],
      pageSize: 2000,
    });
    expect(
      query('fleet.trips.list', 'distance=0.1-&duration=60-3600&states=Nominal&indexRange=5-&profile=endUser'),
    ).toEqual({
      distance: { min: 0.1 },
      duration: { min: 60, max: 3600 },
      states: ['Nominal'],
      indexRange: { min: 5 },
      profile: 'endUser',
    });
    expect(query('fleet.tripWaypoints.list', 'tolerance=0.25')).toEqual({ tolerance: 0.25 });
    expect(query('user.user.get', 'country=CL')).toEqual({ country: 'CL' });
  });

  it('are refused with their name and the rule', () => {
    expect(refusal('fleet.alerts.list', 'pageSize=0')).toBe('pageSize: must be a whole number from 1 to 60, is "0"');
    expect(refusal('fleet.alerts.list', 'pageSize=1.5')).toMatch(/^pageSize: must be a whole number/);
    expect(refusal('fleet.telemetry.list', 'pageSize=2001')).toMatch(/^pageSize: .* 1 to 2000/);
    expect(refusal('fleet.alerts.list', 'pageSize=5&pageSize=5')).toBe(
      'pageSize: must be given once, is given 2 times',
    );
    expect(refusal('user.user.get', 'country=CHL')).toBe('country: must be one of CL, BR, AR, is "CHL"');
    expect(refusal('user.telemetry.list', 'type=vehicle.lighting')).toMatch(/^type: must be one of/);
    expect(refusal('user.telemetry.list', 'extension=')).toMatch(/^extension: must be one of/);
    expect(refusal('fleet.vehicles.list', 'extension=branding,pictures,branding')).toMatch(
      /^extension: .* 1 to 2 values/,
    );
    expect(refusal('fleet.alerts.list', 'indexRange=9-3')).toBe(
      'indexRange: must not end below where it begins, is 9-3',
    );
    expect(refusal('fleet.trips.list', 'duration=0.5-')).toMatch(/^duration: must match/);
    expect(refusal('fleet.trips.list', 'distance=1.25-')).toMatch(/^distance: must match/);
    expect(refusal('fleet.tripWaypoints.list', 'tolerance=-1')).toMatch(/^tolerance: must be a number from 0/);
    expect(refusal('fleet.tripWaypoints.list', 'tolerance=1e999')).toMatch(/^tolerance/);
    expect(refusal('fleet.alerts.list', `timestamps=${Array(11).fill('2026-01-01T00:00:00Z/').join()}`)).toMatch(
      /^timestamps: must have 1 to 10 values, has 11/,
    );
  });

  it('are parsed, or refused with a name, whatever is sent', () => {
    const names = fc.constantFrom(
      ...new Set(operations.flatMap(({ parameters }) => parameters.map(({ name }) => name))),
    );
    const texts = fc.oneof(
      fc.string({ unit: 'binary', maxLength: 40 }),
      fc.string({ unit: fc.constantFrom(...'0123456789-./TPRDMYSZ:+ ,') }),
    );
    const sent = fc.array(fc.tuple(names, texts), { maxLength: 6 });
    fc.assert(
      fc.property(fc.constantFrom(...operations), sent, (one, given) => {
        try {
          const values = readQuery(one, given, NOW);
          const known = one.parameters.filter((parameter) => parameter.in === 'query').map(({ name }) => name);
          expect(known).toEqual(expect.arrayContaining(Object.keys(values)));
        } catch (error) {
          expect(error).toBeInstanceOf(VigieError);
          expect(given.map(([name]) => name)).toContain((error as VigieError).message.split(':')[0]);
        }
      }),
      { numRuns: 2000 },
    );
  });
});

describe('the parameters of a path and of headers', () => {
  it('have limits', () => {
    const read = (cbid: string): unknown => readPath(operation('user.callbacks.get'), { cbid });
    expect(read('0aF-_')).toEqual({ cbid: '0aF-_' });
    expect(() => read('0x')).toThrow(/^cbid: must match/);
    expect(() => readPath(operation('fleet.fleets.get'), { fid: 'f'.repeat(257) })).toThrow(/^fid: must have 1 to 256/);
    expect(() => readPath(operation('fleet.fleets.get'), {})).toThrow(/^fid: is missing/);
  });

  it('are read by lower-case name', () => {
    const headers = new Headers({ 'Idempotency-Key': 'k', VID: 'v' });
    expect(readHeaders(operation('fleet.monitors.create'), (name) => headers.get(name))).toEqual({
      'idempotency-key': 'k',
      vid: 'v',
    });
    expect(() => readHeaders(operation('fleet.monitors.create'), () => 'é')).toThrow(/^(vid|Idempotency-Key): /);
  });
});

describe('timestamps', () => {
  const T = '2026-06-10T00:00:00Z';
  const from = at(T);

  it('can have six forms', () => {
    expect(readPeriods([`${T}/2026-06-11T00:00:00Z`], NOW)).toEqual([{ from, to: from + DAY + 1 }]);
    expect(readPeriods([`${T}/PT1H`], NOW)).toEqual([{ from, to: from + HOUR + 1 }]);
    expect(readPeriods([`${T}/P1M`], NOW)).toEqual([{ from, to: at('2026-07-10T00:00:00Z') + 1 }]);
    expect(readPeriods([`${T}/`], NOW)).toEqual([{ from }]);
    expect(readPeriods([`/${T}`], NOW)).toEqual([{ to: from + 1 }]);
    const hour = (day: number): Period => ({ from: from + day * DAY, to: from + day * DAY + HOUR + 1 });
    expect(readPeriods([`R2/${T}/PT1H`], NOW)).toEqual([hour(0), hour(1)]);
    expect(readPeriods([`R/${T}/PT1H`], NOW)).toEqual([0, 1, 2, 3, 4, 5].map(hour));
    expect(readPeriods([`R2/${T}/PT1H/P2D`], NOW)).toEqual([hour(0), hour(2)]);
    expect(readPeriods([`R/2026-05-31T00:00:00Z/PT1H/P1M`], NOW)).toEqual([
      { from: at('2026-05-31T00:00:00Z'), to: at('2026-05-31T01:00:00Z') + 1 },
    ]);
  });

  it('can repeat without end only if each period runs into the next', () => {
    expect(readPeriods(['R/1990-01-01T00:00:00Z/PT1H/PT1H'], NOW)).toEqual([
      { from: at('1990-01-01T00:00:00Z'), to: NOW + HOUR + 1 },
    ]);
    expect(() => readPeriods(['R/1990-01-01T00:00:00Z/PT1S/PT1M'], NOW)).toThrow(/timestamps: must not have more than/);
  });

  it('become disjoint ascending periods; repetitions that start in the future are empty', () => {
    expect(readPeriods([`${T}/PT1H`, '/2026-01-01T00:00:00Z', '2026-06-10T00:30:00Z/'], NOW)).toEqual([
      { to: at('2026-01-01T00:00:00Z') + 1 },
      { from },
    ]);
    expect(readPeriods(['R/2030-01-01T00:00:00Z/PT1H'], NOW)).toEqual([]);
  });

  it('can have an offset whose plus sign arrived as a space', () => {
    expect(readPeriods(['2026-06-10T02:00:00 02:00/'], NOW)).toEqual([{ from }]);
  });

  it('are refused with the rule', () => {
    for (const text of [
      '',
      '/',
      T,
      `${T}/${T}/${T}`,
      `${T}/x`,
      `R0/${T}/PT1H`,
      `R2/${T}/PT1H/PT0S`,
      `R2/${T}/`,
      'P1D/P1D',
    ]) {
      expect(() => readPeriods([text], NOW), text).toThrow(/^timestamps: must/);
    }
    expect(() => readPeriods([`${T}/2026-06-09T00:00:00Z`], NOW)).toThrow('must not end before it begins');
  });

  it('cover a time exactly if one of the periods covers it', () => {
    const moment = fc.integer({ min: from, max: from + 2 * DAY });
    const hours = fc.integer({ min: 0, max: 30 });
    const interval = fc.record({
      begin: moment,
      hours,
      count: fc.integer({ min: 1, max: 5 }),
      every: fc.integer({ min: 1, max: 30 }),
    });
    fc.assert(
      fc.property(fc.array(interval, { minLength: 1, maxLength: 6 }), moment, (intervals, probe) => {
        const texts = intervals.map(
          ({ begin, hours: long, count, every }) => `R${count}/${dateTime(begin)}/PT${long}H/PT${every}H`,
        );
        const periods = readPeriods(texts, NOW);
        const naive = intervals.some(({ begin, hours: long, count, every }) =>
          Array.from({ length: count }, (_, index) => begin + index * every * HOUR).some(
            (start) => start <= probe && probe <= start + long * HOUR,
          ),
        );
        expect(covers(periods, probe)).toBe(naive);
        for (const [index, { from: begin = 0 }] of periods.entries()) {
          if (index > 0) expect(begin).toBeGreaterThan(periods[index - 1]?.to ?? Number.POSITIVE_INFINITY);
        }
      }),
    );
  });
});

describe('many periods', () => {
  it('are searched without visiting each: a request may name a hundred thousand', () => {
    let looks = 0;
    const periods = Array.from({ length: 100_000 }, (_, index) => ({
      get from() {
        looks++;
        return index * 10;
      },
      to: index * 10 + 1,
    }));
    expect([5, 10, 999_990, 999_999, 2_000_000, -1].map((moment) => covers(periods, moment))).toEqual([
      false,
      true,
      true,
      false,
      false,
      false,
    ]);
    expect(looks).toBeLessThan(6 * 20);
  });
});

describe('durations', () => {
  it('add months by the calendar', () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 0, max: at('2200-01-01T00:00:00Z') }),
        fc.integer({ min: 0, max: 500 }),
        (moment, months) => {
          const date = new Date(moment);
          const first = Date.UTC(date.getUTCFullYear(), date.getUTCMonth() + months, 1);
          const last = new Date(Date.UTC(date.getUTCFullYear(), date.getUTCMonth() + months + 1, 0)).getUTCDate();
          const wanted = first + (Math.min(date.getUTCDate(), last) - 1) * DAY + (((moment % DAY) + DAY) % DAY);
          expect(after(moment, { months, milliseconds: 0 })).toBe(wanted);
        },
      ),
    );
  });

  it('can only be ISO 8601', () => {
    expect(calendarDuration('P1Y2M3W4DT5H6M7.5S')).toEqual({
      months: 14,
      milliseconds: 25 * DAY + 5 * HOUR + 6 * 60_000 + 7500,
    });
    expect(calendarDuration('PT0.5H')).toEqual({ months: 0, milliseconds: HOUR / 2 });
    for (const text of ['P', 'PT', 'P1', 'T1H', 'PT1H2', 'P1.5DT1H', 'PT-1H', 'p1d', 'P1H', '']) {
      expect(calendarDuration(text), text).toBeUndefined();
    }
  });
});
