/** The logical buses of a profile and the files that describe them. */
import { accessSync, constants } from 'node:fs';
import { dirname, resolve } from 'node:path';
import { reason } from './document.ts';
import { quoted } from './faults.ts';
import { type Findings, pointer } from './findings.ts';
import { suggestion } from './nearest.ts';

export interface Bus {
  readonly name: string;
  /** Absolute paths. */
  readonly dbc: readonly string[];
  readonly line: number;
}

/** Says which bus an entry means. */
export interface BusNames {
  readonly buses: readonly Bus[];
  /** The name of the bus meant by `name`, which may be left out when there is one; reports at `at` what is wrong. */
  resolve(name: string | undefined, at: string, findings: Findings): string | undefined;
}

/** `extraDbc` (absolute paths) is added to every bus. */
export function readBuses(
  listed: readonly { name: string; dbc?: readonly string[] }[],
  file: string,
  extraDbc: readonly string[],
  findings: Findings,
): BusNames {
  const buses: Bus[] = [];
  for (const [index, entry] of listed.entries()) {
    const at = pointer('buses', index);
    if (!findings.sound(at)) continue;
    const { name, dbc = [] } = entry;
    if (buses.some((bus) => bus.name === name)) findings.error(`${at}/name`, `a bus ${quoted(name)} is there already`);
    const own = dbc.map((path) => resolve(dirname(file), path));
    for (const [place, path] of own.entries()) {
      const trouble = unreadable(path);
      if (trouble === undefined) continue;
      findings.error(
        at + pointer('dbc', place),
        `DBC file ${path} cannot be read: ${trouble}`,
        'write its path relative to the profile',
      );
    }
    if (own.length + extraDbc.length === 0) {
      findings.error(at, `nothing describes the frames of bus ${quoted(name)}`, 'add dbc: [car.dbc]');
    }
    buses.push({ name, dbc: [...new Set([...own, ...extraDbc])], line: findings.line(at) });
  }
  // With a bus whose name nobody can tell, every bus could be meant.
  const all = listed.length > 0 && findings.sound('/buses');
  const known = all ? [...new Set(listed.map(({ name }) => name))] : undefined;
  return { buses, resolve: (name, at, where) => resolveBus(name, known, at, where) };
}

function resolveBus(
  name: string | undefined,
  known: readonly string[] | undefined,
  at: string,
  findings: Findings,
): string | undefined {
  if (known === undefined) return undefined;
  if (name === undefined) {
    if (known.length > 1) findings.error(at, 'which bus?', `add bus: ${known.join(' or bus: ')}`);
    return known[0];
  }
  if (known.includes(name)) return name;
  findings.error(
    `${at}/bus`,
    `there is no bus ${quoted(name)}`,
    suggestion(name, known) ?? `known: ${known.join(', ')}`,
  );
  return undefined;
}

/** Why a file cannot be read; undefined when it can. */
export function unreadable(path: string): string | undefined {
  try {
    accessSync(path, constants.R_OK);
    return undefined;
  } catch (error) {
    return reason(error);
  }
}
