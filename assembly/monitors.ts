import type { Log } from '../agent/ports.ts';
import { complain } from '../commands/output.ts';
import { type MonitorsConfiguration, readMonitorsFile, type WrittenMonitor } from '../config/monitors.ts';
import type { Diagnostic } from '../protocol/diagnostic.ts';

/** What is wrong with the file that the section names. */
export function checkMonitors(section: MonitorsConfiguration | undefined): readonly Diagnostic[] {
  return section !== undefined && 'file' in section ? readMonitorsFile(section.file).diagnostics : [];
}

/**
 * The monitors that are written for this unit. Undefined when their file has faults, which are said: a slip of the pen
 * in it must neither keep the car dark nor take away what it watches.
 */
export function writtenMonitors(
  section: MonitorsConfiguration | undefined,
  log: Log,
): readonly WrittenMonitor[] | undefined {
  if (section === undefined) return [];
  if ('list' in section) return section.list;
  const { monitors, diagnostics } = readMonitorsFile(section.file);
  complain(diagnostics);
  if (monitors === undefined) log.error('the file of monitors has faults: those of before go on', section);
  return monitors;
}
