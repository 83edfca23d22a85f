/** Sections of a profile that define the sources of values, and `constants`. */

import { channelByPath } from '../protocol/channels.ts';
import { defined } from '../protocol/defined.ts';
import { suggestion } from '../protocol/nearest.ts';
import type { SourceMapping } from '../protocol/profile.ts';
import type { Leaf } from '../protocol/slots.ts';
import type { BusNames } from './buses.ts';
import { profileDefaults } from './defaults.ts';
import { quoted } from './faults.ts';
import { type Findings, pointer } from './findings.ts';
import type { SourceInput } from './profile-schema.ts';
import { readDuration, writeDuration } from './quantities.ts';
import { type FixedValue, misfit, slotAt } from './values.ts';

/** Source, with the line of the profile that contains the name of its signal. */
export interface Source extends SourceMapping {
  readonly bus: string;
  readonly line: number;
}

/**
 * Reads a section that contains sources by path. Reports and omits entries with faults. The keys of `status` are paths
 * of Status; those of every other section are channels below the section's name.
 */
export function readSources(name: string, section: object, buses: BusNames, findings: Findings): Source[] {
  const sources: Source[] = [];
  for (const [member, written] of Object.entries(section) as [string, SourceInput | SourceInput[]][]) {
    const at = pointer(name, member);
    const path = name === 'status' ? member : `${name}.${member}`;
    const slot = name === 'status' ? slotAt(path, at, findings) : channelAt(name, member, at, findings);
    // The schema lists the fields of a channel section, so the form of an unknown field was not checked.
    if (!findings.sound(at) || (slot === undefined && name !== 'status')) continue;
    if (slot?.kind === 'value') {
      findings.error(at, `${path} is a structure, which no signal can give`, 'remove it');
      continue;
    }
    const listed = Array.isArray(written) ? written : [written];
    for (const [priority, input] of listed.entries()) {
      const place = Array.isArray(written) ? at + pointer(priority) : at;
      sources.push(readSource({ path, slot, input, at: place, priority, alone: listed.length === 1 }, buses, findings));
    }
    reportTwins(
      sources.filter((source) => source.path === path),
      at,
      findings,
    );
  }
  return sources;
}

/** Returns the channel of a field. Reports an unknown field at `at`. */
function channelAt(section: string, member: string, at: string, findings: Findings): Leaf | undefined {
  const channel = channelByPath.get(`${section}.${member}`);
  if (channel !== undefined) return channel;
  const known = [...channelByPath.keys()].filter((path) => path.startsWith(`${section}.`));
  const names = known.map((path) => path.slice(section.length + 1));
  findings.error(
    at,
    `${section} has no ${quoted(member)}`,
    suggestion(member, names) ?? 'config/generated/status-paths.md lists all',
  );
  return undefined;
}

interface Written {
  readonly path: string;
  readonly slot: Leaf | undefined;
  readonly input: SourceInput;
  readonly at: string;
  readonly priority: number;
  readonly alone: boolean;
}

function readSource(written: Written, buses: BusNames, findings: Findings): Source {
  const { path, slot, input, at, priority, alone } = written;
  const dot = input.signal.indexOf('.');
  const bus = buses.resolve(input.bus, at, findings, input.signal.slice(0, Math.max(0, dot))) ?? '';
  const map = input.map === undefined ? undefined : readMap(input.map, slot, at, findings);
  const timeout = input.timeout === undefined ? undefined : readDuration(input.timeout);
  // A source whose value is stale must not block the next source.
  const failover =
    input.failover === undefined
      ? Math.min(profileDefaults.failover, timeout ?? profileDefaults.failover)
      : readDuration(input.failover);
  if (alone && input.failover !== undefined) {
    findings.warning(`${at}/failover`, 'failover has no effect: there is no other source', 'remove it or add a source');
  }
  checkConversion(input, slot, at, findings);
  return {
    path,
    bus,
    message: input.signal.slice(0, dot),
    signal: input.signal.slice(dot + 1),
    scale: input.scale ?? profileDefaults.scale,
    offset: input.offset ?? profileDefaults.offset,
    invalid: input.invalid ?? [],
    ...defined({ map, timeout }),
    priority,
    ...(alone ? {} : { failover }),
    line: findings.line(`${at}/signal`),
  };
}

