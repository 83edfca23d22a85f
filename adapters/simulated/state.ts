import { DAY } from '../../protocol/calendar.ts';
import { VigieError } from '../../protocol/errors.ts';

/** State of the car that survives a restart; plain JSON. */
export interface CarState {
  readonly version: 1;
  /** Time in ms since the scenario began. */
  readonly elapsed: number;
  /** Odometer in m at the start of the scenario. */
  readonly odometer: number;
  /** Energy in the traction battery in Wh. */
  readonly charge: number;
  /** Fuel in the tank in L. */
  readonly fuel: number;
  /** Fuel in L burnt since the car was built. */
  readonly burnt: number;
  /** Temperature of the coolant in degC. */
  readonly coolant: number;
  /** Temperature of the oil in degC. */
  readonly oil: number;
  /** Temperature outside in degC. */
  readonly outside: number;
  readonly engineRunning: boolean;
  readonly locked: boolean;
  readonly immobilized: boolean;
  /** Charging limit, 1 to 5; 0: no limit. */
  readonly chargeLevel: number;
  readonly chargePartial: boolean;
  /** State of the noise, 32 bits. */
  readonly noise: number;
}

/** Returns the initial state of a new car. */
export function newCar(seed: number): CarState {
  return {
    version: 1,
    elapsed: 0,
    odometer: 12_345_600,
    charge: 8_680,
    fuel: 27.5,
    burnt: 412.5,
    coolant: 16,
    oil: 16,
    outside: 14,
    engineRunning: false,
    locked: false,
    immobilized: false,
    chargeLevel: 0,
    chargePartial: false,
    noise: seed >>> 0,
  };
}

/** Valid ranges of the numbers, both ends included. */
const ranges = {
  elapsed: [0, DAY],
  odometer: [0, 2e9],
  charge: [0, 20_000],
  fuel: [0, 100],
  burnt: [0, 160_000],
  coolant: [-40, 150],
  oil: [-40, 180],
  outside: [-40, 87],
  chargeLevel: [0, 5],
  noise: [0, 0xffff_ffff],
} as const;

/** Parses a stored {@link CarState}. Throws `input.malformed` that names the invalid field. */
export function parseState(data: unknown): CarState {
  if (typeof data !== 'object' || data === null || Array.isArray(data)) throw malformed('it is not an object');
  const members: Readonly<Record<string, unknown>> = { ...data };
  if (members['version'] !== 1) throw malformed('version is not 1');
  const number = (name: keyof typeof ranges): number => {
    const value = members[name];
    const [low, high] = ranges[name];
    if (typeof value === 'number' && value >= low && value <= high) return value;
    throw malformed(`${name} is not a number from ${low} to ${high}`);
  };
  const flag = (name: 'engineRunning' | 'locked' | 'immobilized' | 'chargePartial'): boolean => {
    const value = members[name];
    if (typeof value === 'boolean') return value;
    throw malformed(`${name} is not true or false`);
  };
  return {
    version: 1,
    elapsed: number('elapsed'),
    odometer: number('odometer'),
    charge: number('charge'),
    fuel: number('fuel'),
    burnt: number('burnt'),
    coolant: number('coolant'),
    oil: number('oil'),
    outside: number('outside'),
    engineRunning: flag('engineRunning'),
    locked: flag('locked'),
    immobilized: flag('immobilized'),
    chargeLevel: number('chargeLevel'),
    chargePartial: flag('chargePartial'),
    noise: number('noise'),
  };
}

function malformed(what: string): VigieError {
  return new VigieError('input.malformed', `the state of the simulated car cannot be restored: ${what}; delete it`);
}
