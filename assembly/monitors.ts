import type { Log } from '../agent/ports.ts';
import { type MonitorsConfiguration, type MonitorsReading, readMonitorsFile } from '../config/monitors.ts';
import type { Diagnostic } from '../protocol/diagnostic.ts';

/** What is wrong with the file that the section names. */
export function checkMonitors(section: MonitorsConfiguration | undefined): readonly Diagnostic[] {
  return section !== undefined && 'file' in section ? readMonitorsFile(section.file).diagnostics : [];
}

/**
 * The monitors that are written for a unit. That their file has faults is logged, and gives none: a slip of the pen in it
 * must neither keep the car dark nor take away what it watches.
 */
export function writtenMonitors(section: MonitorsConfiguration | undefined, log: Log): MonitorsReading {
  if (section === undefined) return { monitors: [], diagnostics: [] };
  if ('list' in section) return { monitors: section.list, diagnostics: [] };
  const reading = readMonitorsFile(section.file);
  if (reading.monitors === undefined)
    log.error('the file of monitors has faults; the previous monitors stay in use', section);
  return reading;
}
