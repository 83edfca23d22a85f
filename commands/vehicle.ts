import { readFileSync } from 'node:fs';
import { prepareCommands } from '../adapters/can/actuator.ts';
import { type Database, DbcDecoder, parseDbc } from '../adapters/can/dbc/index.ts';
import type { FrameDecoder, WantedSignal } from '../agent/ports.ts';
import type { SourceMapping, VehicleProfile } from '../agent/profile.ts';
import { loadProfile, type Profile as WrittenProfile } from '../config/profile.ts';
import { shippedProfiles } from '../config/shipped.ts';
import type { Diagnostic } from '../protocol/diagnostic.ts';
import { VigieError } from '../protocol/errors.ts';
import { complain } from './output.ts';

/** A network description with the bus it belongs to; without a bus it describes every bus. */
export interface BoundDatabase {
  readonly bus?: string;
  readonly database: Database;
}

/** A vehicle profile with its network descriptions read. */
export interface Vehicle {
  readonly profile: VehicleProfile & Pick<WrittenProfile, 'buses' | 'commands' | 'title'>;
  readonly databases: readonly BoundDatabase[];
}

/** Reads a DBC; a file that cannot be read is a finding like any other. */
export function readDbc(file: string): { database?: Database; diagnostics: readonly Diagnostic[] } {
  let bytes: Uint8Array;
  try {
    bytes = readFileSync(file);
  } catch (error) {
    const reason = (error as NodeJS.ErrnoException).code === 'ENOENT' ? 'no such file' : (error as Error).message;
    return { diagnostics: [{ file, line: 0, severity: 'error', message: reason, fix: 'check the path' }] };
  }
  return parseDbc(bytes, file);
}

/** Everything there is to say about a profile and its network descriptions, and the vehicle if it can be used. */
export function inspectVehicle(
  nameOrPath: string,
  extraDbc: readonly string[] = [],
): { vehicle?: Vehicle; diagnostics: readonly Diagnostic[] } {
  const { profile, diagnostics } = loadProfile(nameOrPath, { shipped: shippedProfiles, extraDbc });
  const found = [...diagnostics];
  if (profile === undefined) return { diagnostics: found };
  // With one bus the profile does not care what a log or an interface calls it.
  const single = profile.buses.length === 1;
  const databases: BoundDatabase[] = [];
  for (const bus of profile.buses) {
    for (const file of bus.dbc) {
      const { database, diagnostics: faults } = readDbc(file);
      found.push(...faults);
      if (database !== undefined) databases.push(single ? { database } : { bus: bus.name, database });
    }
  }
  const sources = single ? profile.sources.map(({ bus: _, ...source }) => source) : profile.sources;
  found.push(...unknownSignals(profile, sources, databases), ...unknownCommands(profile, databases));
  return { vehicle: { profile: { ...profile, sources }, databases }, diagnostics: found };
}

/** @throws VigieError `configuration.wrong` when the profile has errors; the findings go to standard error first */
export function loadVehicle(nameOrPath: string, extraDbc: readonly string[] = []): Vehicle {
  const { vehicle, diagnostics } = inspectVehicle(nameOrPath, extraDbc);
  const errors = diagnostics.filter((diagnostic) => diagnostic.severity === 'error');
  complain(errors);
  if (vehicle === undefined || errors.length > 0) {
    throw new VigieError('configuration.wrong', `profile ${nameOrPath} cannot be used (${errors.length} errors)`);
  }
  return vehicle;
}

/** A decoder for the signals the core wants, on the buses of one source. */
export function decoderFor(vehicle: Vehicle, wanted: readonly WantedSignal[], buses: readonly string[]): FrameDecoder {
  return new DbcDecoder(wanted, vehicle.databases, buses);
}

function unknownSignals(
  { file, sources: written }: WrittenProfile,
  sources: readonly SourceMapping[],
  databases: readonly BoundDatabase[],
): Diagnostic[] {
  return new DbcDecoder(sources, databases, []).problems.map(({ index, message, nearest }) => ({
    file,
    line: written[index]?.line ?? 0,
    severity: 'error' as const,
    message,
    ...(nearest.length === 0 ? {} : { fix: `did you mean ${nearest.join(', ')}?` }),
  }));
}

function unknownCommands(profile: WrittenProfile, databases: readonly BoundDatabase[]): Diagnostic[] {
  return prepareCommands(profile.commands, databases).problems.map(({ action, message }) => ({
    file: profile.file,
    line: profile.commands[action]?.line ?? 0,
    severity: 'error' as const,
    message: `${action}: ${message}`,
  }));
}