function readMap(
  map: Readonly<Record<string, FixedValue>>,
  slot: Leaf | undefined,
  at: string,
  findings: Findings,
): Record<string, FixedValue> {
  const result: Record<string, FixedValue> = {};
  for (const [raw, value] of Object.entries(map)) {
    const place = at + pointer('map', raw);
    // Number() parses decimal and hexadecimal; -0 becomes 0.
    const key = String(Number(raw) + 0);
    if (key in result) findings.error(place, `raw value ${raw} is mapped twice`, 'keep one of them');
    const fault = slot === undefined ? undefined : misfit(slot, value);
    if (fault !== undefined) findings.error(place, fault.message, fault.fix);
    result[key] = value;
  }
  if (Object.keys(result).length === 0) findings.error(`${at}/map`, 'an empty map gives no value');
  return result;
}

function checkConversion(input: SourceInput, slot: Leaf | undefined, at: string, findings: Findings): void {
  const { scale, invalid = [], map } = input;
  if (scale === 0) findings.error(`${at}/scale`, 'a scale of 0 makes every value the same', 'use constants for that');
  for (const name of ['scale', 'offset'] as const) {
    if (input[name] === undefined) continue;
    if (map !== undefined) findings.error(`${at}/${name}`, `${name} has no effect with map`, `remove ${name}`);
    else if (slot?.kind === 'enumeration' || slot?.kind === 'set' || slot?.kind === 'flag') {
      findings.error(
        `${at}/${name}`,
        `${slot.path} is not a number: nothing to ${name === 'scale' ? 'scale' : 'add'}`,
        'use map',
      );
    }
  }
  for (const [index, raw] of invalid.entries()) {
    if (map !== undefined && Object.keys(map).some((key) => Number(key) === raw)) {
      findings.error(at + pointer('invalid', index), `${raw} is invalid and in the map`, 'keep one of them');
    }
  }
  if (map !== undefined || slot === undefined) return;
  if (slot.kind === 'enumeration' || slot.kind === 'set') {
    const example = slot.kind === 'set' ? `[${slot.values?.[0]}]` : slot.values?.[0];
    findings.error(at, `${slot.path} takes names and the signal gives a number`, `add map: { 0: ${example}, … }`);
  } else if (slot.kind === 'text' && slot.duration !== true) {
    findings.error(at, `${slot.path} is a text and the signal gives a number`, 'add a map');
  }
}

function reportTwins(sources: readonly Source[], at: string, findings: Findings): void {
  for (const [index, source] of sources.entries()) {
    const twin = sources.findIndex(
      (other) => other.bus === source.bus && other.message === source.message && other.signal === source.signal,
    );
    if (twin < index) {
      findings.error(at + pointer(index), `${source.message}.${source.signal} is a source of this path already`);
    }
    const { timeout, failover } = source;
    if (index < sources.length - 1 && timeout !== undefined && failover !== undefined && timeout < failover) {
      findings.warning(
        at + pointer(index),
        `the value is stale ${writeDuration(failover - timeout)} before the next source takes over`,
        'make failover at most as long as timeout',
      );
    }
  }
}

/** Paths whose values interlocks check before a command acts on the car. */
const interlocking: ReadonlySet<string> = new Set(['kinetic.speed', 'powertrain.status', 'ignition.type']);

/** Warns about values without a timeout: interlocks would trust them forever, even if their source fails. */
export function reportTimeless(sources: readonly Source[], findings: Findings): void {
  const several = new Set(sources.filter(({ priority }) => priority > 0).map(({ path }) => path));
  for (const { path, priority, timeout } of sources) {
    if (timeout !== undefined || !interlocking.has(path)) continue;
    const at = pointer('status', path) + (several.has(path) ? pointer(priority) : '');
    const message = `commands depend on ${path}, which would never be stale`;
    findings.warning(at, message, 'add timeout: some periods of its message, e.g. 5s');
  }
}

/** Reads `constants`. */
export function readConstants(section: object, status: object, findings: Findings): Record<string, FixedValue> {
  const constants: Record<string, FixedValue> = {};
  for (const [path, value] of Object.entries(section) as [string, FixedValue][]) {
    const at = pointer('constants', path);
    const slot = slotAt(path, at, findings);
    if (slot === undefined || !findings.sound(at)) continue;
    const fault = misfit(slot, value);
    if (fault !== undefined) findings.error(at, fault.message, fault.fix);
    if (Object.hasOwn(status, path)) {
      findings.error(at, `${path} has sources under status and cannot be a constant`, 'keep one of them');
    }
    constants[path] = value;
  }
  return constants;
}
