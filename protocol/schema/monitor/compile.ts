/** Converts input to a monitor that can run: every published rule is checked here, once. */
import { defined } from '../../defined.ts';
import { suggestion } from '../../nearest.ts';
import {
  codedData,
  type DataOperator,
  type DataRule,
  dataNameOf,
  dataOperators,
  dataRules,
  isSignal,
  previousOperators,
  type SignalDataName,
  signalNameOf,
  type TriggerData,
} from './data.ts';
import { truthTable } from './expression.ts';
import { type Extension, extensionName, extensionOf } from './extensions.ts';
import { Member, malformed, unknown } from './input.ts';
import type { MonitorParameter, MonitorTrigger } from './parameter.ts';
import { triggerNamePattern } from './parameter.ts';
import { readTimes, type TriggerSchedule } from './schedule.ts';
import { anySignal, type SignalRules } from './signals.ts';

const EARTH = 20_000;

/** A set of numbers or names to look up values in. */
export type Choice = ReadonlySet<number | string>;

export interface DataCondition {
  readonly kind: 'data';
  readonly data: TriggerData;
  readonly op: DataOperator;
  /** True if the condition holds only in the step in which the event occurs. */
  readonly occurrence: boolean;
  /** Operand of operators that compare numbers. */
  readonly bound: number;
  readonly hysteresis: number;
  /** Operands of equalsTo and includedIn that are names. */
  readonly names: Choice | undefined;
  readonly previous: Choice | undefined;
}

export interface ZoneCondition {
  readonly kind: 'zone';
  readonly transition: 'In' | 'Out';
  readonly center: { readonly latitude: number; readonly longitude: number };
  /** Radius in m. */
  readonly radius: number;
}

export interface TimeCondition {
  readonly kind: 'time';
  readonly schedule: TriggerSchedule;
}

export interface CompiledTrigger {
  readonly name: string;
  /** Time in ms for which the condition must hold; 0: it counts at once. */
  readonly holdFor: number;
  readonly condition: DataCondition | ZoneCondition | TimeCondition;
}

export interface CompiledMonitor {
  /** Stored form. Compiling it again returns the same. */
  readonly parameter: MonitorParameter;
  readonly triggers: readonly CompiledTrigger[];
  /** Truth table of the expression over the triggers in their order (expression.ts). */
  readonly table: number;
  /** Interval in ms at which the monitor repeats its event; undefined: never. */
  readonly refresh: number | undefined;
  readonly extensions: readonly Extension[];
  /** Times in ms before and after the event. */
  readonly context: { readonly before: number; readonly after: number };
}

/**
 * Checks a MonitorParameter of either line, as JSON types, and prepares it for evaluation. `signals` are the
 * custom signals of the car. If omitted, its profile is unknown: triggers may name any signal, with any operator.
 * @throws VigieError `input.malformed` and `input.unknown`, with the faulty member in `where`
 */
export function compileMonitor(input: unknown, signals?: SignalRules): CompiledMonitor {
  const root = new Member(input, '');
  const label = root.member('label').text();
  const subscribe = root.member('subscribeParam');
  const refresh = subscribe.absent ? undefined : readRefresh(subscribe.member('refreshEvent'));
  const extensions = readExtensions(root.member('extendedEventParam'));
  const param = root.member('triggerParam');
  const triggers = param
    .member('triggers')
    .list(1, 5)
    .map((trigger) => readTrigger(trigger, signals));
  checkNames(triggers.map(({ compiled }) => compiled.name));
  const expression = param.member('boolExp');
  const boolExp = expression.text(512);
  const names = triggers.map(({ compiled }) => compiled.name);
  const table = truthTable(boolExp, names, expression.where);
  const context = readContext(root.member('context'));
  const delivery = readDelivery(root, subscribe);
  return {
    parameter: {
      label,
      ...(refresh === undefined ? {} : { subscribeParam: { refreshEvent: refresh } }),
      ...(extensions.length === 0 ? {} : { extendedEventParam: extensions.map(extensionName) }),
      triggerParam: { triggers: triggers.map(({ kept }) => kept), boolExp },
      ...defined({ context, delivery }),
    },
    triggers: triggers.map(({ compiled }) => compiled),
    table,
    refresh: refresh === undefined ? undefined : refresh * 1000,
    extensions,
    context: { before: (context?.before ?? 0) * 1000, after: (context?.after ?? 0) * 1000 },
  };
}

function readRefresh(member: Member): number | undefined {
  return member.absent ? undefined : member.integer(60, 31_536_000);
}

