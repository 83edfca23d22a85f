/** Sources of frames, answers and fixes: the sections `can`, `obd`, `gnss` and `record` of vigie.yaml. */
import { defined } from '../protocol/defined.ts';
import type { Diagnostic } from '../protocol/diagnostic.ts';
import { suggestion } from '../protocol/nearest.ts';
import type { ControlUnit } from '../protocol/profile.ts';
import { type RecordingBounds, recordingSettings } from '../protocol/settings.ts';
import { unreadable, type VehicleBus } from './buses.ts';
import type { ProfileCommand } from './commands.ts';
import type { CanInputInput, ConfigurationInput, obdProtocols } from './configuration-schema.ts';
import { configurationDefaults } from './defaults.ts';
import { quoted } from './faults.ts';
import { type Findings, pointer } from './findings.ts';
import { checkAddress } from './lines.ts';
import { readSettings } from './settings.ts';

/** Source of the frames of a bus. */
export type CanInput = SimulatedInput | LogInput | SocketCanInput | SlcanInput;

export interface SimulatedInput {
  readonly kind: 'simulated';
  readonly bus: string;
  readonly line: number;
}

export interface LogInput {
  readonly kind: 'log';
  readonly bus: string;
  /** Absolute path, or `-` for standard input. */
  readonly log: string;
  /** Playback speed; 1 means as recorded. Ignored for standard input. */
  readonly speed: number;
  readonly loop: boolean;
  /** Called at the end of the log. Only programs set it. */
  readonly ended?: () => void;
  readonly line: number;
}

export interface SocketCanInput {
  readonly kind: 'socketcan';
  readonly bus: string;
  /** Name of the network interface. */
  readonly interface: string;
  readonly line: number;
}

export interface SlcanInput {
  readonly kind: 'slcan';
  readonly bus: string;
  /** Address of the line, as written in the file. */
  readonly address: string;
  /** Bit rate in bit/s. */
  readonly bitrate: number;
  readonly line: number;
}

/** Diagnostic access to the car. */
export type ObdInput = {
  /** Bus name in the profile. If omitted, the bus that has `obd`. */
  readonly bus?: string;
  readonly line: number;
} & (
  | {
      readonly kind: 'elm327';
      /** Address of the line, as written in the file. */
      readonly address: string;
      readonly protocol?: (typeof obdProtocols)[number];
    }
  | {
      readonly kind: 'isotp';
      /** Bus in `can` that carries the requests. */
      readonly over: string;
    }
);

export interface GnssInput {
  readonly kind: 'nmea' | 'gpsd';
  /** Bus name in the profile. If omitted, the bus that has `gnss`. */
  readonly bus?: string;
  /** Address of the line, as written in the file. */
  readonly address: string;
  /** If true, the receiver's time sets the clock. */
  readonly clock: boolean;
  readonly line: number;
}

/** Candump logs of all live buses. */
export interface RecordingSettings extends RecordingBounds {
  /** Absolute path. */
  readonly folder: string;
}

export interface Inputs {
  readonly can: readonly CanInput[];
  readonly obd?: ObdInput;
  readonly gnss?: GnssInput;
  readonly record?: RecordingSettings;
}

type Beside = (path: string) => string;

/** Reads the sections. Reports and omits entries with faults. */
export function readInputs(input: ConfigurationInput, beside: Beside, findings: Findings): Inputs {
  const can = readCan(Array.isArray(input.can) ? input.can : [], beside, findings);
  const obd = findings.sound('/obd') && input.obd !== undefined ? readObd(input.obd, can, findings) : undefined;
  const gnss = findings.sound('/gnss') && input.gnss !== undefined ? readGnss(input.gnss, findings) : undefined;
  if ((input.can ?? []).length === 0 && input.obd === undefined && input.gnss === undefined) {
    findings.error('', 'no input configured', 'add `can`, `obd` or `gnss`');
  }
  const record = findings.sound('/record') ? input.record : undefined;
  return {
    can,
    ...defined({ obd, gnss }),
    ...(record === undefined
      ? {}
      : {
          record: {
            folder: beside(record.folder),
            ...readSettings(recordingSettings, record, '/record', findings),
          },
        }),
  };
}

type Entry = CanInputInput & { readonly beside: Beside };

