/** Loads vehicle profiles: validates the YAML and converts it to plain data. */

import { resolve, sep } from 'node:path';
import { channels } from '../protocol/channels.ts';
import { defined } from '../protocol/defined.ts';
import type { Diagnostic } from '../protocol/diagnostic.ts';
import { suggestion } from '../protocol/nearest.ts';
import type { VehicleProfile } from '../protocol/profile.ts';
import { isRecord } from '../protocol/slots.ts';
import { readBuses, unreadable, type VehicleBus } from './buses.ts';
import { readCaptures } from './captures.ts';
import { type ProfileCommand, readCommands } from './commands.ts';
import { readYamlFile, type YamlContents } from './document.ts';
import { checkForm, quoted } from './faults.ts';
import { Findings, pointer } from './findings.ts';
import { profile as formOfProfile } from './generated/validators.js';
import { readPrepared } from './prepared.ts';
import { type ProfileInput, profileSchema } from './profile-schema.ts';
import { readAlerts, readImpact, readTelemetry, readTheft, readTrips, readWaypoints } from './recording.ts';
import { profileFile, shippedNames } from './shipped.ts';
import { readSignals, type WrittenSignal } from './signals.ts';
import { readConstants, readSources, reportTimeless, type Source } from './sources.ts';
import { readControlUnits } from './uds.ts';

/** A vehicle profile without faults of its own. The readers of DBC files check that these contain the signals. */
export interface Profile
  extends Required<Omit<VehicleProfile, 'signals' | 'texts' | 'faultCodes' | 'controlUnits' | 'captures'>>,
    Pick<VehicleProfile, 'faultCodes' | 'controlUnits' | 'captures'> {
  /** Absolute path. */
  readonly file: string;
  readonly title: string;
  readonly buses: readonly VehicleBus[];
  readonly sources: readonly Source[];
  /** Custom signals as written. The network descriptions contain the rest of their definitions. */
  readonly writtenSignals: readonly WrittenSignal[];
  readonly commands: Readonly<Record<string, ProfileCommand>>;
}

interface ProfileOptions {
  /** Folder of the shipped profiles. */
  readonly shipped: string;
  /** Additional DBC files for every bus, relative to the working directory. */
  readonly extraDbc?: readonly string[];
}

export interface ProfileReading {
  /** Undefined if one of the findings is an error. */
  readonly profile?: Profile;
  readonly diagnostics: Diagnostic[];
}

/**
 * Loads the shipped profile with this name, the `profile.yaml` in this folder, or this YAML file. Reports all faults of
 * the contents as findings, and throws for none of them.
 */
export function loadProfile(nameOrPath: string, options: ProfileOptions): ProfileReading {
  const file = profileFile(nameOrPath, options.shipped);
  if (file === undefined) {
    const known = shippedNames(options.shipped);
    const message = `there is no profile ${quoted(nameOrPath)}`;
    const fix = suggestion(nameOrPath, known) ?? `known: ${known.join(', ') || 'none'}; or give the path of a file`;
    return { diagnostics: [{ file: nameOrPath, line: 0, severity: 'error', message, fix }] };
  }
  const isShipped = file.startsWith(options.shipped + sep);
  const { contents, diagnostics } = isShipped ? readPrepared(file) : readYamlFile(file);
  if (contents === undefined) return { diagnostics };
  const findings = new Findings(file, contents.lines);
  findings.take(diagnostics);
  const extraDbc = (options.extraDbc ?? []).map((path) => resolve(path));
  for (const path of extraDbc) {
    const trouble = unreadable(path);
    if (trouble === undefined) continue;
    const message = `DBC file cannot be read: ${trouble}`;
    findings.take([{ file: path, line: 0, severity: 'error', message, fix: 'check the path and its rights' }]);
  }
  const profile = readProfile(resolve(file), contents, extraDbc, findings);
  return { ...(profile === undefined || findings.failed ? {} : { profile }), diagnostics: findings.sorted() };
}

/** Sections whose fields are channels (protocol/channels.ts). */
const channelSections: readonly string[] = [...new Set(channels.map(({ path }) => path.split('.')[0] as string))];

function readProfile(
  file: string,
  contents: YamlContents,
  extraDbc: readonly string[],
  findings: Findings,
): Profile | undefined {
  if (!checkForm(contents.data, formOfProfile, profileSchema, findings)) return undefined;
  if (!isRecord(contents.data)) return undefined;
  // The form was checked above. The readers skip parts with faults (`findings.sound`).
  const written = contents.data;
  const input = written as Partial<ProfileInput>;
  const status = members(input.status);
  const buses = readBuses(Array.isArray(input.buses) ? input.buses : [], file, extraDbc, findings);
  const sources = readSources('status', status, buses, findings);
  for (const section of channelSections) {
    if (findings.sound(pointer(section)) || section === 'alerts') {
      sources.push(...readSources(section, members(written[section]), buses, findings));
    }
  }
  if (Object.keys(members(input.commands)).length > 0) reportTimeless(sources, findings);
  const constants = readConstants(members(input.constants), status, findings);
  const signals = readSignals(members(input.signals), buses, new Set(Object.keys(status)), findings);
  if (sources.length + signals.length + Object.keys(constants).length === 0 && !findings.failed) {
    const fix = 'add lines such as kinetic.speed: { signal: MESSAGE.SIGNAL }';
    findings.warning('/status', 'no path is mapped, so the agent would publish no value of the car', fix);
  }
  const paths = new Set(Object.keys(status));
  const told = channelSections.flatMap((section) =>
    Object.keys(members(written[section])).map((of) => `${section}.${of}`),
  );
  const fed = new Set([...paths, ...Object.keys(members(input.constants))]);
  const units = readControlUnits(Array.isArray(input.controlUnits) ? input.controlUnits : [], buses, findings);
  const captures = readCaptures(input.captures, buses, findings);
  const name = typeof input.name === 'string' ? input.name : '';
  return {
    file,
    name,
    title: input.title ?? name,
    buses: buses.buses,
    sources,
    writtenSignals: signals,
    constants,
    telemetry: readTelemetry(members(input.telemetry) as Required<ProfileInput>['telemetry'], fed, findings),
    waypoints: readWaypoints(findings.sound('/waypoints') ? (input.waypoints ?? {}) : {}),
    ...(input.faultCodes === undefined || !findings.sound('/faultCodes') ? {} : { faultCodes: input.faultCodes }),
    ...(units.length === 0 ? {} : { controlUnits: units }),
    alerts: readAlerts(members(input.alerts) as NonNullable<ProfileInput['alerts']>, findings),
    trips: readTrips(findings.sound('/trips') ? (input.trips ?? {}) : {}),
    collisions: readImpact(findings.sound('/impact') ? (input.impact ?? {}) : {}),
    ...defined({ captures }),
    thefts: readTheft(findings.sound('/theft') ? (input.theft ?? {}) : {}),
    commands: readCommands(members(input.commands), buses, { sources, paths, channels: new Set(told) }, findings),
  };
}

/** Returns the fields of a section; none if it is omitted, or is not a map (which was already reported). */
function members(section: unknown): Record<string, unknown> {
  return isRecord(section) ? section : {};
}
