import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { segmentsOf } from '../../../../agent/recorders/trip/segments.ts';
import { MINUTE, profile, Rig, type Says, SECOND, T } from './rig.ts';

const trip = profile(90, 600);
const KM = trip.km(600);
const LOAD = 'energies.Electric.extension.electric.battery.load';
const LEVEL = 'energies.Electric.level';
const CHARGING = 'energies.Electric.extension.electric.charging.status';
const BURNT = 'energies.Fuel.extension.fuel.consumptions.total';
const on = (s: number): Says => ({ 'ignition.type': 'Start', 'kinetic.speed': trip.speed(s) });
const off: Says = { 'ignition.type': 'Stop', 'kinetic.speed': 0 };
const consumed = (rig: Rig) => rig.only.energyConsumptions;

/** Parked, driven, parked. */
function make(rests: Says, says: (s: number) => Says): Rig {
  const rig = new Rig();
  rig.drive(T - 10 * SECOND, 10, () => ({ ...rests, ...off }));
  const at = rig.drive(T, 601, (s) => ({ ...on(s), ...says(s) }));
  rig.drive(at, 400, () => off);
  return rig;
}

describe('energy', () => {
  test('fuel consumption comes from its counter, with levels and ranges at start and end', () => {
    const rests = {
      'energies.Fuel.subType': 'FossilEnergy',
      'energies.Fuel.level': 60,
      'energies.Fuel.autonomy': 480,
      [BURNT]: 5000,
    };
    const rig = make(rests, (s) => ({
      [BURNT]: Math.round(50_000 + s * 1.5) / 10,
      'energies.Fuel.level': s > 400 ? 59.5 : 60,
    }));
    expect(rig.only.startEnergies).toEqual([{ type: 'Fuel', subType: 'FossilEnergy', level: 60, autonomy: 480 }]);
    expect(rig.only.endEnergies).toEqual([{ type: 'Fuel', subType: 'FossilEnergy', level: 59.5, autonomy: 480 }]);
    expect(consumed(rig)).toEqual([
      { type: 'Fuel', subType: 'FossilEnergy', consumption: 90, avgConsumption: Math.round((90 / KM) * 1000) / 10 },
    ]);
  });

  test('a fuel counter that restarts from zero subtracts nothing', () => {
    const rig = make({ [BURNT]: 9_000 }, (s) => ({ [BURNT]: s < 300 ? 9_000 + s / 10 : (s - 300) / 10 }));
    expect(consumed(rig)?.[0]?.consumption).toBeCloseTo(59.9, 1);
  });

  test('electric consumption comes from the residual energy, including recuperation', () => {
    const rig = make({ [`${LOAD}.residual`]: 30_000, [LEVEL]: 60 }, (s) => ({
      [`${LOAD}.residual`]: 30_000 - s * 4 + (s > 500 ? (s - 500) * 10 : 0),
    }));
    expect(consumed(rig)).toMatchObject([{ type: 'Electric', consumption: 2_400 - 1_000 }]);
  });

  test('electric consumption comes from level and capacity, and is unknown without the capacity', () => {
    const says = (s: number): Says => ({ [LEVEL]: 80 - Math.floor(s / 60) });
    expect(consumed(make({ [LEVEL]: 80, [`${LOAD}.capacity`]: 50_000 }, says))).toMatchObject([{ consumption: 5_000 }]);
    expect(consumed(make({ [LEVEL]: 80 }, says))).toBeUndefined();
    expect(
      consumed(make({ 'energies.Fuel.level': 80 }, (s) => ({ 'energies.Fuel.level': 80 - Math.floor(s / 60) }))),
    ).toBeUndefined();
  });

  test('a downhill trip consumes 0, never a negative amount', () => {
    const rig = make({ [`${LOAD}.residual`]: 30_000 }, (s) => ({ [`${LOAD}.residual`]: 30_000 + s * 2 }));
    expect(consumed(rig)).toMatchObject([{ consumption: 0 }]);
  });

  test.each(['InProgress', undefined])(
    'charging (reported: %s) and refuelling during a trip subtract nothing',
    (told) => {
      const rig = new Rig();
      const rests = { [`${LOAD}.residual`]: 20_000, 'energies.Fuel.level': 10, [BURNT]: 100 };
      rig.drive(T - 10 * SECOND, 10, () => ({ ...rests, ...off }));
      let at = rig.drive(T, 601, (s) => ({ ...on(s), [`${LOAD}.residual`]: 20_000 - s * 2, [BURNT]: 100 + s / 10 }));
      at = rig.drive(at, 240, (s) => ({
        ...off,
        [CHARGING]: told,
        [`${LOAD}.residual`]: 18_800 + s * 50,
        'energies.Fuel.level': 90,
      }));
      at = rig.drive(at, 601, (s) => ({
        ...on(s),
        [CHARGING]: told === undefined ? told : 'Disconnected',
        [`${LOAD}.residual`]: 30_750 - s * 2,
        [BURNT]: 160 + s / 10,
      }));
      rig.drive(at, 400, () => off);
      expect(consumed(rig)).toMatchObject([
        { type: 'Fuel', consumption: 120 },
        { type: 'Electric', consumption: 2_400 },
      ]);
      expect(rig.only.endEnergies).toMatchObject([{ type: 'Fuel', level: 90 }]);
    },
  );

  test('a trip begins with the level after a night of charging', () => {
    const rig = make({ [LEVEL]: 30, [`${LOAD}.capacity`]: 50_000 }, () => ({}));
    let at = T + 601 * SECOND + 400 * SECOND;
    at = rig.wait(at, 60 * MINUTE);
    at = rig.drive(at, 601, (s) => ({ ...on(s), [LEVEL]: 90 - Math.floor(s / 100) }));
    rig.drive(at, 400, () => off);
    expect(rig.trips[1]).toMatchObject({
      startEnergies: [{ type: 'Electric', level: 90 }],
      endEnergies: [{ type: 'Electric', level: 84 }],
      energyConsumptions: [{ consumption: 3_000 }],
    });
  });

  test('an energy that is never read again is not part of the trip', () => {
    const rig = new Rig();
    rig.say({ 'energies.Fuel.level': 0 }, T - 900 * MINUTE);
    rig.cut();
    rig.drive(T - 10 * SECOND, 10, () => ({ ...off, [LEVEL]: 50 }));
    const at = rig.drive(T, 601, on);
    rig.drive(at, 400, () => off);
    expect(rig.only.startEnergies).toEqual([{ type: 'Electric', level: 50 }]);
  });
});

