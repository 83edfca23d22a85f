/** Monitors in files: the `monitors` section of vigie.yaml, and separate files. */

import * as Type from 'typebox';
import { defined } from '../protocol/defined.ts';
import type { Diagnostic } from '../protocol/diagnostic.ts';
import { VigieError } from '../protocol/errors.ts';
import { suggestion } from '../protocol/nearest.ts';
import { readDelivery } from '../protocol/schema/callback.ts';
import type { SignalRules } from '../protocol/schema/monitor/signals.ts';
import {
  compileMonitor,
  MONITORS,
  type MonitorStatus,
  monitorIdPattern,
  monitorStatuses,
} from '../protocol/schema/monitor.ts';
import { isRecord } from '../protocol/slots.ts';
import { readYamlFile } from './document.ts';
import { quoted } from './faults.ts';
import { line } from './fields.ts';
import { Findings, placeOf, pointer } from './findings.ts';

type MonitorsInput = { readonly file: string } | readonly object[];

/** A list in place, or the name of a file. {@link readMonitors} checks the entries. */
export const monitorsSchema = Type.Unsafe<MonitorsInput>({
  type: ['object', 'array'],
  properties: { file: line('A file of monitors', { expected: 'the path of a file' }) },
  required: ['file'],
  additionalProperties: false,
  items: { type: 'object', 'x-expected': 'a monitor: monitorId and monitor' },
  description: 'Rules that the car watches: a list of `monitorId`, `monitor` and `status`, or `file` with such a list',
  'x-expected': 'a list of monitors, or `file: monitors.yaml`',
});

/** A monitor as written in a file. `monitor` has been checked. */
export interface WrittenMonitor {
  readonly monitorId: string;
  readonly monitor: unknown;
  readonly status?: MonitorStatus;
}

/** Where the monitors of a unit are written, with an absolute path. A file is read when it is needed. */
export type MonitorsConfiguration = { readonly file: string } | { readonly list: readonly WrittenMonitor[] };

/** Reads `monitors`. `beside` returns absolute paths. */
export function readMonitorsSection(
  input: MonitorsInput | undefined,
  beside: (path: string) => string,
  findings: Findings,
): MonitorsConfiguration | undefined {
  if (input === undefined || !findings.sound('/monitors')) return undefined;
  if ('file' in input) return { file: beside(input.file) };
  return { list: readMonitors(input, '/monitors', findings) };
}

export interface MonitorsReading {
  /** Undefined if a finding is an error. */
  readonly monitors?: readonly WrittenMonitor[];
  readonly diagnostics: Diagnostic[];
}

/**
 * Reads a file (YAML or JSON) with one monitor or a list of them, each as the interface returns it: `monitorId`,
 * `monitor` and optionally `status`. Reports every fault of the contents as a finding with its line, and throws for
 * none of them. With `id`, the file may also contain only a MonitorParameter, like a request to the interface; the
 * monitor then gets this id. `signals` are the custom signals of the car; undefined if its profile is unknown.
 */
export function readMonitorsFile(path: string, id?: string, signals?: SignalRules): MonitorsReading {
  const { contents, diagnostics } = readYamlFile(path);
  if (contents === undefined) return { diagnostics };
  const findings = new Findings(path, contents.lines);
  findings.take(diagnostics);
  const { data } = contents;
  const bare = id !== undefined && isRecord(data) && 'triggerParam' in data;
  const monitors = bare
    ? readMonitor({ monitorId: id, monitor: data }, { at: '', within: '', findings, signals })
    : Array.isArray(data)
      ? readMonitors(data, '', findings, signals)
      : readMonitor(data, { at: '', within: '/monitor', findings, signals });
  return { ...(findings.failed ? {} : { monitors }), diagnostics: findings.sorted() };
}

/**
 * Returns the faults of the monitors in a configuration, for a car with these custom signals. Call if the configuration
 * has no other faults.
 */
export function checkMonitorsSection(path: string, signals: SignalRules): Diagnostic[] {
  const { contents } = readYamlFile(path);
  const list = isRecord(contents?.data) ? contents.data['monitors'] : undefined;
  if (contents === undefined || !Array.isArray(list)) return [];
  const findings = new Findings(path, contents.lines);
  readMonitors(list, '/monitors', findings, signals);
  return findings.sorted();
}

/** Reads the monitors of a list. Reports and omits entries with faults. */
function readMonitors(
  list: readonly unknown[],
  at: string,
  findings: Findings,
  signals?: SignalRules,
): WrittenMonitor[] {
  if (list.length > MONITORS) {
    findings.error(at, `${list.length} monitors are too many`, `keep at most ${MONITORS}`);
  }
  const ids = new Set<string>();
  return list.flatMap((entry, index) => {
    const place = at + pointer(index);
    const read = readMonitor(entry, { at: place, within: `${place}/monitor`, findings, signals });
    for (const { monitorId } of read) {
      if (ids.has(monitorId)) findings.error(`${place}/monitorId`, `there are two monitors ${quoted(monitorId)}`);
      ids.add(monitorId);
    }
    return read;
  });
}

/** Fields of the interface's Monitor that are only for clients that read it. */
const shown: readonly string[] = ['_links', 'createdAt', 'updatedAt'];
const members: readonly string[] = ['monitorId', 'monitor', 'status'];

interface Reading {
  readonly at: string;
  /** JSON Pointer of the MonitorParameter. */
  readonly within: string;
  readonly findings: Findings;
  readonly signals: SignalRules | undefined;
}

/** Reads one entry. Returns an empty list if the entry has faults. */
function readMonitor(entry: unknown, { at, within, findings, signals }: Reading): WrittenMonitor[] {
  if (!isRecord(entry)) {
    findings.error(at, 'this is not a monitor', 'write monitorId and monitor');
    return [];
  }
  for (const name of Object.keys(entry)) {
    if (members.includes(name) || shown.includes(name)) continue;
    const fix = suggestion(name, members) ?? `known here: ${members.join(', ')}`;
    findings.error(at + pointer(name), `unknown member ${quoted(name)}`, fix);
  }
  const { monitorId, monitor, status } = entry;
  const named = typeof monitorId === 'string' && new RegExp(monitorIdPattern).test(monitorId);
  if (!named) findings.error(`${at}/monitorId`, 'a monitor needs a monitorId: 1 to 64 letters, digits, - and _');
  const known = status === undefined ? undefined : monitorStatuses.find((one) => one === status);
  if (status !== undefined && known === undefined) {
    findings.error(`${at}/status`, `status must be one of ${monitorStatuses.join(', ')}`);
  }
  try {
    readDelivery(compileMonitor(monitor, signals).parameter.delivery);
  } catch (error) {
    if (!(error instanceof VigieError)) throw error;
    findings.error(within + placeOf(error.where ?? ''), error.message);
    return [];
  }
  return named ? [{ monitorId, monitor, ...defined({ status: known }) }] : [];
}
