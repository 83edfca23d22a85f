/** Logical buses of a profile and the files that describe them. */

import { accessSync, constants, statSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import { defined } from '../protocol/defined.ts';
import { suggestion } from '../protocol/nearest.ts';
import { profileDefaults } from './defaults.ts';
import { reason } from './document.ts';
import { quoted } from './faults.ts';
import { type Findings, pointer } from './findings.ts';
import type { ObdBusInput } from './profile-schema.ts';
import { readDuration } from './quantities.ts';

export interface VehicleBus {
  readonly name: string;
  /**
   * Kind of bus. DBC files describe the signals of `can` buses, OBD signal sets those of `obd` buses. The signals of
   * `gnss` are fixed; those of `values` are the columns of tables of values.
   */
  readonly kind: 'can' | 'obd' | 'gnss' | 'values';
  /** Absolute paths. */
  readonly dbc: readonly string[];
  /** Present if `kind` is `obd`. */
  readonly obd?: ObdBus;
  readonly line: number;
}

/** Parameters that the agent polls in the car, and the intervals of these polls. */
export interface ObdBus {
  /** Absolute paths. */
  readonly signalsets: readonly string[];
  readonly modelYear?: number;
  /** Silence in ms after which the bus counts as asleep. Infinite if the bus carries only answers. */
  readonly asleepAfter: number;
  /** Maximum number of requests per second. */
  readonly requestsPerSecond: number;
  /** Maximum number of service 01 parameters in one request. */
  readonly parametersPerRequest: number;
  /** Poll interval in ms of commands for which neither the profile nor the signal set contains one. */
  readonly interval: number;
  /** Longest back-off in ms. */
  readonly longestBackOff: number;
  /** By `Message.Signal`. */
  readonly signals: Readonly<Record<string, PollRule>>;
}

interface PollRule {
  /** Interval in ms. If omitted, the interval in the signal set. */
  readonly interval?: number;
  readonly priority: 'high' | 'normal' | 'low';
}

/** Message names that all buses of a kind have: `OBD.VehicleSpeed`, `GNSS.latitude`, `VALUES.Speed`. */
const messages: Readonly<Record<string, VehicleBus['kind']>> = { OBD: 'obd', GNSS: 'gnss', VALUES: 'values' };
/** Matches the start of a command of a signal set, such as `22D410`, but no message name of a DBC. */
const command = /^[0-9]/;

/** Resolves the bus names in entries of the profile. */
export interface BusNames {
  readonly buses: readonly VehicleBus[];
  /**
   * Returns the name of the bus to which `name` refers. `name` may be omitted if only one bus can have the message.
   * Reports faults at `at`.
   */
  resolve(name: string | undefined, at: string, findings: Findings, message?: string): string | undefined;
}

/** Reads the buses of a profile. Adds `extraDbc` (absolute paths) to every bus. */
export function readBuses(
  listed: readonly { name: string; dbc?: readonly string[]; obd?: ObdBusInput; gnss?: boolean; values?: boolean }[],
  file: string,
  extraDbc: readonly string[],
  findings: Findings,
): BusNames {
  const buses: VehicleBus[] = [];
  for (const [index, entry] of listed.entries()) {
    const at = pointer('buses', index);
    if (!findings.sound(at)) continue;
    const { name, dbc = [] } = entry;
    if (buses.some((bus) => bus.name === name)) findings.error(`${at}/name`, `there are two buses ${quoted(name)}`);
    const { obd, gnss = false, values = false } = entry;
    const kind = obd !== undefined ? 'obd' : gnss ? 'gnss' : values ? 'values' : 'can';
    if ([dbc.length > 0, obd !== undefined, gnss, values].filter(Boolean).length > 1) {
      findings.error(at, `bus ${quoted(name)} can be only one of dbc, obd, gnss and values`, 'make a bus of each');
    }
    const own = dbc.map((path) => resolve(dirname(file), path));
    for (const [place, path] of own.entries()) {
      const trouble = unreadable(path);
      if (trouble === undefined) continue;
      findings.error(
        at + pointer('dbc', place),
        `DBC file ${path} cannot be read: ${trouble}`,
        'write its path relative to the profile',
      );
    }
    if (kind === 'can' && own.length + extraDbc.length === 0) {
      findings.error(at, `nothing describes the frames of bus ${quoted(name)}`, 'add dbc: [car.dbc]');
    }
    buses.push({
      name,
      kind,
      dbc: kind === 'can' ? [...new Set([...own, ...extraDbc])] : [],
      ...(obd === undefined ? {} : { obd: readObd(obd, at, file, findings) }),
      line: findings.line(at),
    });
  }
  // If the name of one bus cannot be read, a rule may refer to that bus.
  const all = listed.length > 0 && findings.sound('/buses');
  const known = all ? [...new Set(listed.map(({ name }) => name))] : undefined;
  const having = (message: string | undefined): string[] => {
    const kind = message === undefined ? undefined : (messages[message] ?? (command.test(message) ? 'obd' : undefined));
    const reserved = buses.filter((bus) => bus.kind === kind);
    // A DBC may also contain a message with this name. The bus of the reserved kind takes precedence.
    const able = reserved.length > 0 ? reserved : buses.filter((bus) => bus.kind === 'can');
    return [...new Set(able.map(({ name }) => name))];
  };
  return {
    buses,
    resolve: (name, at, where, message) =>
      resolveBus(name, known, name === undefined ? having(message) : (known ?? []), at, where),
  };
}

function readObd(
  { signalsets, modelYear, asleepAfter, poll = {} }: ObdBusInput,
  at: string,
  file: string,
  findings: Findings,
): ObdBus {
  const paths = signalsets.map((path) => resolve(dirname(file), path));
  for (const [index, path] of paths.entries()) {
    const trouble = unreadable(path);
    if (trouble === undefined) continue;
    const fix = 'write its path relative to the profile';
    findings.error(at + pointer('obd', 'signalsets', index), `signal set ${path} cannot be read: ${trouble}`, fix);
  }
  const rules = Object.entries(poll.signals ?? {}).map(([signal, { interval, priority = 'normal' }]) => [
    signal,
    { priority, ...(interval === undefined ? {} : { interval: readDuration(interval) }) },
  ]);
  const { obd } = profileDefaults;
  if (modelYear !== undefined && !Number.isInteger(modelYear)) {
    findings.error(at + pointer('obd', 'modelYear'), 'a model year is a whole number', 'write e.g. 2021');
  }
  if (poll.parametersPerRequest !== undefined && !Number.isInteger(poll.parametersPerRequest)) {
    findings.error(at + pointer('obd', 'poll', 'parametersPerRequest'), 'must be a whole number from 1 to 6');
  }
  const time = (written: number | string | undefined, fallback: number): number =>
    written === undefined ? fallback : readDuration(written);
  return {
    signalsets: paths,
    ...defined({ modelYear }),
    asleepAfter: asleepAfter === 'never' ? Number.POSITIVE_INFINITY : time(asleepAfter, obd.asleepAfter),
    requestsPerSecond: poll.requestsPerSecond ?? obd.requestsPerSecond,
    parametersPerRequest: poll.parametersPerRequest ?? obd.parametersPerRequest,
    interval: time(poll.interval, obd.interval),
    longestBackOff: time(poll.longestBackOff, obd.longestBackOff),
    signals: Object.fromEntries(rules),
  };
}

function resolveBus(
  name: string | undefined,
  known: readonly string[] | undefined,
  able: readonly string[],
  at: string,
  findings: Findings,
): string | undefined {
  if (known === undefined) return undefined;
  if (name === undefined) {
    if (able.length > 1) findings.error(at, 'the bus is missing', `add bus: ${able.join(' or bus: ')}`);
    if (able.length === 0) findings.error(at, 'no bus of the profile can have this signal', 'add the bus under buses');
    return able[0];
  }
  if (known.includes(name)) return name;
  findings.error(
    `${at}/bus`,
    `there is no bus ${quoted(name)}`,
    suggestion(name, known) ?? `known: ${known.join(', ')}`,
  );
  return undefined;
}

/** Returns the reason why a file cannot be read, or undefined if it can. */
export function unreadable(path: string): string | undefined {
  try {
    accessSync(path, constants.R_OK);
    return statSync(path).isDirectory() ? 'it is a folder' : undefined;
  } catch (error) {
    return reason(error);
  }
}
