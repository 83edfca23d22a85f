import { describe, expect, test } from 'vitest';
import { zoneOf } from '../../../agent/monitors/calendar.ts';
import { MonitorRig } from './rig.ts';
import { MINUTE, rule, SECOND, T, told } from './rules.ts';

describe('zone triggers', () => {
  const zone = (transition: string, latitude: number, longitude: number, radius = 1): object => ({
    name: 'z',
    zone: { transition, place: { radius, center: { latitude, longitude } } },
  });
  const drive = (rig: MonitorRig, ...way: (readonly [number, number])[]): void => {
    for (const [s, [latitude, longitude]] of way.entries()) {
      rig.locate(latitude, longitude, T + s * SECOND);
      rig.tick(T + s * SECOND + 500);
    }
  };

  test('a zone can cross the 180° meridian', () => {
    const rig = new MonitorRig();
    rig.put('m', rule([zone('In', 0, 179.999)]), T);
    drive(rig, [0, 179.98], [0, 179.995], [0, -179.995], [0, -179.98]);
    expect(told(rig)).toEqual(['1.5 z']);
  });

  test('a zone can contain a pole', () => {
    const rig = new MonitorRig();
    rig.put('m', rule([zone('Out', 90, 77)]), T);
    drive(rig, [89.995, 0], [89.995, 180], [89.98, 180]);
    expect(told(rig)).toEqual(['2.5 z']);
  });

  test('the error of a fix causes no exit and entry of a zone', () => {
    const rig = new MonitorRig();
    rig.put('m', rule([zone('In', 48, 2)]), T);
    const metres = (away: number): readonly [number, number] => [48 + away / 111_195, 2];
    drive(
      rig,
      metres(1500),
      metres(990),
      metres(979),
      metres(1010),
      metres(985),
      metres(1021),
      metres(1010),
      metres(970),
    );
    expect(told(rig)).toEqual(['2.5 z', '7.5 z']);
  });
});

describe('time triggers', () => {
  const used = (at: number, rig: MonitorRig): void => rig.give('kinetic.moving', true, at);
  const night = (start: string, duration: string, timeZone: string): object => ({
    name: 't',
    time: { times: [{ start, duration }], timeZone },
  });
  /**
   * Times at which the trigger starts and stops being met while the car is used throughout, with ticks once a minute.
   */
  function spans(trigger: object, from: number, hours: number): string[] {
    const rig = new MonitorRig();
    rig.put('begin', rule([trigger], 't'), from);
    rig.put('end', rule([trigger], '!t'), from);
    used(from, rig);
    const begun = rig.events.length;
    for (let at = from; at < from + hours * 60 * MINUTE; at += MINUTE) rig.tick(at);
    return rig.events
      .slice(begun)
      .map(({ monitorId, at }) => `${monitorId} ${new Date(at).toISOString().slice(0, 16)}`);
  }

  test('a local time that a clock change skips is computed with the offset before the change', () => {
    // Paris, 29 March 2026: 02:00 is 03:00 at 01:00 UTC.
    expect(spans(night('PT2H30M', 'PT1H', 'Europe/Paris'), Date.UTC(2026, 2, 28, 20), 12)).toEqual([
      'begin 2026-03-29T01:30',
      'end 2026-03-29T02:30',
    ]);
  });

  test('a local time that occurs twice is the first one', () => {
    // Paris, 25 October 2026: 03:00 is 02:00 at 01:00 UTC.
    expect(spans(night('PT2H30M', 'PT1H', 'Europe/Paris'), Date.UTC(2026, 9, 24, 20), 12)).toEqual([
      'begin 2026-10-25T00:30',
      'end 2026-10-25T01:30',
    ]);
  });

  test('an interval of a day lasts a calendar day', () => {
    expect(spans(night('PT0H', 'P1D', 'Europe/Paris'), Date.UTC(2026, 2, 28, 20), 48)).toEqual([]);
    const sunday = { name: 't', time: { times: [{ start: 'PT0H', duration: 'P1D', occurence: { day: ['Sun'] } }] } };
    expect(spans(sunday, Date.UTC(2026, 2, 28, 20), 48)).toEqual(['begin 2026-03-28T23:00', 'end 2026-03-29T22:00']);
  });

  test('a clock change of half an hour counts as half an hour', () => {
    // Lord Howe, 4 April 2026, 15:00 UTC: from +11:00 to +10:30.
    expect(spans(night('PT1H30M', 'PT30M', 'Australia/Lord_Howe'), Date.UTC(2026, 3, 4, 12), 6)).toEqual([
      'begin 2026-04-04T14:30',
      'end 2026-04-04T15:00',
    ]);
  });

  test('a time trigger applies only while the car is used', () => {
    const rig = new MonitorRig();
    rig.put('m', rule([night('PT9H', 'PT8H', 'UTC')]), T);
    rig.tick(T);
    rig.give('ignition.type', 'Stop', T + SECOND);
    expect(rig.events).toEqual([]);
    rig.give('ignition.type', 'StartUp', T + 2 * SECOND);
    expect(told(rig)).toEqual(['2 t']);
  });

  test('a range of weeks can span the new year', () => {
    const winter = {
      name: 't',
      time: { times: [{ start: 'PT12H', duration: 'PT1H', occurence: { week: ['w53-w1'] } }], timeZone: 'UTC' },
    };
    // 2026 has 53 weeks: the last ends on 3 January 2027.
    const days = spans(winter, Date.UTC(2026, 11, 26), 24 * 20).filter((line) => line.startsWith('begin'));
    expect(days.map((line) => line.slice(6, 16))).toEqual([
      '2026-12-28',
      '2026-12-29',
      '2026-12-30',
      '2026-12-31',
      '2027-01-01',
      '2027-01-02',
      '2027-01-03',
      '2027-01-04',
      '2027-01-05',
      '2027-01-06',
      '2027-01-07',
      '2027-01-08',
      '2027-01-09',
      '2027-01-10',
    ]);
  });
});

test('a time zone is stored once, whatever letter case the monitors use', () => {
  expect(zoneOf('eUrOpE/pArIs')).toBe(zoneOf('Europe/Paris'));
  expect(zoneOf('EUROPE/PARIS').offset(Date.UTC(2026, 6, 1))).toBe(7_200_000);
});
