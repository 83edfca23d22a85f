/** Simulated cars of a fleet differ in place, route, phase, speed, energy and event. */
import { describe, expect, test } from 'vitest';
import { DbcCodec } from '../../../adapters/can/dbc/index.ts';
import { fleetCar } from '../../../adapters/simulated/fleet.ts';
import { SimulatedCar } from '../../../adapters/simulated/index.ts';
import { Route } from '../../../adapters/simulated/route.ts';
import { newCar } from '../../../adapters/simulated/state.ts';
import { SimulatedVehicle } from '../../../adapters/simulated/vehicle.ts';
import { loadVehicle } from '../../../assembly/vehicle.ts';
import { VirtualClock } from '../../rig/clock.ts';

const CARS = Array.from({ length: 100 }, (_, index) => index);
const cars = CARS.map((index) => fleetCar(index, 'loop'));
const codec = new DbcCodec(loadVehicle('bench').databases);

describe('a fleet of 100 cars', () => {
  test('contains the bench car as the first, and the same car for the same number', () => {
    expect(cars[0]).toEqual({});
    expect(CARS.map((index) => fleetCar(index, 'loop'))).toEqual(cars);
  });

  test('has homes at least two kilometres apart', () => {
    const homes = cars.map(({ driving }) => new Route(driving?.corners).at(0));
    for (const [index, home] of homes.entries()) {
      for (const other of homes.slice(index + 1)) {
        const north = (home.latitude - other.latitude) * 111_195;
        const east = (home.longitude - other.longitude) * 111_195 * Math.cos((home.latitude * Math.PI) / 180);
        expect(Math.hypot(north, east)).toBeGreaterThan(2_000);
      }
    }
  });

  test('has routes that are closed left turns of different lengths', () => {
    const routes = cars.map(({ driving }) => new Route(driving?.corners));
    for (const { bends } of routes) expect(bends.every(({ curvature }) => curvature > 0)).toBe(true);
    expect(new Set(routes.map(({ length }) => Math.round(length))).size).toBeGreaterThan(90);
  });

  test.each(['charge', 'fuel', 'odometer', 'elapsed'] as const)('differs from car to car in %s', (name) => {
    const values = cars.slice(1).map(({ begin }) => begin?.[name] as number);
    expect(new Set(values).size).toBe(99);
    expect(values.every((value) => value >= 0)).toBe(true);
  });

  test('has different speeds and events in neighbouring cars', () => {
    const habits = cars.slice(1).map(({ driving }) => driving?.habits);
    expect(new Set(habits.map((one) => one?.cruise)).size).toBe(99);
    for (const [index, one] of habits.entries()) expect(one?.event).not.toEqual(habits[index + 1]?.event);
  });
});

test.each(['loop', 'parked', 'day'] as const)(
  'each car of the scenario %s runs, and continues after a restart',
  (scenario) => {
    for (const index of CARS.slice(0, 30)) {
      const clock = new VirtualClock();
      const car = new SimulatedCar({ clock, codec, scenario, ...fleetCar(index, scenario) });
      const restored = new SimulatedCar({ clock, codec, scenario, ...fleetCar(index, scenario), restore: car.state() });
      expect(restored.state()).toEqual(car.state());
    }
  },
);

test('the event of a car begins in the second half of its route and ends with the loop', () => {
  const { driving } = fleetCar(1, 'loop');
  expect(driving?.habits?.event).toEqual({ rain: 'Heavy', night: true });
  const vehicle = new SimulatedVehicle(codec, 'loop', newCar(1), true, driving);
  const rain: string[] = [];
  for (let time = 0; time < vehicle.period + 10_000; time += 100) {
    vehicle.step(100);
    if (rain.at(-1) !== vehicle.scene.rain) rain.push(vehicle.scene.rain);
  }
  expect(rain).toEqual(['None', 'Heavy', 'None']);
});