/** Source types of a bus, by the field that selects the type in a `can` entry, with the function that reads it. */
const origins = {
  socketcan: {
    members: [],
    read: ({ socketcan = '' }: Entry) => ({ kind: 'socketcan', interface: socketcan }),
  },
  slcan: {
    members: ['bitrate'],
    read: ({ slcan = '', bitrate }: Entry) => ({ kind: 'slcan', address: slcan, bitrate: readBitRate(bitrate) }),
  },
  log: {
    members: ['speed', 'loop'],
    read: ({ log = '-', speed, loop, beside }: Entry) => ({
      kind: 'log',
      log: log === '-' ? log : beside(log),
      speed: speed ?? configurationDefaults.speed,
      loop: loop ?? configurationDefaults.loop,
    }),
  },
  simulated: { members: [], read: () => ({ kind: 'simulated' }) },
} as const satisfies {
  readonly [K in CanInput['kind']]: {
    readonly members: readonly (keyof CanInputInput)[];
    read(entry: Entry): Omit<Extract<CanInput, { readonly kind: K }>, 'bus' | 'line'>;
  };
};
const originNames = Object.keys(origins) as CanInput['kind'][];

function readCan(listed: readonly CanInputInput[], beside: Beside, findings: Findings): CanInput[] {
  const inputs: CanInput[] = [];
  let standardInput = false;
  for (const [index, input] of listed.entries()) {
    const at = pointer('can', index);
    if (!findings.sound(at)) continue;
    const { bus, log } = input;
    const given = originNames.filter((name) => input[name] !== undefined && input[name] !== false);
    const [kind] = given;
    if (kind === undefined || given.length > 1) {
      const named = originNames.map((name) => (name === 'simulated' ? '`simulated: true`' : `\`${name}\``));
      const choices = `${named.slice(0, -1).join(', ')} and ${named.at(-1)}`;
      findings.error(at, `bus ${bus} needs exactly one of ${choices}`);
      continue;
    }
    for (const origin of originNames) {
      for (const name of origins[origin].members) {
        if (input[name] === undefined || origin === kind) continue;
        findings.error(`${at}/${name}`, `${name} is for ${origin === 'log' ? 'a log' : origin}`, `remove ${name}`);
      }
    }
    if (log === '-') {
      if (standardInput) findings.error(`${at}/log`, 'another entry already reads standard input');
      standardInput = true;
      for (const name of ['speed', 'loop'] as const) {
        if (input[name] === undefined) continue;
        findings.error(`${at}/${name}`, 'standard input has no speed and no loop', `remove ${name}`);
      }
    } else if (log !== undefined) {
      const trouble = unreadable(beside(log));
      const fix = 'write its path relative to this file';
      if (trouble !== undefined) findings.error(`${at}/log`, `${beside(log)} cannot be read: ${trouble}`, fix);
    }
    if (input.slcan !== undefined) checkAddress(input.slcan, `${at}/slcan`, findings);
    const read = origins[kind].read({ ...input, beside });
    inputs.push({ bus, line: findings.line(at), ...read } as CanInput);
  }
  return inputs;
}

function readBitRate(written: number | string | undefined): number {
  if (written === undefined) return configurationDefaults.bitrate;
  return typeof written === 'number' ? written : Number(written.slice(0, -1)) * 1000;
}

function readObd(
  { bus, elm327, isotp, protocol }: NonNullable<ConfigurationInput['obd']>,
  can: readonly CanInput[],
  findings: Findings,
): ObdInput | undefined {
  const line = findings.line('/obd');
  const named = defined({ bus });
  if ((elm327 === undefined) === (isotp === undefined)) {
    findings.error('/obd', 'obd needs exactly one of `elm327` and `isotp`');
    return undefined;
  }
  if (elm327 !== undefined) {
    checkAddress(elm327, '/obd/elm327', findings);
    return { kind: 'elm327', address: elm327, ...named, line, ...defined({ protocol }) };
  }
  const over = isotp as string;
  if (protocol !== undefined) findings.error('/obd/protocol', 'protocol is for elm327', 'remove protocol');
  const way = can.find((input) => input.bus === over);
  if (way === undefined) {
    const known = can.map((input) => input.bus);
    findings.error('/obd/isotp', `no entry under can has bus ${quoted(over)}`, suggestion(over, known));
  } else if (way.kind === 'log') findings.error('/obd/isotp', `bus ${over} is a log, which cannot be polled`);
  return { kind: 'isotp', over, ...named, line };
}

function readGnss(
  { bus, nmea, gpsd, clock = true }: NonNullable<ConfigurationInput['gnss']>,
  findings: Findings,
): GnssInput | undefined {
  if ((nmea === undefined) === (gpsd === undefined)) {
    findings.error('/gnss', 'gnss needs exactly one of `nmea` and `gpsd`');
    return undefined;
  }
  const kind = nmea === undefined ? 'gpsd' : 'nmea';
  const address = (nmea ?? gpsd) as string;
  checkAddress(address, `/gnss/${kind}`, findings);
  return { kind, address, clock, ...defined({ bus }), line: findings.line('/gnss') };
}