describe('segments', () => {
  test('segments follow the engines that run', () => {
    const rig = make({}, (s) => ({
      'engines.Thermic.speed': s < 150 ? 0 : 1800,
      'engines.Electric.speed': s < 450 ? 4000 : 0,
    }));
    const segments = rig.only.segments ?? [];
    expect(segments.map(({ propulsion }) => propulsion)).toEqual(['Thermal', 'Electric', 'Hybrid']);
    expect(segments.reduce((sum, { percent }) => sum + (percent ?? 0), 0)).toBeCloseTo(100, 9);
    expect(segments[1]?.distance).toBeCloseTo(trip.km(150), 0);
  });

  test.each([
    [{ 'engines.Thermic.speed': 1500 }, 'Thermal'],
    [{ 'engines.Electric.speed': 1500 }, 'Electric'],
    [{ 'drivingBehavior.mode': 'ZEV', 'energies.Fuel.level': 3, [LEVEL]: 50 }, 'Electric'],
    [{ 'energies.Fuel.level': 3, [LEVEL]: 50 }, 'Hybrid'],
    [{ [LEVEL]: 50 }, 'Electric'],
    [{ 'energies.Fuel.level': 50 }, 'Thermal'],
  ])('a trip with %j has the propulsion %s', (says, propulsion) => {
    const rig = make(says, () => says);
    expect(rig.only.segments).toEqual([{ propulsion, percent: 100, distance: rig.only.distance }]);
  });

  test('a car that reports neither engines nor energies has no segments', () => {
    expect(make({}, () => ({})).only).not.toHaveProperty('segments');
  });

  test('the percentages of segments add up to 100 in tenths, each at most 0.1 off', () => {
    const km = fc.double({ min: 0, max: 1000, noNaN: true });
    fc.assert(
      fc.property(km, km, km, (Thermal, Electric, Hybrid) => {
        const sum = Thermal + Electric + Hybrid;
        const segments = segmentsOf({ Thermal, Electric, Hybrid }, sum) ?? [];
        if (sum === 0) expect(segments).toEqual([]);
        else expect(Math.round(segments.reduce((total, { percent }) => total + (percent ?? 0) * 10, 0))).toBe(1000);
        const shares = { Thermal, Electric, Hybrid };
        for (const { propulsion, percent } of segments) {
          if (propulsion !== undefined)
            expect(Math.abs((percent ?? 0) - (shares[propulsion] / sum) * 100)).toBeLessThan(0.1001);
        }
      }),
    );
  });
});
