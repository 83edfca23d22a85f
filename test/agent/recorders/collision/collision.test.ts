import { describe, expect, test } from 'vitest';
import { Monitors } from '../../../../agent/monitors/monitors.ts';
import { CollisionRecorder } from '../../../../agent/recorders/collision/collision.ts';
import type { MonitorEvent } from '../../../../protocol/schema/event.ts';
import { readingsFromTelemetry } from '../../../../protocol/schema/telemetry.ts';
import { recorderRig } from '../rig.ts';

const T = Date.UTC(2026, 3, 1);
const rule = { threshold: 30, speedChange: 8, before: 2000, after: 3000 };
const paths = [
  'acceleration.longitudinal',
  'acceleration.lateral',
  'acceleration.vertical',
  'collision.detected',
  'collision.side',
  'collision.severity',
  'collision.tippedOver',
  'collision.pedestrian',
  'safety.autoECallTriggering',
  'kinetic.speed',
  'privacy.state',
];

function setUp() {
  const rig = recorderRig(paths);
  const { status, records } = rig;
  const make = () => new CollisionRecorder({ status, records, trips: { current: 'abc-1' }, rule });
  const recorder = make();
  rig.connect(recorder);
  const told = () => rig.of('collision');
  /** Drives with one sample every 5 ms. `pulse` returns longitudinal and lateral acceleration by ms since T. */
  const drive = (ms: number, pulse: (t: number) => [number, number, number?], from = 0) => {
    for (let t = from; t < ms; t += 5) {
      const [along, across, up = 9.8] = pulse(t);
      rig.give('acceleration.longitudinal', along, T + t);
      rig.give('acceleration.lateral', across, T + t);
      rig.give('acceleration.vertical', up, T + t);
      if (t % 100 === 0) rig.give('kinetic.speed', 50 - (t % 1000) / 100, T + t);
      if (t % 1000 === 0) recorder.tick(T + t);
    }
  };
  return { ...rig, recorder, make, told, drive };
}

/** A half sine that changes the speed by `change` km/h within 100 ms from `from`. */
const crash =
  (change: number, from: number) =>
  (t: number): number =>
    t >= from && t < from + 100 ? ((change / 3.6 / 0.1) * Math.PI * Math.sin((Math.PI * (t - from)) / 100)) / 2 : 0;

