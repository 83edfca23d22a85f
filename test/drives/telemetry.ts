/** Compares a series of readings with the answers of the car and with the true values. */
import type { TelemetryRule } from '../../protocol/recording.ts';
import { slotByPath } from '../../protocol/slots.ts';
import { type Parameter, parameters } from './car.ts';
import type { Column } from './recording.ts';
import { LATENCY, type Rig, STEP } from './rig.ts';

/** Longest time from reading the sensor in the control unit to the reading in the agent, ms. */
export const DELIVERY = LATENCY + 2 * STEP;
/** Interval at which the true value is compared, ms. */
export const GRID = 50;

export interface Quantity {
  readonly path: string;
  readonly signal: string;
  readonly column: Column;
}

/** Quantities that the shipped profile polls in a car like the recorded one. */
export const quantities: readonly Quantity[] = [
  { path: 'kinetic.speed', signal: 'OBD.VehicleSpeed', column: 'speed' },
  { path: 'engines.Thermic.speed', signal: 'OBD.EngineSpeed', column: 'rpm' },
  { path: 'engines.Thermic.extension.thermic.coolant.temp', signal: 'OBD.CoolantTemperature', column: 'coolant' },
  { path: 'engines.Thermic.extension.thermic.air.temp', signal: 'OBD.IntakeTemperature', column: 'intake' },
  { path: 'energies.Fuel.level', signal: 'OBD.FuelLevel', column: 'fuel' },
];

export interface Answer {
  readonly at: number;
  readonly value: number;
}

/** One quantity of a completed drive. */
export class Comparison {
  readonly readings: readonly Answer[];
  readonly answers: readonly Answer[];
  /** Longest time between two answers, ms. */
  readonly gap: number;
  readonly parameter: Parameter;
  /** Resolution of the value in Status. */
  readonly resolution: number;
  readonly rule: TelemetryRule;
  /** Maximum rounding of the times of readings, ms. */
  readonly #rounded: number;
  readonly #rig: Rig;
  readonly #column: Column;

  constructor(rig: Rig, { path, column }: Quantity, rule: TelemetryRule) {
    this.rule = rule;
    this.#rounded = (rule.resolution ?? 1) / 2;
    this.#rig = rig;
    this.#column = column;
    this.parameter = parameters.find((one) => one.column === column) as Parameter;
    this.resolution = slotByPath.get(path)?.resolution ?? 0;
    this.readings = rig.series<number>(path);
    this.answers = rig.car.said
      .filter(({ pid }) => pid === this.parameter.pid)
      .map(({ at, bytes }) => ({ at, value: this.parameter.value(bytes) }));
    this.gap = this.answers.reduce((most, { at }, i) => Math.max(most, at - (this.answers[i - 1]?.at ?? at)), 0);
  }

  /** Readings that equal neither the last nor the current answer of the car. */
  unfounded(): Answer[] {
    return this.readings.filter(({ at, value }) => {
      const last = this.answers.findLastIndex((answer) => answer.at <= at - DELIVERY - this.#rounded);
      const next = this.answers.findIndex((answer) => answer.at > at + this.#rounded);
      const credible = this.answers.slice(Math.max(0, last), next < 0 ? undefined : next);
      return !credible.some((answer) => Math.abs(answer.value - value) <= this.resolution / 2 + 1e-9);
    });
  }

  /** Longest time for which readings and answers differed by the dead-band or more, ms. */
  longestAside(): number {
    const { deadBand } = this.rule;
    const moments = [...this.answers.map(({ at, value }) => ({ at: at + DELIVERY, value })), ...this.#ends()];
    const band = Math.max(deadBand, this.resolution) - 1e-9;
    return longest(moments, (at, value) => {
      const reading = this.#reading(at);
      return reading !== undefined && Math.abs(value - reading) - this.resolution / 2 >= band;
    });
  }

  /** Longest time for which readings and true values differed by more than `bound`, ms. */
  longestWrong(bound: number): number {
    const from = this.readings[0]?.at ?? 0;
    const moments: Answer[] = [];
    for (let at = from; at < this.#rig.car.silentAt; at += GRID) {
      moments.push({ at, value: this.#rig.car.value(this.#column, at) });
    }
    return longest(moments, (at, value) => {
      const reading = this.#reading(at);
      return reading !== undefined && Math.abs(value - reading) > bound;
    });
  }

  #ends(): Answer[] {
    const last = this.answers.at(-1);
    return last === undefined ? [] : [{ at: last.at + this.gap, value: last.value }];
  }

  #cursor = 0;
  /** Value of the latest reading at a time. Call with increasing times. */
  #reading(at: number): number | undefined {
    if ((this.readings[this.#cursor]?.at ?? 0) > at) this.#cursor = 0;
    while ((this.readings[this.#cursor + 1]?.at ?? Number.POSITIVE_INFINITY) <= at) this.#cursor++;
    const reading = this.readings[this.#cursor];
    return reading === undefined || reading.at > at ? undefined : reading.value;
  }
}

/** Longest run of times for which a condition holds, from its first time to the first where it fails. */
function longest(moments: readonly Answer[], holds: (at: number, value: number) => boolean): number {
  let since: number | undefined;
  let most = 0;
  for (const { at, value } of moments) {
    if (since !== undefined) most = Math.max(most, at - since);
    if (!holds(at, value)) since = undefined;
    else since ??= at;
  }
  return most;
}
