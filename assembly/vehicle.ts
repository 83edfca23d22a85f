import { readFileSync } from 'node:fs';
import { prepareCommands } from '../adapters/can/actuator.ts';
import {
  type BoundDatabase,
  type Database,
  parseDbc,
  unknownSignals as unknownSignalsOf,
} from '../adapters/can/dbc/index.ts';
import { frameDecoder, type GroupLossListener } from '../adapters/can/j1939/group-decoder.ts';
import { gnssMessage, gnssSignals } from '../adapters/gnss/index.ts';
import { parseSignalSet, type SignalSet } from '../adapters/obd/index.ts';
import { defaultPollSettings, type PollSettings, planPolls } from '../adapters/obd/poll/index.ts';
import { prepareUdsCommands } from '../adapters/obd/uds/index.ts';
import { hiddenFrom } from '../agent/model/privacy.ts';
import type { AgentPorts } from '../agent/options.ts';
import type { FrameDecoder, WantedSignal } from '../agent/ports.ts';
import type { ObdBus } from '../config/buses.ts';
import { loadProfile, type Profile as WrittenProfile } from '../config/profile.ts';
import { shippedProfiles } from '../config/shipped.ts';
import { counted } from '../protocol/counted.ts';
import type { Diagnostic } from '../protocol/diagnostic.ts';
import type { VehicleProfile } from '../protocol/profile.ts';
import { withoutBuses } from './captures.ts';
import { completeSignals, messagesOf } from './custom-signals.ts';
import { FilesRefused } from './refused.ts';
import { seedKeys } from './seed-keys.ts';

/** A vehicle profile with its parsed network descriptions. */
export interface Vehicle {
  readonly profile: VehicleProfile & Pick<WrittenProfile, 'buses' | 'commands' | 'file' | 'title' | 'writtenSignals'>;
  readonly databases: readonly BoundDatabase[];
  /** Signal sets by the name of the bus on which they are requested. */
  readonly signalSets: ReadonlyMap<string, readonly SignalSet[]>;
}

/** Parses a DBC. If the file cannot be read, that is a finding like any other fault. */
export function readDbc(file: string): { database?: Database; diagnostics: readonly Diagnostic[] } {
  let bytes: Uint8Array;
  try {
    bytes = readFileSync(file);
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    const reason = code === 'ENOENT' ? 'no such file' : code === 'EISDIR' ? 'it is a folder' : message;
    return { diagnostics: [{ file, line: 0, severity: 'error', message: reason, fix: 'check the path' }] };
  }
  return parseDbc(bytes, file);
}

/** Returns all findings about a profile and its network descriptions, and the vehicle if it is usable. */
export function inspectVehicle(
  nameOrPath: string,
  extraDbc: readonly string[] = [],
): { vehicle?: Vehicle; diagnostics: readonly Diagnostic[] } {
  const { profile, diagnostics } = loadProfile(nameOrPath, { shipped: shippedProfiles, extraDbc });
  const found = [...diagnostics];
  if (profile === undefined) return { diagnostics: found };
  // If the profile has only one CAN bus, its name in a log or for an interface does not matter.
  const single = profile.buses.filter(({ kind }) => kind === 'can').length === 1;
  const signalSets = new Map<string, readonly SignalSet[]>();
  const databases: BoundDatabase[] = [];
  for (const bus of profile.buses) {
    if (bus.obd !== undefined)
      signalSets.set(
        bus.name,
        bus.obd.signalsets.flatMap((file) => readSignalSet(file, found)),
      );
    for (const file of bus.dbc) {
      const { database, diagnostics: faults } = readDbc(file);
      found.push(...faults);
      if (database !== undefined) databases.push(single ? { database } : { bus: bus.name, database });
    }
  }
  const frames = new Set(profile.buses.filter(({ kind }) => kind === 'can').map(({ name }) => name));
  const sources = profile.sources.map(({ bus, ...source }) =>
    single && frames.has(bus) ? source : { bus, ...source },
  );
  const named = [...profile.sources, ...profile.writtenSignals.filter(({ signal }) => signal !== '*')];
  const {
    signals,
    texts,
    diagnostics: faults,
  } = completeSignals(profile.writtenSignals, {
    frames,
    databases,
    single,
    file: profile.file,
    positions: profile.sources.filter(({ path }) => hiddenFrom(path) === 1),
  });
  found.push(
    ...unknownSignals(profile, frames, single, databases),
    ...unknownParameters(profile, named, signalSets),
    ...unknownFixes(profile, named),
    ...unknownCommands(profile, databases),
    ...faults,
  );
  const { captures } = profile;
  const read = {
    ...profile,
    sources,
    ...(signals.length === 0 ? {} : { signals }),
    ...(texts.length === 0 ? {} : { texts }),
    ...(captures === undefined ? {} : { captures: single ? withoutBuses(captures) : captures }),
  };
  return { vehicle: { profile: read, databases, signalSets }, diagnostics: found };
}

/** @throws FilesRefused with all errors of the profile */
export function loadVehicle(nameOrPath: string, extraDbc: readonly string[] = []): Vehicle {
  const { vehicle, diagnostics } = inspectVehicle(nameOrPath, extraDbc);
  const errors = diagnostics.filter((diagnostic) => diagnostic.severity === 'error');
  if (vehicle === undefined || errors.length > 0) {
    throw new FilesRefused(`profile ${nameOrPath} cannot be used (${counted(errors.length, 'error')})`, errors);
  }
  return vehicle;
}