function readExtensions(member: Member): Extension[] {
  if (member.absent) return [];
  const found = new Map<string, Extension>();
  for (const entry of member.list(0, 32)) {
    const spelled = entry.text(64);
    const extension = extensionOf(spelled);
    if (extension === undefined) throw unknown(entry.where, `no extension of events is named ${spelled}`);
    found.set(extensionName(extension), extension);
  }
  return [...found.values()];
}

interface ReadTrigger {
  readonly kept: MonitorTrigger;
  readonly compiled: CompiledTrigger;
}

function readTrigger(member: Member, signals: SignalRules | undefined): ReadTrigger {
  const given = member.member('name');
  const name = given.text(64);
  if (!new RegExp(triggerNamePattern).test(name)) {
    throw malformed(given.where, `must be letters, at most one of . _ -, then digits, is ${JSON.stringify(name)}`);
  }
  const kinds = (['zone', 'time', 'data'] as const).filter((kind) => !member.member(kind).absent);
  const [kind] = kinds;
  if (kind === undefined || kinds.length > 1) {
    const found = kinds.length === 0 ? 'none' : kinds.join(' and ');
    throw malformed(member.where, `must have exactly one of zone, time, data; has ${found}`);
  }
  const { condition, kept } = readers[kind](member.member(kind), signals);
  const holdFor = readHoldFor(member.member('holdFor'), condition);
  return {
    kept: { name, ...kept, ...defined({ holdFor }) },
    compiled: { name, holdFor: (holdFor ?? 0) * 1000, condition },
  };
}

interface ReadCondition {
  readonly kept: Pick<MonitorTrigger, 'data' | 'zone' | 'time'>;
  readonly condition: CompiledTrigger['condition'];
}

type Reader = (member: Member, signals: SignalRules | undefined) => ReadCondition;

const readers: Readonly<Record<'zone' | 'time' | 'data', Reader>> = {
  zone: readZone,
  time: (member) => {
    const { times, timeZone, schedule } = readTimes(member);
    return { kept: { time: { times: times as never, timeZone } }, condition: { kind: 'time', schedule } };
  },
  data: readData,
};

function readZone(member: Member): ReadCondition {
  const transition = member.member('transition').oneOf(['In', 'Out']);
  const place = member.member('place', 'circle');
  const radius = place.member('radius').integer(1, EARTH);
  const center = place.member('center');
  const longitude = center.member('longitude').number(-180, 180);
  const latitude = center.member('latitude').number(-90, 90);
  return {
    kept: { zone: { transition, place: { radius, center: { longitude, latitude } } } },
    condition: { kind: 'zone', transition, center: { latitude, longitude }, radius: radius * 1000 },
  };
}

function readData(member: Member, signals: SignalRules | undefined): ReadCondition {
  const data = readDataName(member);
  const rule = isSignal(data) ? signalRule(member, data, signals) : dataRules[data];
  const operator = member.member('op');
  const op = operator.oneOf(dataOperators);
  if (!rule.operators.includes(op)) {
    throw malformed(operator.where, `of ${data} must be one of ${rule.operators.join(', ')}, is ${op}`);
  }
  const value = readValues(member.member('value'), data, rule, op);
  const occurrence = op === 'onChange' || rule.occurrence;
  const previous = readPrevious(member.member('previous'), data, rule);
  // If the rule of a signal is unknown, the operator shows whether its values are numbers.
  const numbers = rule.values === 'number' || compares.includes(op);
  const hysteresis = readHysteresis(member.member('hysteresis'), (numbers || rule === anySignal) && !occurrence);
  return {
    kept: {
      data: {
        ...codedData(data),
        op,
        ...(value.length === 0 ? {} : { value }),
        ...defined({ previous, hysteresis }),
      },
    },
    condition: {
      kind: 'data',
      data,
      op,
      occurrence,
      bound: Number(value[0]),
      hysteresis: hysteresis ?? 0,
      names: numbers || op === 'onChange' ? undefined : new Set(value),
      previous: previous === undefined ? undefined : choiceOf(rule, previous.value),
    },
  };
}

/** Operators that apply only to numbers. */
const compares: readonly DataOperator[] = ['greaterThan', 'lowerThan'];

function readDataName(member: Member): TriggerData {
  const given = member.member('data');
  const text = given.text();
  if (text === 'signal') return `signal.${member.member('signal').text()}`;
  if (isSignal(text)) return text;
  const data = dataNameOf(text);
  if (data === undefined) throw unknown(given.where, `no data of a trigger is named ${text}`);
  return data;
}

