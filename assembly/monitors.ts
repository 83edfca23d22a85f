import type { Log } from '../agent/ports.ts';
import type { Configuration } from '../config/configuration.ts';
import {
  checkMonitorsSection,
  type MonitorsConfiguration,
  type MonitorsReading,
  readMonitorsFile,
} from '../config/monitors.ts';
import type { Diagnostic } from '../protocol/diagnostic.ts';
import type { VehicleProfile } from '../protocol/profile.ts';
import { signalRulesOf } from '../protocol/schema/monitor/signals.ts';

/**
 * Faults of the file that the section names, and of custom signals that the monitors of the section name.
 * Without a readable profile the signals of the car are unknown.
 */
export function checkMonitors(
  { file, monitors: section }: Configuration,
  profile: VehicleProfile | undefined,
): readonly Diagnostic[] {
  if (section === undefined) return [];
  const signals = profile === undefined ? undefined : signalRulesOf(profile.signals ?? []);
  if ('file' in section) return readMonitorsFile(section.file, undefined, signals).diagnostics;
  return signals === undefined ? [] : checkMonitorsSection(file, signals);
}

/**
 * The monitors that are written for a unit. That their file has faults is logged, and gives none: a slip of the pen in it
 * must neither keep the car dark nor take away what it watches.
 */
export function writtenMonitors(section: MonitorsConfiguration | undefined, log: Log): MonitorsReading {
  if (section === undefined) return { monitors: [], diagnostics: [] };
  if ('list' in section) return { monitors: section.list, diagnostics: [] };
  const reading = readMonitorsFile(section.file);
  if (reading.monitors === undefined) log.error('monitors.fileRefused', section);
  return reading;
}
