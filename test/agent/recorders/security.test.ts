import { describe, expect, test } from 'vitest';
import { AlarmRecorder } from '../../../agent/recorders/alarm.ts';
import { MaintenanceRecorder } from '../../../agent/recorders/maintenance.ts';
import { TheftRecorder } from '../../../agent/recorders/theft.ts';
import { recorderRig } from './rig.ts';

const T = Date.UTC(2026, 3, 1);

describe('maintenance recorder', () => {
  function setUp() {
    const rig = recorderRig(['maintenance.days', 'maintenance.mileage', 'privacy.state']);
    const recorder = new MaintenanceRecorder(rig.status, rig.records);
    rig.connect(recorder);
    return { ...rig, recorder, told: () => rig.of('maintenance') };
  }

  test('maintenance is recorded for days and distance, then each day and distance step, and when overdue', () => {
    const { give, recorder, told } = setUp();
    give('maintenance.days', 10, T);
    give('maintenance.mileage', 60, T);
    recorder.tick(T + 1000);
    give('maintenance.mileage', 30, T + 2000);
    recorder.tick(T + 3000);
    give('maintenance.mileage', 9, T + 4000);
    recorder.tick(T + 5000);
    give('maintenance.mileage', -1, T + 6000);
    recorder.tick(T + 7000);
    give('maintenance.days', 9, T + 8000);
    recorder.tick(T + 9000);
    expect(
      told().map(({ daysBeforeMaintenance, mileageBeforeMaintenance }) => [
        daysBeforeMaintenance,
        mileageBeforeMaintenance,
      ]),
    ).toEqual([
      [10, 60],
      [10, 9],
      [10, -1],
      [9, -1],
    ]);
    expect(new Set(told().map(({ id }) => id)).size).toBe(1);
    expect(told()[3]).toMatchObject({ createdAt: T + 1000, updatedAt: T + 9000 });
  });

  test('after a service there is a new maintenance record, even with a power cut in between', () => {
    const { give, recorder, status, records, told } = setUp();
    give('maintenance.days', -3, T);
    recorder.tick(T + 1000);
    const next = new MaintenanceRecorder(status, records);
    next.restore(structuredClone(recorder.state()));
    next.channel({ path: 'maintenance.mileage' } as never, 1);
    next.tick(T + 2000);
    expect(told()).toHaveLength(1);
    give('maintenance.days', 365, T + 3000);
    recorder.tick(T + 4000);
    expect(told().map(({ daysBeforeMaintenance }) => daysBeforeMaintenance)).toEqual([-3, 365]);
    expect(told()[0]?.id).not.toBe(told()[1]?.id);
  });
});

describe('alarm recorder', () => {
  function setUp() {
    const rig = recorderRig(['alarm.status.activation', 'alarm.trigger.type']);
    const recorder = new AlarmRecorder(rig.status, rig.mapping, rig.records);
    rig.connect(recorder);
    return { ...rig, told: () => rig.of('alarm') };
  }

  test('an alarm records arming, trigger and position, and Status has the time as well', () => {
    const { give, locate, told, status } = setUp();
    give('alarm.status.activation', 'Inactive', T);
    give('alarm.trigger.type', 'NoBreakIn', T);
    expect(told()).toEqual([]);
    give('alarm.status.activation', 'Active', T + 1000);
    locate(48, 2, T + 1500);
    give('alarm.trigger.type', 'TrunkDoorBreakIn', T + 2000);
    give('alarm.trigger.type', 'NoBreakIn', T + 62_000);
    expect(told()).toMatchObject([
      { status: { activation: 'Active', createdAt: T + 1000 } },
      { trigger: { type: 'TrunkDoorBreakIn', startAt: T + 2000, position: { geometry: { coordinates: [2, 48] } } } },
    ]);
    expect(status.contents().alarm?.trigger).toMatchObject({ type: 'NoBreakIn', startAt: T + 62_000 });
  });
});