function signalRule(member: Member, data: SignalDataName, signals: SignalRules | undefined): DataRule {
  if (signals === undefined) return anySignal;
  const rule = signals.rule(signalNameOf(data));
  if (rule !== undefined) return rule;
  const names = Array.from(signals.names, (name) => `signal.${name}`);
  const found = names.length === 0 ? 'the profile has none' : (suggestion(data, names) ?? 'see GET /vigie/v1/signals');
  throw unknown(member.member('data').where, `the car has no custom signal ${signalNameOf(data)}: ${found}`);
}

function choiceOf(rule: DataRule, value: readonly string[]): Choice {
  return new Set<number | string>(rule.values === 'number' ? value.map(Number) : value);
}

/** Returns the operands: none for onChange, one for equalsTo and the comparisons, all for includedIn. */
function readValues(member: Member, data: TriggerData, rule: DataRule, op: DataOperator): string[] {
  const entries = member.absent ? [] : member.list(0, 128);
  if (op === 'onChange') {
    if (entries.length > 0) throw malformed(member.where, 'must be absent or empty with onChange');
    return [];
  }
  if (entries.length === 0) {
    const count = op === 'includedIn' ? 'at least one value' : 'exactly one value';
    throw malformed(member.where, `must have ${count} with ${op}, has none`);
  }
  const values = entries.map((entry) => readValue(entry, data, rule, op));
  return op === 'includedIn' ? [...new Set(values)] : values.slice(0, 1);
}

function readValue(entry: Member, data: TriggerData, { values, unnamed }: DataRule, op: DataOperator): string {
  const text = entry.text();
  if (values === 'number' || compares.includes(op)) {
    if (/^[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d{1,3})?$/.test(text) && Number.isFinite(Number(text))) return text;
    throw malformed(entry.where, `of ${data} must be a number, is ${JSON.stringify(text)}`);
  }
  if (values === undefined || values.includes(text) || unnamed?.(text) === true) return text;
  const known = [...values, ...(unnamed === undefined ? [] : ['a whole number that has no name'])].join(', ');
  throw malformed(entry.where, `of ${data} must be one of ${known}, is ${JSON.stringify(text)}`);
}

function readPrevious(
  member: Member,
  data: TriggerData,
  rule: DataRule,
): { value: string[]; op: 'equalsTo' | 'includedIn' } | undefined {
  if (member.absent) return undefined;
  if (rule.occurrence || data === 'vehicle.alert') {
    throw malformed(member.where, `is not allowed: ${data} has no previous value`);
  }
  const op = member.member('op').oneOf(previousOperators);
  return { value: readValues(member.member('value'), data, rule, op), op };
}

function readHysteresis(member: Member, allowed: boolean): number | undefined {
  if (member.absent) return undefined;
  if (!allowed) throw malformed(member.where, 'is allowed only with a number that has a present value');
  return member.number(0, Number.MAX_VALUE);
}

function readHoldFor(member: Member, condition: CompiledTrigger['condition']): number | undefined {
  if (member.absent) return undefined;
  if (condition.kind === 'data' && condition.occurrence) {
    throw malformed(member.where, 'is not allowed: an occurrence has no duration');
  }
  return Math.round(member.number(1, 86_400) * 1000) / 1000;
}

function checkNames(names: readonly string[]): void {
  for (const [index, name] of names.entries()) {
    const first = names.indexOf(name);
    if (first < index) {
      throw malformed(
        `triggerParam.triggers[${index}].name`,
        `must be unique, ${name} is also that of triggers[${first}]`,
      );
    }
  }
}

function readContext(member: Member): { before?: number; after?: number } | undefined {
  if (member.absent) return undefined;
  const read = (name: 'before' | 'after'): { [K in typeof name]?: number } => {
    const given = member.member(name);
    return given.absent ? {} : { [name]: Math.round(given.number(0, 60) * 1000) / 1000 };
  };
  return { ...read('before'), ...read('after') };
}

/** Returns the delivery settings unchanged. */
function readDelivery(root: Member, subscribe: Member): string | undefined {
  const kept = root.member('delivery');
  if (!kept.absent) return kept.text(16_384);
  const { refreshEvent: _, ...rest } = subscribe.absent ? {} : (subscribe.object() as { refreshEvent?: unknown });
  const attributes = root.member('attributes');
  const delivery = {
    ...(Object.keys(rest).length === 0 ? {} : { subscribeParam: rest }),
    ...(attributes.absent ? {} : { attributes: attributes.value }),
  };
  if (Object.keys(delivery).length === 0) return undefined;
  const text = JSON.stringify(delivery);
  if (text.length <= 16_384) return text;
  throw malformed('subscribeParam', 'and attributes must have at most 16384 characters of JSON together');
}
