/**
 * A second, naive implementation of docs/monitors.md, independent of the agent's: without index, timer queue or stored
 * state. It replays the whole history for each monitor and tries its expression with every value of the unknown data.
 */
import type { MonitorParameter, MonitorTrigger } from '../../../protocol/schema/monitor/parameter.ts';
import { inInterval } from './reference-times.ts';
import {
  after,
  atTicks,
  describe,
  evaluate,
  fromRecords,
  hides,
  type Input,
  inputTime,
  level,
  meets,
  occurrence,
  onlyHappen,
  parts,
  read,
  side,
  single,
  type Three,
  type Told,
  text,
  type Value,
  type World,
} from './reference-world.ts';

/** State of one trigger during one life of a monitor. */
interface Trigger {
  readonly rule: MonitorTrigger;
  readonly data: string;
  /** Met, inside the circle, or inside the interval. */
  met: Three;
  ready: boolean;
  from: string | undefined;
  used: Three;
  truth: Three;
  due: number | undefined;
  /** Last value evaluated. Undefined after a part was removed. */
  looked: Value | undefined;
  /** Custom signals only: privacy hid the signal at the last tick. */
  hidden: boolean;
  /** The trigger fires in this step. */
  happens: boolean;
}

const happens = ({ rule }: Trigger): boolean => rule.data?.op === 'onChange' || onlyHappen.test(rule.data?.data ?? '');

/** Data name as users write it. */
function dataOfRule({ data }: MonitorTrigger): string | undefined {
  return data?.data === 'signal' ? `signal.${data.signal}` : data?.data;
}

/** One monitor from its addition to its removal. */
class Life {
  parameter: MonitorParameter;
  readonly #id: string;
  readonly #triggers: Trigger[];
  #satisfied = false;
  #due: number | undefined;
  #collision: string | undefined;
  /** Data and texts that fire in this step. */
  #values = new Map<string, string>();
  /** Signal with a change that does not count yet. */
  #changing: string | undefined;

