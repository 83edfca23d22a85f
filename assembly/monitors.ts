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
 * Returns the faults of the file that the section names, and those of custom signals in the section's monitors. If the
 * profile cannot be read, the car's signals are unknown.
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
 * Returns the monitors in the files of a unit. If a file has faults, logs them and returns no monitors, because a typo
 * in it must neither stop the recording nor remove the active monitors.
 */
export function writtenMonitors(section: MonitorsConfiguration | undefined, log: Log): MonitorsReading {
  if (section === undefined) return { monitors: [], diagnostics: [] };
  if ('list' in section) return { monitors: section.list, diagnostics: [] };
  const reading = readMonitorsFile(section.file);
  if (reading.monitors === undefined) log.error('monitors.fileRefused', section);
  return reading;
}