describe('theft recorder', () => {
  const paths = [
    'alarm.trigger.type',
    'ignition.type',
    'odometer.mileage',
    'key.present',
    'privacy.state',
    'kinetic.speed',
  ];

  function setUp() {
    const rig = recorderRig(paths);
    const { status, mapping, records } = rig;
    const make = () =>
      new TheftRecorder({ status, writer: mapping, records, rule: { distance: 100, within: 600_000 } });
    const recorder = make();
    rig.connect(recorder);
    const park = () => {
      rig.give('alarm.trigger.type', 'NoBreakIn', T);
      rig.give('ignition.type', 'Stop', T);
      rig.locate(48, 2, T);
    };
    /** A fix, followed by a tick of the recorder. */
    const locate: typeof rig.locate = (latitude, longitude, at) => {
      rig.locate(latitude, longitude, at);
      recorder.tick(at);
    };
    return { ...rig, locate, recorder, make, park, told: () => rig.of('stolen') };
  }

  test('a theft is declared by command until the car is declared found', () => {
    const { recorder, locate, status, told, park } = setUp();
    park();
    recorder.declare(true, T + 1000);
    expect(status.contents().stolen).toMatchObject({ state: true, startedAt: T + 1000, id: told()[0]?.id });
    recorder.declare(true, T + 2000);
    expect(told()).toHaveLength(1);
    locate(48.01, 2, T + 100_000);
    recorder.declare(false, T + 101_000);
    expect(status.contents().stolen).toBeUndefined();
    expect(told()[1]).toMatchObject({ id: told()[0]?.id, state: false, endAt: T + 101_000, origin: 'Declared' });
    expect(told()[1]?.endPosition?.geometry.coordinates).toEqual([2, 48.01]);
    recorder.declare(false, T + 102_000);
    expect(told()).toHaveLength(2);
  });

  test('a declared theft shows data that privacy hides, and hides it again afterwards', () => {
    const { recorder, give, locate, status, told, park } = setUp();
    park();
    give('privacy.state', 'Full', T + 500);
    recorder.declare(true, T + 1000);
    expect(status.contents().stolen).toMatchObject({ state: true });
    locate(48.001, 2, T + 2000);
    expect(status.contents().lastPosition).toBeDefined();
    recorder.declare(false, T + 3000);
    expect(status.contents().lastPosition).toBeUndefined();
    expect(told()).toHaveLength(2);
  });

  test('movement without a key after an alarm is a theft: towed, carried, or driven without the right key', () => {
    for (const [type, before] of [
      ['VehicleLifting', 'key.present'],
      ['VehicleLifting', 'nothing'],
      ['UnauthenticatedStartup', 'ignition'],
    ] as const) {
      const { give, locate, told, park } = setUp();
      park();
      if (before === 'key.present') give('key.present', false, T + 500);
      if (before === 'ignition') give('ignition.type', 'Start', T + 500);
      give('alarm.trigger.type', type, T + 1000);
      locate(48.0005, 2, T + 20_000);
      expect(told(), type).toEqual([]);
      locate(48.002, 2, T + 60_000);
      expect(told(), type).toMatchObject([{ state: true, origin: 'Alarm', startedAt: T + 60_000 }]);
    }
  });

  test('movement with a key, too late, or without an alarm is not a theft', () => {
    const { give, locate, recorder, told, park } = setUp();
    park();
    locate(48.01, 2, T + 60_000);
    give('alarm.trigger.type', 'VolumetricBreakIn', T + 61_000);
    give('key.present', true, T + 62_000);
    locate(48.02, 2, T + 160_000);
    give('key.present', false, T + 161_000);
    give('alarm.trigger.type', 'NoBreakIn', T + 161_000);
    give('alarm.trigger.type', 'VolumetricBreakIn', T + 162_000);
    recorder.tick(T + 762_001);
    locate(48.03, 2, T + 762_002);
    expect(told()).toEqual([]);
  });

  test('a theft that the car detected ends when a key is present, and survives a power cut', () => {
    const { give, locate, recorder, make, told, park } = setUp();
    park();
    give('key.present', false, T + 500);
    give('alarm.trigger.type', 'VehicleLifting', T + 1000);
    locate(48.002, 2, T + 60_000);
    const next = make();
    next.restore(structuredClone(recorder.state()));
    expect(next.current?.id).toBe(told()[0]?.id);
    give('key.present', true, T + 90_000);
    expect(told()[1]).toMatchObject({ state: false, endAt: T + 90_000 });
  });
});