  constructor(id: string, parameter: MonitorParameter, world: World, told: (told: Told) => void) {
    this.#id = id;
    this.parameter = parameter;
    this.#triggers = parameter.triggerParam.triggers.map((rule) => ({
      rule,
      data: dataOfRule(rule) ?? (rule.zone === undefined ? 'used' : 'position'),
      met: undefined,
      ready: false,
      from: undefined,
      used: undefined,
      truth: false,
      due: undefined,
      looked: undefined,
      hidden: false,
      happens: false,
    }));
    for (const trigger of this.#triggers) {
      const { rule } = trigger;
      trigger.looked = read(world, trigger.data);
      if (happens(trigger)) continue;
      if (rule.data !== undefined) trigger.met = level(rule.data, trigger.looked, undefined);
      else if (rule.zone !== undefined) trigger.met = side(world, rule.zone, undefined);
      else {
        trigger.used = trigger.looked === undefined ? undefined : trigger.looked === 'true';
        trigger.met = inInterval(rule.time as NonNullable<MonitorTrigger['time']>, world.now);
      }
      this.#weigh(trigger, world.now);
    }
    this.#judge(world, told);
  }

  /** Phases of a step. Each phase runs for all monitors before the next one begins. */
  waits(input: Input, world: World, told: (told: Told) => void): void {
    this.#changing = input.do === 'signal' ? `signal.${input.name}` : undefined;
    const tick = input.do === 'tick';
    for (const trigger of this.#triggers) {
      const { time } = trigger.rule;
      if (trigger.due !== undefined && trigger.due <= world.now && (tick || this.#concerns(trigger, input))) {
        trigger.due = undefined;
        trigger.truth = true;
      }
      if (!tick || time === undefined) continue;
      trigger.met = inInterval(time, world.now);
      this.#weigh(trigger, world.now);
    }
    this.#judge(world, told);
    this.#changing = undefined;
  }

  refresh(input: Input, world: World, told: (told: Told) => void): void {
    if (input.do !== 'tick' || !this.#satisfied || this.#due === undefined || this.#due > world.now) return;
    if (this.#outcome() === true) this.#tell(world, true, told);
    this.#due = world.now + (this.parameter.subscribeParam?.refreshEvent ?? Number.NaN) * 1000;
  }

  change(input: Input, world: World, told: (told: Told) => void): void {
    for (const trigger of this.#triggers) {
      const composed = !single.has(trigger.data);
      if (input.do === 'removed' && composed && this.#has(trigger, input.path)) trigger.looked = undefined;
      const late = input.do === 'tick' && (composed || this.#hasTurned(trigger, world));
      if (late || this.#concerns(trigger, input)) this.#look(trigger, input, world);
      if (input.do === 'record') this.#happen(trigger, input);
    }
    this.#judge(world, told);
  }

  over(world: World, told: (told: Told) => void): void {
    this.#values.clear();
    for (const trigger of this.#triggers) {
      if (!trigger.happens) continue;
      trigger.happens = false;
      trigger.truth = false;
      trigger.from = undefined;
    }
    this.#judge(world, told);
  }

  setBack(now: number): void {
    const span = (this.parameter.subscribeParam?.refreshEvent ?? 0) * 1000;
    if (this.#due !== undefined) this.#due = Math.min(this.#due, now + span);
    for (const trigger of this.#triggers) {
      if (trigger.due === undefined) continue;
      trigger.due = Math.min(trigger.due, now + (trigger.rule.holdFor ?? 0) * 1000);
    }
  }

  correct(by: number): void {
    if (this.#due !== undefined) this.#due += by;
    for (const trigger of this.#triggers) if (trigger.due !== undefined) trigger.due += by;
  }

  /** Values of custom signals are unknown after a restart. Their triggers keep their state. */
  restart(): void {
    for (const trigger of this.#triggers) {
      if (!trigger.data.startsWith('signal.')) continue;
      trigger.looked = undefined;
      trigger.hidden = false;
    }
  }

  watches(data: string): boolean {
    return this.#triggers.some((trigger) => trigger.data === data);
  }

  replace(parameter: MonitorParameter): void {
    this.parameter = parameter;
    if (parameter.subscribeParam?.refreshEvent === undefined) this.#due = undefined;
  }

  /** Whether privacy now hides or shows a signal, or showed it before it was evaluated. */
  #hasTurned(trigger: Trigger, world: World): boolean {
    if (!trigger.data.startsWith('signal.')) return false;
    const was = trigger.hidden;
    trigger.hidden = hides(world, trigger.data);
    return was !== trigger.hidden || read(world, trigger.data) !== trigger.looked;
  }

  #has(trigger: Trigger, path: string): boolean {
    return parts[trigger.data]?.includes(path) ?? false;
  }

  /** Whether the input makes this trigger evaluate its data at once. */
  #concerns(trigger: Trigger, input: Input): boolean {
    if (input.do === 'changed') return this.#has(trigger, input.path) && !atTicks.has(trigger.data);
    if (input.do === 'signal') return trigger.data === `signal.${input.name}`;
    if (input.do === 'removed') return this.#has(trigger, input.path) && single.has(trigger.data);
    return input.do === 'record' && (fromRecords[trigger.data]?.includes(input.kind) ?? false);
  }

  #look(trigger: Trigger, input: Input, world: World): void {
    const { rule } = trigger;
    const old = trigger.looked;
    const value = read(world, trigger.data);
    trigger.looked = value;
    if (happens(trigger)) {
      const knownBefore = input.do !== 'changed' || input.previous !== undefined;
      if (value === undefined || old === undefined || text(old) === text(value) || !knownBefore) return;
      const { previous } = rule.data as NonNullable<MonitorTrigger['data']>;
      if (previous !== undefined && !meets(old, previous.op, previous.value)) return;
      trigger.from = previous === undefined ? undefined : text(old);
      trigger.happens = true;
      trigger.truth = true;
      return;
    }
    if (rule.data !== undefined) {
      const met = level(rule.data, value, trigger.met);
      const { previous } = rule.data;
      if (met !== trigger.met && previous !== undefined) {
        trigger.ready = met === true && old !== undefined && meets(old, previous.op, previous.value);
        trigger.from = trigger.ready ? text(old as Value) : undefined;
      }
      trigger.met = met;
    } else if (rule.zone !== undefined) trigger.met = side(world, rule.zone, trigger.met);
    else trigger.used = value === undefined ? undefined : value === 'true';
    this.#weigh(trigger, world.now);
  }

  #happen(trigger: Trigger, input: Extract<Input, { do: 'record' }>): void {
    const { data } = trigger.rule;
    if (data === undefined || !onlyHappen.test(data.data)) return;
    const value = occurrence(data.data, input);
    if (value === undefined) return;
    this.#values.set(data.data, input.kind === 'collision' ? `collision ${input.record.id}` : text(value));
    if (data.op !== 'onChange' && !meets(value, data.op, data.value ?? [])) return;
    trigger.happens = true;
    trigger.truth = true;
  }

  #weigh(trigger: Trigger, now: number): void {
    const { rule, met } = trigger;
    let raw: Three = met;
    if (rule.data?.previous !== undefined && met === true) raw = trigger.ready;
    if (rule.zone?.transition === 'Out' && met !== undefined) raw = !met;
    if (rule.time !== undefined) raw = met === true ? trigger.used : false;
    if (raw !== true) {
      trigger.due = undefined;
      trigger.truth = raw;
    } else if (rule.holdFor === undefined) trigger.truth = true;
    else if (trigger.truth !== true) trigger.due ??= now + rule.holdFor * 1000;
  }

  #outcome(): Three {
    const names = this.#triggers.map(({ rule }) => rule.name);
    return evaluate(
      this.parameter.triggerParam.boolExp,
      names,
      this.#triggers.map(({ truth }) => truth),
    );
  }

  /** Value of a signal before its change, as last evaluated. */
  #before(name: string): string | undefined {
    if (name !== this.#changing) return undefined;
    const looked = this.#triggers.find(({ data }) => data === name)?.looked;
    return looked === undefined ? undefined : text(looked);
  }

  #judge(world: World, told: (told: Told) => void): void {
    const outcome = this.#outcome();
    if (outcome === undefined || outcome === this.#satisfied) return;
    this.#satisfied = outcome;
    this.#due = undefined;
    if (!outcome) return;
    const refresh = this.parameter.subscribeParam?.refreshEvent;
    if (refresh !== undefined) this.#due = world.now + refresh * 1000;
    if ([...this.#values.values()].some((value) => value.startsWith('collision '))) {
      if (this.#collision === world.collision?.id) return;
      this.#collision = world.collision?.id;
    }
    this.#tell(world, false, told);
  }

  #tell(world: World, refresh: boolean, told: (told: Told) => void): void {
    const values: string[] = [];
    for (const name of new Set(
      this.#triggers.map(({ rule }) => dataOfRule(rule)).filter((data) => data !== undefined),
    )) {
      const value = this.#values.get(name) ?? this.#before(name) ?? describe(world, name);
      if (value === undefined) continue;
      const from = this.#triggers.findLast(
        ({ rule, truth, from }) => dataOfRule(rule) === name && truth === true && from !== undefined,
      )?.from;
      values.push(`${name} = ${value}${from === undefined ? '' : ` from ${from}`}`);
    }
    const triggers = this.#triggers.filter(({ truth }) => truth === true).map(({ rule }) => rule.name);
    told({ monitorId: this.#id, at: Math.round(world.now), refresh, triggers, values });
  }
}

function isPrivacy(input: Input): input is Extract<Input, { do: 'changed' }> {
  return input.do === 'changed' && input.path === 'privacy.state';
}

/** Events that a history must produce, in order. */
export function expected(history: readonly Input[]): Told[] {
  const events: Told[] = [];
  const told = (event: Told): void => {
    events.push(event);
  };
  let world: World = {
    slots: new Map(),
    signals: new Map(),
    alerts: [],
    ended: undefined,
    maintenance: undefined,
    stolen: undefined,
    collision: undefined,
    now: Number.NEGATIVE_INFINITY,
  };
  let anew = true;
  /** In the order in which they were first added. */
  const monitors = new Map<
    string,
    { parameter: MonitorParameter; status: 'Running' | 'Paused'; life: Life | undefined }
  >();
  for (const input of history) {
    const before = { ...world, ended: undefined };
    let now = Math.max(world.now, inputTime(input));
    if (input.do === 'restart') {
      now = Number.NEGATIVE_INFINITY;
      anew = true;
    } else if (input.do === 'correct') now = world.now + input.by;
    else if (input.do === 'tick' && (anew || input.at < world.now - 1000)) {
      now = input.at;
      anew = false;
      for (const { life } of monitors.values()) life?.setBack(now);
    }
    const lives = (): Life[] => [...monitors.values()].map(({ life }) => life).filter((life) => life !== undefined);
    // A signal that is unwatched or hidden is not a step.
    if (input.do === 'signal') {
      const watched = lives().some((life) => life.watches(`signal.${input.name}`));
      if (!watched || hides(world, `signal.${input.name}`)) {
        world = after(world, input);
        continue;
      }
    }
    world = { ...after(before, input), now };
    const then = { ...before, now, ...(isPrivacy(input) ? { chosen: `${input.value}` } : {}) };
    switch (input.do) {
      case 'put': {
        const known = monitors.get(input.id);
        const status = known?.status ?? 'Running';
        if (JSON.stringify(known?.parameter) === JSON.stringify(input.parameter)) break;
        const same = JSON.stringify(known?.parameter.triggerParam) === JSON.stringify(input.parameter.triggerParam);
        let life = known?.life;
        if (life !== undefined && same) life.replace(input.parameter);
        else life = status === 'Running' ? new Life(input.id, input.parameter, world, told) : undefined;
        monitors.set(input.id, { parameter: input.parameter, status, life });
        break;
      }
      case 'status': {
        const known = monitors.get(input.id);
        if (known === undefined || known.status === input.status) break;
        known.status = input.status;
        known.life = input.status === 'Running' ? new Life(input.id, known.parameter, world, told) : undefined;
        break;
      }
      case 'remove':
        monitors.delete(input.id);
        break;
      case 'correct':
        for (const life of lives()) life.correct(input.by);
        break;
      case 'restart':
        for (const life of lives()) life.restart();
        break;
      default:
        // Waits that ended before the change are evaluated with the earlier state.
        for (const life of lives()) life.waits(input, then, told);
        for (const life of lives()) life.refresh(input, then, told);
        for (const life of lives()) life.change(input, world, told);
        for (const life of lives()) life.over(world, told);
    }
  }
  return events;
}