/** Inputs outside vigie.yaml: the sources that a program provides, and its advice for a bus that has none. */
interface ProgramSources {
  /** Buses whose frames these sources provide. */
  readonly fed?: readonly string[];
  /** If true, these sources may feed the bus with `obd`. */
  readonly isPolled?: boolean;
  readonly fixes?: { can(bus: string): string; readonly obd: string };
}

const fixesOfFile: Required<ProgramSources>['fixes'] = { can: (bus) => `add - { bus: ${bus}, … }`, obd: 'add obd' };

/** Checks that the inputs of a configuration match the buses of its profile. */
export function checkInputs(
  configuration: Inputs & { readonly file: string; readonly commands?: object; readonly faults?: object },
  profile: {
    readonly name: string;
    readonly buses: readonly Pick<VehicleBus, 'name' | 'kind'>[];
    readonly commands?: Readonly<Record<string, ProfileCommand>>;
    readonly controlUnits?: readonly ControlUnit[];
  },
  { fed = [], isPolled = false, fixes = fixesOfFile }: ProgramSources = {},
): Diagnostic[] {
  const { file } = configuration;
  const diagnostics: Diagnostic[] = [];
  const find = (severity: 'error' | 'warning', line: number, message: string, fix: string): void => {
    diagnostics.push({ file, line, severity, message, fix });
  };
  const named = (kind: VehicleBus['kind']): string[] =>
    profile.buses.filter((bus) => bus.kind === kind).map((bus) => bus.name);
  const cans = named('can');
  for (const { bus, line } of configuration.can) {
    // A bus that only carries answers need not be in the profile.
    if (cans.includes(bus) || (configuration.obd?.kind === 'isotp' && configuration.obd.over === bus)) continue;
    const fix = suggestion(bus, cans) ?? (cans.length === 0 ? 'remove it' : `known: ${cans.join(', ')}`);
    find('error', line, `profile ${profile.name} has no bus ${quoted(bus)} of frames`, fix);
  }
  for (const [index, { bus, line }] of configuration.can.entries()) {
    const first = configuration.can.findIndex((input) => input.bus === bus);
    if (first !== index) find('error', line, `bus ${bus} has an input already`, 'keep one of them');
  }
  for (const { bus, kind, line } of configuration.can) {
    if (kind !== 'log' || configuration.commands === undefined) continue;
    const actions = Object.entries(profile.commands ?? {}).filter(([, { send }]) => send?.bus === bus);
    const [action] = actions[0] ?? [];
    if (action === undefined) continue;
    const message = `bus ${bus} is a log, on which nothing can be sent: ${action} and the like are refused`;
    find('warning', line, message, 'use socketcan or slcan in the car');
  }
  if (configuration.faults !== undefined) checkFaultInputs(configuration, profile.controlUnits ?? [], find);
  for (const bus of cans) {
    if (fed.includes(bus) || configuration.can.some((input) => input.bus === bus)) continue;
    find('warning', 0, `no CAN input feeds bus ${bus} of profile ${profile.name}`, fixes.can(bus));
  }
  for (const kind of ['obd', 'gnss'] as const) {
    const input = configuration[kind];
    const known = named(kind);
    if (input === undefined) {
      // A GNSS receiver is optional: the agent works without one.
      if (kind === 'obd' && known.length > 0 && !isPolled) {
        find('warning', 0, `nothing feeds bus ${known[0]} of profile ${profile.name}`, fixes.obd);
      }
      continue;
    }
    if (known.length === 0) {
      const message = `profile ${profile.name} has no bus with ${kind}, so the agent cannot use the values of this source`;
      find('warning', input.line, message, kind === 'gnss' ? 'add - { name: sky, gnss: true }' : 'use generic-obd2');
    } else if (input.bus !== undefined && !known.includes(input.bus)) {
      const fix = suggestion(input.bus, known) ?? `known: ${known.join(', ')}`;
      find('error', input.line, `profile ${profile.name} has no bus ${quoted(input.bus)} with ${kind}`, fix);
    }
  }
  return diagnostics;
}

/** Reports control units that have fault codes which no input can read. */
function checkFaultInputs(
  { obd, can }: Inputs,
  units: readonly ControlUnit[],
  find: (severity: 'error' | 'warning', line: number, message: string, fix: string) => void,
): void {
  if (obd === undefined && units.length === 0) {
    const fix = 'add obd, or controlUnits to the profile, or remove faults';
    find('error', 0, 'fault codes are read by obd or of controlUnits of the profile, and there are none', fix);
  }
  for (const bus of new Set(units.map((unit) => unit.bus))) {
    const input = can.find((one) => one.bus === bus);
    if (input?.kind !== 'log') continue;
    const message = `bus ${bus} is a log, on which no control unit can be asked for its fault codes`;
    find('warning', input.line, message, 'use socketcan or slcan in the car');
  }
}
