/** Reads the `signals` section of a profile. The readers of DBC files fill in missing fields. */
import { defined } from '../protocol/defined.ts';
import type { CustomSignal } from '../protocol/profile.ts';
import type { TelemetryRule } from '../protocol/recording.ts';
import { pathOfVss } from '../protocol/signals/vss.ts';
import { slotByPath } from '../protocol/slots.ts';
import type { BusNames } from './buses.ts';
import { readCondition } from './conditions.ts';
import { profileDefaults } from './defaults.ts';
import { quoted } from './faults.ts';
import { type Findings, pointer } from './findings.ts';
import { readDuration } from './quantities.ts';
import { checkRule, timeSteps } from './recording.ts';
import type { SignalInput } from './signal-schema.ts';

/** A custom signal as written. The signal `*` stands for all signals of a message; its name then also ends with `*`. */
export interface WrittenSignal extends Omit<CustomSignal, 'kind' | 'raw' | 'position'> {
  readonly bus: string;
  /** If omitted, the kind that the network description states. */
  readonly kind?: CustomSignal['kind'] | 'text';
  /** If omitted, derived from the signal's name and the profile's mappings. */
  readonly position?: boolean;
  readonly line: number;
}

/** Reads `signals`. Reports and omits entries with faults. `fed` contains the paths that can have a value. */
export function readSignals(
  section: object,
  buses: BusNames,
  fed: ReadonlySet<string>,
  findings: Findings,
): WrittenSignal[] {
  const signals: WrittenSignal[] = [];
  for (const [name, input] of Object.entries(section) as [string, SignalInput][]) {
    const at = pointer('signals', name);
    if (findings.sound(at)) signals.push(readSignal(name, input, at, buses, fed, findings));
  }
  return signals;
}

function readSignal(
  name: string,
  input: SignalInput,
  at: string,
  buses: BusNames,
  fed: ReadonlySet<string>,
  findings: Findings,
): WrittenSignal {
  const dot = input.signal.indexOf('.');
  const message = input.signal.slice(0, dot);
  const signal = input.signal.slice(dot + 1);
  const bus = buses.resolve(input.bus, at, findings, message) ?? '';
  if (name.endsWith('.*') !== (signal === '*')) {
    const fix = signal === '*' ? `write ${name}.*` : `write ${message}.*, or a name without *`;
    findings.error(at, `a name ends with .* when the signal is MESSAGE.*, and not otherwise`, fix);
  }
  checkKind(input, at, findings);
  if (input.kind === 'text' && buses.buses.find((one) => one.name === bus)?.kind !== 'obd') {
    findings.error(`${at}/kind`, 'texts come from buses with `obd` only', 'a DBC describes numbers: remove kind');
  }
  const path = pathOfVss(name);
  if (path !== undefined && !fed.has(path)) {
    findings.warning(
      at,
      `the interface has a path for ${name}: ${path}`,
      'map it under status, where trips and monitors see it',
    );
  }
  if (slotByPath.has(name)) {
    findings.warning(
      at,
      `${name} is a path of the interface, which a custom signal does not feed`,
      'map it under status, or give the signal another name',
    );
  }
  const names = input.names === undefined ? undefined : readNames(input.names, at, findings);
  const condition =
    input.while === undefined
      ? undefined
      : readCondition(input.while, `${at}/while`, fed, 'the signal would never be recorded', findings);
  const rule = ruleOf(input);
  checkRule(rule, at, findings);
  const kind = input.kind ?? (names === undefined ? undefined : 'enumeration');
  return {
    name,
    bus,
    message,
    signal,
    ...defined({ kind, unit: input.unit, resolution: input.resolution }),
    scale: input.scale ?? profileDefaults.scale,
    shift: input.offset ?? profileDefaults.offset,
    invalid: input.invalid ?? [],
    ...defined({ names }),
    ...(input.timeout === undefined ? {} : { timeout: readDuration(input.timeout) }),
    ...defined({ position: input.position }),
    rule,
    ...defined({ while: condition }),
    line: findings.line(`${at}/signal`),
  };
}

function ruleOf({ interval, deadBand, heartbeat, timeResolution }: SignalInput): TelemetryRule {
  const { telemetry } = profileDefaults;
  const least = interval === undefined ? telemetry.interval : readDuration(interval);
  return {
    interval: least,
    deadBand: deadBand ?? telemetry.deadBand,
    heartbeat: heartbeat === undefined ? Math.max(telemetry.heartbeat, least) : readDuration(heartbeat),
    ...(timeResolution === undefined ? {} : { resolution: timeSteps[timeResolution] }),
  };
}

/** Fields that apply only to numbers. */
const ofQuantities = ['unit', 'resolution', 'deadBand', 'scale', 'offset'] as const;
/** Fields that do not apply to string signals: each new string is sent as its own message. */
const notOfTexts = [
  ...ofQuantities,
  ...(['invalid', 'names', 'interval', 'heartbeat', 'timeResolution', 'while'] as const),
];

function checkKind(input: SignalInput, at: string, findings: Findings): void {
  const { kind, names, scale, resolution, deadBand = 0 } = input;
  if (kind === 'text') {
    for (const member of notOfTexts) {
      if (input[member] !== undefined) findings.error(`${at}/${member}`, `a text has no ${member}`, 'remove it');
    }
    return;
  }
  if (names !== undefined && kind !== undefined && kind !== 'enumeration') {
    findings.error(`${at}/names`, `a ${kind} has no names`, 'remove names, or kind');
  }
  if (kind === 'enumeration' || names !== undefined) {
    for (const member of ofQuantities) {
      if (input[member] !== undefined)
        findings.error(`${at}/${member}`, `an enumeration has no ${member}`, 'remove it');
    }
  }
  if (scale === 0) findings.error(`${at}/scale`, 'a scale of 0 makes every value the same', 'remove it');
  if (resolution !== undefined && deadBand > 0 && deadBand < resolution) {
    findings.warning(
      `${at}/deadBand`,
      'a dead-band below the resolution has no effect',
      'make it larger, or remove it',
    );
  }
}

function readNames(
  names: Readonly<Record<string, string>>,
  at: string,
  findings: Findings,
): { count: number; name: string }[] {
  const read = new Map<number, string>();
  const counts = new Map<string, number>();
  for (const [raw, name] of Object.entries(names)) {
    // Number() parses decimal and hexadecimal; -0 becomes 0.
    const count = Number(raw) + 0;
    const place = at + pointer('names', raw);
    if (read.has(count)) findings.error(place, `raw value ${raw} is named twice`, 'keep one of them');
    if (counts.has(name))
      findings.warning(place, `${quoted(name)} names ${counts.get(name)} too`, 'name them differently');
    counts.set(name, count);
    read.set(count, name);
  }
  return [...read].sort(([a], [b]) => a - b).map(([count, name]) => ({ count, name }));
}