/**
 * Returns a decoder for the signals that the agent needs, on the buses of one source.
 * @param lost called when groups of several packets were lost
 */
export function decoderFor(
  vehicle: Vehicle,
  wanted: readonly WantedSignal[],
  buses: readonly string[],
  lost?: GroupLossListener,
): FrameDecoder {
  return frameDecoder(wanted, vehicle.databases, buses, lost);
}

function readSignalSet(file: string, found: Diagnostic[]): SignalSet[] {
  try {
    const set = parseSignalSet(readFileSync(file, 'utf8'), file);
    found.push(...set.diagnostics);
    return [set];
  } catch (error) {
    found.push({ file, line: 0, severity: 'error', message: (error as Error).message });
    return [];
  }
}

/** Something that a profile requires from a bus, and where in the profile. */
type Named = WantedSignal & { readonly bus: string; readonly line: number; readonly kind?: string };

function unknownSignals(
  { file, sources, writtenSignals }: WrittenProfile,
  frames: ReadonlySet<string>,
  single: boolean,
  databases: readonly BoundDatabase[],
): Diagnostic[] {
  // No DBC describes the contents of other buses.
  const named: readonly Named[] = [...sources, ...writtenSignals].filter(
    // If the DBC describes the message, it describes all of its signals.
    ({ bus, message, signal }) =>
      frames.has(bus) && (signal !== '*' || messagesOf(bus, message, databases).length === 0),
  );
  const wanted = named.map(({ bus, message, signal }) => (single ? { message, signal } : { bus, message, signal }));
  return unknownSignalsOf(wanted, databases).map(({ index, message, nearest }) => ({
    file,
    line: named[index]?.line ?? 0,
    severity: 'error' as const,
    message,
    ...(nearest.length === 0 ? {} : { fix: `did you mean ${nearest.join(', ')}?` }),
  }));
}

function unknownParameters(
  { file, buses }: WrittenProfile,
  sources: readonly Named[],
  signalSets: Vehicle['signalSets'],
): Diagnostic[] {
  return buses.flatMap(({ name, obd }) => {
    if (obd === undefined) return [];
    const wanted = sources
      .filter(({ bus }) => bus === name)
      .map((source) => (source.kind === 'text' ? { ...source, text: true as const } : source));
    const { missing } = planPolls(wanted, signalSets.get(name) ?? [], pollSettings(obd));
    return wanted
      .filter((source) => missing.includes(source))
      .map(({ message, signal, line, kind }) => ({
        file,
        line,
        severity: 'error' as const,
        message: `no signal set of bus ${name} has ${message}.${signal} as a ${kind === 'text' ? 'text' : 'number'}`,
        fix: 'see the `signals` of the set for its `id`; those with the unit `ascii` are texts: kind: text',
      }));
  });
}

/** Returns the profile's settings for polling a bus. */
export function pollSettings({ signals, modelYear, ...obd }: ObdBus): PollSettings {
  return { ...defaultPollSettings, ...obd, rules: signals, modelYear };
}

function unknownFixes({ file, buses }: WrittenProfile, sources: readonly Named[]): Diagnostic[] {
  const receivers = new Set(buses.filter(({ kind }) => kind === 'gnss').map(({ name }) => name));
  return sources
    .filter(({ bus, message, signal }) => {
      const known = message === gnssMessage && gnssSignals.some((name) => name === signal);
      return receivers.has(bus) && !known;
    })
    .map(({ message, signal, line }) => ({
      file,
      line,
      severity: 'error' as const,
      message: `a receiver has no ${message}.${signal}`,
      fix: `one of ${gnssSignals.map((name) => `${gnssMessage}.${name}`).join(', ')}`,
    }));
}

function unknownCommands({ file, commands }: WrittenProfile, databases: readonly BoundDatabase[]): Diagnostic[] {
  const found = (severity: Diagnostic['severity']) => (problem: { action: string; message: string }) => ({
    file,
    line: commands[problem.action]?.line ?? 0,
    severity,
    message: `${problem.action}: ${problem.message}`,
  });
  // Programs that compute keys are on the unit; they may be missing where a profile is written.
  const { hooks, problems } = seedKeys(process.env);
  const unlocks = Object.values(commands).some(({ uds }) => uds?.security !== undefined);
  return [
    ...(unlocks ? problems : []).map(({ where = file, message }) => {
      return { file: where, line: 0, severity: 'warning' as const, message: message.replace(`${where}: `, '') };
    }),
    ...prepareCommands(commands, databases).problems.map(found('error')),
    ...prepareUdsCommands(commands, hooks).problems.map(found('warning')),
  ];
}

/** Returns the recorder of custom signals. Loads it only if the vehicle has custom signals. */
export async function signalsOf({ profile }: Vehicle): Promise<Pick<AgentPorts, 'signals'>> {
  const { signals = [], texts = [] } = profile;
  if (signals.length + texts.length === 0) return {};
  const { CustomSignals } = await import('../agent/signals/custom-signals.ts');
  return { signals: (parts) => new CustomSignals(signals, parts, texts) };
}
