/**
 * Monitors as a program for contest.ts: one second of a car with 10,000 changes of values, including the agent's tick.
 * Arguments: number of monitors, and which slots change: `car` (all of them in turn) or `watched` (only those that
 * monitors watch).
 */

import { Status } from '../../agent/model/status.ts';
import { Monitors } from '../../agent/monitors/monitors.ts';
import type { MonitorEvent } from '../../protocol/schema/event.ts';
import { type DataName, dataNames, dataRules } from '../../protocol/schema/monitor/data.ts';
import { type Slot, type SlotValue, slotByPath, slots } from '../../protocol/slots.ts';
import { answer } from './answers.ts';

const [count = '1000', what = 'car'] = process.argv.slice(2);
const CHANGES = 10_000;
const T = Date.UTC(2026, 0, 1);

/** Returns the same sequence of numbers in every process. */
let seed = 1;
function random(below: number): number {
  seed = (Math.imul(seed, 1_103_515_245) + 12_345) >>> 0;
  return Math.floor((seed / 2 ** 32) * below);
}

/** Data with a single slot, whose value changes thousands of times a second. */
const watchable = dataNames.filter((name) => dataRules[name].path !== undefined);

function condition(data: DataName): object {
  const { operators, values, path } = dataRules[data];
  const op = operators[random(operators.length)];
  if (op === 'onChange') return { data, op };
  if (values === 'number') {
    const { minimum = 0, maximum = 1000 } = slotByPath.get(path ?? '') ?? {};
    return { data, op, value: [String(minimum + random(maximum - minimum))], hysteresis: 1 };
  }
  return { data, op, value: [values?.[random(values.length)] ?? 'true'] };
}

function monitor(index: number): object {
  const triggers = Array.from({ length: 1 + (index % 5) }, (_, i) => {
    if (index % 50 === 0 && i === 0) {
      const center = { longitude: 2 + random(10) / 100, latitude: 48 };
      return { name: 'zone', zone: { transition: 'In', place: { radius: 1, center } } };
    }
    return { name: `t${i}`, data: condition(watchable[random(watchable.length)] as DataName) };
  });
  const boolExp = triggers.map(({ name }) => name).join(index % 2 === 0 ? ' & ' : ' | ');
  return { label: `monitor ${index}`, subscribeParam: { refreshEvent: 60 }, triggerParam: { triggers, boolExp } };
}

function reading(slot: Slot, step: number): SlotValue {
  const { minimum = 0, maximum = 1000, values = [], resolution = 1 } = slot;
  if (slot.kind === 'flag') return step % 2 === 0;
  if (slot.kind === 'enumeration') return values[step % values.length] as string;
  // Changes as a signal does: up through its range in at most a thousand steps, then down again.
  const width = Math.max(1, Math.floor((maximum - minimum) / resolution / 1000));
  const steps = Math.floor((maximum - minimum) / resolution / width);
  return minimum + Math.abs((step % (2 * steps)) - steps) * width * resolution;
}

const paths = new Set(watchable.map((name) => dataRules[name].path));
const changing = slots.filter(
  ({ kind, path }) => ['quantity', 'flag', 'enumeration'].includes(kind) && (what === 'car' || paths.has(path)),
);
const quantities = changing.filter(({ kind }) => kind === 'quantity');
const states = changing.filter(({ kind }) => kind !== 'quantity');
/** One in this many changes is that of a state, such as a door. The others are the load that is measured. */
const RARE = 100;

/** The car of one process. Without monitors, the program measures the cost of Status alone. */
class Car {
  readonly #status = new Status();
  readonly #monitors: Monitors;
  readonly #step = new Map<Slot, number>(changing.map((slot, index) => [slot, index]));
  #turn = 0;
  /** Number of writes that changed a value. */
  changes = 0;
  #second = 0;
  events = 0;
  text = 0;

  constructor() {
    const silent = { info: () => undefined, warn: () => undefined, error: () => undefined };
    this.#monitors = new Monitors({
      status: this.#status,
      trips: { present: () => undefined },
      log: silent,
      emit: (event) => this.#take(event),
    });
    this.#status.observe({ changed: () => this.changes++ });
    if (Number(count) > 0) this.#status.observe(this.#monitors);
    seed = 1;
    for (let index = 0; index < Number(count); index++) this.#monitors.put(`m${index}`, monitor(index), T);
  }

  /** Simulates one second: the changes, the tick, and the states of ten commits. */
  drive(): void {
    const from = T + this.#second++ * 1000;
    for (let i = 0; i < CHANGES; i++) {
      const turn = this.#turn++;
      const rare = turn % RARE === 0;
      const slot = (rare ? states[(turn / RARE) % states.length] : quantities[turn % quantities.length]) as Slot;
      const step = (this.#step.get(slot) as number) + 1;
      this.#step.set(slot, step);
      this.#status.write(slot, reading(slot, step), from + i / 10);
      if (i % 1000 === 999) for (const [key] of this.#monitors.states()) this.text += key.length;
    }
    this.#monitors.tick(from + 1000);
  }

  #take({ values = [] }: MonitorEvent): void {
    this.events++;
    for (const { literal = '' } of values) this.text += literal.length;
  }
}

const car = new Car();
await answer({
  check: () => {
    const other = new Car();
    for (let second = 0; second < 5; second++) other.drive();
    return `${changing.length} ${other.events / 5} ${other.changes / 5}`;
  },
  round: () => {
    for (let second = 0; second < 5; second++) car.drive();
  },
});