describe('collision recorder', () => {
  test('an accelerometer pulse is a collision, sent within the window and again with the data around it', () => {
    const { drive, told, locate } = setUp();
    locate(48, 2, T);
    const pulse = crash(-30, 4000);
    drive(4300, (t) => [pulse(t), 0]);
    expect(told()).toHaveLength(1);
    expect(told()[0]).toMatchObject({ details: [{ side: 'Front', severity: 'Major' }], tid: 'abc-1' });
    expect(told()[0]?.position?.geometry.coordinates).toEqual([2, 48]);
    expect(told()[0]?.longitudinalChange).toBeGreaterThan(-33);
    expect(told()[0]?.longitudinalChange).toBeLessThan(-27);
    const again = setUp();
    again.drive(9000, (t) => [pulse(t), 0]);
    const [, complete] = again.told();
    const { pulse: kept, readings } = complete ?? {};
    expect(kept?.interval).toBe(5);
    // From two seconds before the threshold was crossed to three after it.
    expect(kept?.longitudinal).toHaveLength(1001);
    expect(Math.min(...(kept?.longitudinal ?? []))).toBeLessThan(-100);
    expect(kept?.vertical?.[0]).toBe(9.8);
    const speeds = (readings === undefined ? [] : readingsFromTelemetry(readings)).filter(
      ({ slot }) => slot.path === 'kinetic.speed',
    );
    expect(speeds.length).toBeGreaterThanOrEqual(45);
    expect(again.told()).toHaveLength(2);
  });

  test.each([
    ['hard braking', (t: number): [number, number] => [t > 1000 && t < 4000 ? -10.5 : 0, 0]],
    ['a pothole', (t: number): [number, number] => [t >= 2000 && t < 2010 ? -60 : t >= 2010 && t < 2020 ? 55 : 0, 0]],
    ['a kerb', (t: number): [number, number] => [t >= 2000 && t < 2020 ? -40 : 0, 0]],
    ['a slammed door', (t: number): [number, number] => [0, t === 2000 ? 80 : t === 2005 ? -70 : 0]],
  ])('%s is not a collision', (_name, pulse) => {
    const { drive, told } = setUp();
    drive(6000, pulse);
    expect(told()).toEqual([]);
  });

  test('a collision signal of the car sets the sides, before or after the pulse', () => {
    for (const order of [
      ['collision.side', 'collision.detected', 'collision.severity'],
      ['collision.detected', 'collision.severity', 'collision.side'],
    ]) {
      const { give, recorder, told } = setUp();
      for (const [n, path] of order.entries()) {
        give(path, path.endsWith('side') ? 'Rear' : path.endsWith('severity') ? 'Minor' : true, T + n * 100);
      }
      recorder.tick(T + 10_000);
      expect(told().at(-1)).toMatchObject({ details: [{ side: 'Rear', severity: 'Minor' }] });
      expect(new Set(told().map(({ id }) => id)).size).toBe(1);
    }
  });

  test('an automatic emergency call is a collision; a second impact adds a side, and a rollover is recorded', () => {
    const { give, drive, told, recorder } = setUp();
    give('safety.autoECallTriggering', 'NotDetected', T - 1000);
    const first = crash(-20, 1000);
    const second = crash(40, 2500);
    drive(6000, (t) => [first(t), second(t), t > 3000 ? 0.5 : 9.8]);
    give('safety.autoECallTriggering', 'Detected', T + 2000);
    recorder.tick(T + 20_000);
    expect(new Set(told().map(({ id }) => id)).size).toBe(2);
    const whole = told()
      .filter(({ id }) => id === told()[0]?.id)
      .at(-1);
    expect(whole).toMatchObject({
      details: [
        { side: 'Front', severity: 'Minor' },
        { side: 'Lateral', severity: 'Major' },
      ],
    });
  });

  test('a car that lies on its side after the impact is recorded as tipped over', () => {
    const { drive, told } = setUp();
    const pulse = crash(-20, 500);
    drive(5000, (t) => [pulse(t), 0, t > 700 ? 0.5 : 9.8]);
    expect(told().at(-1)).toMatchObject({ tippedOver: true, details: [{ side: 'Front' }] });
  });

  test('Full privacy keeps the collision but hides position and speed', () => {
    const { give, locate, drive, told, recorder } = setUp();
    locate(48, 2, T - 2000);
    give('kinetic.speed', 77, T - 1500);
    give('privacy.state', 'Full', T - 1000);
    const pulse = crash(-30, 1000);
    drive(3000, (t) => [pulse(t), 0]);
    recorder.tick(T + 10_000);
    expect(told()[0]).toMatchObject({ details: [{ side: 'Front' }] });
    for (const record of told()) {
      expect(record.position).toBeUndefined();
      const paths = (record.readings === undefined ? [] : readingsFromTelemetry(record.readings)).map(
        ({ slot }) => slot.path,
      );
      expect(paths.filter((path) => path !== 'privacy.state')).toEqual([]);
    }
  });

  test('a saturated accelerometer yields no change of speed, because the pulse has no shape', () => {
    const { drive, told } = setUp();
    drive(6000, (t) => [t > 1000 ? -5000 : 0, t > 1000 ? 5000 : 0]);
    expect(told()[0]).toMatchObject({ longitudinalChange: -1000, lateralChange: 1000 });
    expect(told().length).toBeGreaterThan(1);
  });

  test('samples too far apart form no pulse, and the rest is recorded without them', () => {
    const { give, recorder, told } = setUp();
    give('acceleration.longitudinal', -1, T - 1500);
    give('kinetic.speed', 50, T - 1000);
    give('collision.detected', true, T);
    give('acceleration.longitudinal', -2, T + 500);
    give('acceleration.longitudinal', -2, T + 2900);
    recorder.tick(T + 10_000);
    expect(told()).toHaveLength(2);
    expect(told()[1]?.readings).toBeDefined();
    expect(told()[1]?.pulse).toBeUndefined();
  });

  test('a collision that was open at a power cut is completed afterwards', () => {
    const { give, recorder, make, told } = setUp();
    give('collision.side', 'Front', T);
    give('collision.detected', true, T);
    const next = make();
    next.restore(structuredClone(recorder.state()));
    next.changed({ path: 'x', kind: 'text' } as never, 'x', undefined, T);
    next.tick(T + 10_000);
    next.tick(T + 20_000);
    expect(told().at(-1)?.details).toEqual([{ side: 'Front' }]);
    expect(told()).toHaveLength(1);
  });

  test.each([
    ['during the impact', 4050],
    ['after the first report', 4500],
    ['before the impact', 3000],
  ])('a power cut %s loses neither the pulse nor earlier samples', (_when, cut) => {
    const pulse = crash(-30, 4000);
    const drive = (t: number): [number, number] => [pulse(t), 0];
    const whole = setUp();
    whole.drive(9000, drive);
    const before = setUp();
    before.drive(cut, drive);
    const after = setUp();
    after.recorder.restore(structuredClone(before.recorder.state()));
    after.drive(9000, drive, cut);
    const told = [...before.told(), ...after.told()];
    expect(told.map(({ details }) => details)).toEqual(whole.told().map(({ details }) => details));
    const [complete, expected] = [told.at(-1), whole.told().at(-1)];
    // Before a collision was suspected, nothing was stored: its pulse begins at the restart.
    const lost = cut < 4000 ? (cut - 2000) / 5 : 0;
    expect(complete?.pulse?.longitudinal?.length).toBeGreaterThanOrEqual(1001 - lost - 5);
    const peak = Math.min(...(expected?.pulse?.longitudinal ?? []));
    expect(Math.min(...(complete?.pulse?.longitudinal ?? []))).toBe(peak);
    expect(complete?.longitudinalChange).toBeCloseTo(expected?.longitudinalChange ?? Number.NaN, 0);
  });

  /** Signals of the restraint control module in one frame, as the bench car's profile maps them. */
  const said = (side?: string, severity?: string) => ({
    'collision.detected': side !== undefined,
    'collision.side': side,
    'collision.severity': severity,
  });

  /** Adds monitors for side and severity. Returns their events. */
  function watched({ status, records }: ReturnType<typeof setUp>): MonitorEvent[] {
    const events: MonitorEvent[] = [];
    const log = { info: () => undefined, warn: () => undefined, error: () => undefined };
    const monitors = new Monitors({
      status,
      trips: { present: () => undefined },
      log,
      emit: (event) => void events.push(event),
    });
    records.observe(monitors);
    for (const [data, value] of [
      ['vehicle.collision.side', ['Front', 'Rear', 'Lateral']],
      ['vehicle.collision.severity', ['Minimal', 'Minor', 'Major']],
    ] as const) {
      const triggers = [{ name: 'hit', data: { data, op: 'includedIn', value: [...value] } }];
      monitors.put(data.slice(18), { label: data, triggerParam: { triggers, boolExp: 'hit' } }, T - 1000);
    }
    return events;
  }

  test.each([
    ['the same side and severity', ['Front', 'Minor'], ['Front', 'Minor']],
    ['the same side, harder', ['Front', 'Minor'], ['Front', 'Major']],
    ['another side, as hard', ['Front', 'Minor'], ['Rear', 'Minor']],
  ])('a second crash has its own record and event with its own details: %s', (_name, first, second) => {
    const rig = setUp();
    const { frame, recorder, told } = rig;
    const events = watched(rig);
    frame(said(), T);
    frame(said(...first), T + 1_000);
    frame(said(), T + 2_000);
    recorder.tick(T + 60_000);
    frame(said(...second), T + 61_000);
    frame(said(), T + 62_000);
    recorder.tick(T + 120_000);
    const details = [first, second].map(([side, severity]) => [{ side, severity }]);
    expect(told().map((record) => record.details)).toEqual(details);
    expect(new Set(told().map(({ id }) => id)).size).toBe(2);
    expect(events.map(({ monitorId, values }) => [monitorId, values?.[0]?.collision?.details])).toEqual(
      details.flatMap((detail) => [
        ['side', detail],
        ['severity', detail],
      ]),
    );
  });

  test('two crashes that the car reports separately are two collisions, however close together', () => {
    const { frame, recorder, told } = setUp();
    frame(said('Rear', 'Minor'), T);
    frame(said(), T + 1_000);
    frame(said('Rear', 'Minor'), T + 1_500);
    frame(said(), T + 2_500);
    recorder.tick(T + 20_000);
    const ids = [...new Set(told().map(({ id }) => id))];
    expect(ids).toHaveLength(2);
    for (const id of ids) {
      const forms = told().filter((record) => record.id === id);
      expect(forms.at(-1)?.details).toEqual([{ side: 'Rear', severity: 'Minor' }]);
    }
  });

  test('a side that changes while the crash signal is still set is another crash', () => {
    const { frame, recorder, told } = setUp();
    frame(said('Front', 'Minor'), T);
    recorder.tick(T + 60_000);
    frame(said('Front', 'Minimal'), T + 60_500);
    frame(said('Rear', 'Minor'), T + 61_000);
    recorder.tick(T + 120_000);
    expect(told().map(({ details }) => details)).toEqual([
      [{ side: 'Front', severity: 'Minor' }],
      [{ side: 'Rear', severity: 'Minor' }],
    ]);
  });

  test('the first version of a record contains everything that one frame reports', () => {
    const { frame, told } = setUp();
    frame({ 'safety.autoECallTriggering': 'NotDetected', ...said() }, T - 1_000);
    const words = { 'collision.tippedOver': true, 'collision.pedestrian': true };
    frame({ 'safety.autoECallTriggering': 'Detected', ...said('Rear', 'Major'), ...words }, T);
    expect(told()).toHaveLength(1);
    expect(told()[0]).toMatchObject({
      createdAt: T,
      tippedOver: true,
      pedestrian: true,
      details: [{ side: 'Rear', severity: 'Major' }],
    });
  });

  test('a crash without a reported side does not get the side of the previous crash', () => {
    const { frame, recorder, told } = setUp();
    frame(said('Front', 'Minor'), T);
    frame(said(), T + 1_000);
    recorder.tick(T + 60_000);
    frame({ 'collision.detected': true, 'collision.side': undefined, 'collision.severity': undefined }, T + 61_000);
    expect(told().at(-1)?.createdAt).toBe(T + 61_000);
    expect(told().at(-1)?.details).toBeUndefined();
  });

  test('a crash signal still set after a power cut is the earlier crash, and the next one counts', () => {
    const before = setUp();
    before.frame(said('Front', 'Minor'), T);
    before.recorder.tick(T + 20_000);
    const after = setUp();
    after.recorder.restore(structuredClone(before.recorder.state()));
    after.frame(said('Front', 'Minor'), T + 30_000);
    expect(after.told()).toEqual([]);
    after.frame(said(), T + 31_000);
    after.frame(said('Front', 'Minor'), T + 32_000);
    expect(after.told().map(({ details }) => details)).toEqual([[{ side: 'Front', severity: 'Minor' }]]);
  });

  test('a crash after a power cut counts although the first frame afterwards reported none', () => {
    const before = setUp();
    before.frame(said('Front', 'Minor'), T);
    before.recorder.tick(T + 20_000);
    const after = setUp();
    after.recorder.restore(structuredClone(before.recorder.state()));
    after.frame(said(), T + 31_000);
    after.frame(said('Front', 'Minor'), T + 32_000);
    expect(after.told().map(({ details }) => details)).toEqual([[{ side: 'Front', severity: 'Minor' }]]);
  });

  test('a clock correction moves all times of an open collision', () => {
    const { drive, told, recorder } = setUp();
    const pulse = crash(-30, 4000);
    drive(4300, (t) => [pulse(t), 0]);
    const by = 3_600_000;
    recorder.correct(by, T + by + 4300);
    recorder.tick(T + by + 9000);
    const complete = told().at(-1);
    expect(told()).toHaveLength(2);
    expect([complete?.createdAt, complete?.pulse?.start]).toEqual([
      (told()[0]?.createdAt ?? 0) + by,
      (told()[0]?.createdAt ?? 0) + by - rule.before,
    ]);
    const times = complete?.readings === undefined ? [] : readingsFromTelemetry(complete.readings).map(({ at }) => at);
    expect(times.length).toBeGreaterThan(20);
    expect(Math.min(...times)).toBeGreaterThanOrEqual(T + by);
    expect(Math.max(...times)).toBeLessThanOrEqual(T + by + 4300);
  });

  test('an invalid stored state is refused', () => {
    const { recorder } = setUp();
    for (const state of [
      { report: 'x' },
      { open: { until: 1 }, report: {} },
      { open: { record: { id: 'a' } }, report: {} },
    ]) {
      expect(() => recorder.restore(state)).toThrow('the stored collision is invalid');
    }
  });
});
