/** COVESA's Vehicle Signal Specification in the format of `vspec export json` of vss-tools. */

import { readFileSync, statSync } from 'node:fs';
import type { Diagnostic } from '../protocol/diagnostic.ts';
import { VigieError } from '../protocol/errors.ts';
import { isRecord } from '../protocol/slots.ts';
import { reason } from './document.ts';

/** Size in bytes of the largest file. The whole specification with all instances has about 2 MB. */
const MOST_BYTES = 64 << 20;
/** Maximum depth of branches. The specification has about ten levels. */
const DEEPEST = 64;

/** A sensor, an actuator or an attribute. */
export interface VssSignal {
  readonly datatype: string;
  readonly unit?: string;
  readonly allowed?: readonly string[];
  readonly minimum?: number;
  readonly maximum?: number;
  /** Reason why the name is deprecated, and the version that deprecated it. */
  readonly deprecation?: string;
}

export interface VssTree {
  readonly file: string;
  /** Signals by name; the parts of a name are separated by points. */
  readonly signals: ReadonlyMap<string, VssSignal>;
  readonly branches: ReadonlySet<string>;
  readonly diagnostics: readonly Diagnostic[];
}

/** Reads a VSS export. @throws VigieError `input.unreadable`, or `input.malformed` if the file is not an export */
export function readVss(file: string): VssTree {
  const signals = new Map<string, VssSignal>();
  const branches = new Set<string>();
  const diagnostics: Diagnostic[] = [];
  const add = (name: string, node: unknown, depth: number): void => {
    if (!isRecord(node) || typeof node['type'] !== 'string') {
      throw malformed(file, `${name} has no \`type\``);
    }
    if (node['type'] !== 'branch') {
      // A `struct` and its properties have no value.
      if (['sensor', 'actuator', 'attribute'].includes(node['type'])) signals.set(name, signalOf(name, node, file));
      return;
    }
    if (depth > DEEPEST) throw malformed(file, `${name} is nested deeper than ${DEEPEST}`);
    branches.add(name);
    if (node['instances'] !== undefined) {
      diagnostics.push({
        file,
        line: 0,
        severity: 'warning',
        message: `${name} has \`instances\` that are not expanded: names below it are not known`,
        fix: 'export it without --no-expand',
      });
      return;
    }
    const children = node['children'] ?? {};
    if (!isRecord(children)) throw malformed(file, `\`children\` of ${name} is not a map`);
    for (const [part, child] of Object.entries(children)) add(`${name}.${part}`, child, depth + 1);
  };
  const roots = contentsOf(file);
  if (!isRecord(roots)) throw malformed(file, 'the contents are not a map');
  for (const [name, node] of Object.entries(roots)) add(name, node, 1);
  if (signals.size === 0) throw malformed(file, 'no sensor, actuator or attribute is in it');
  return { file, signals, branches, diagnostics };
}

function signalOf(name: string, node: Readonly<Record<string, unknown>>, file: string): VssSignal {
  const { datatype, unit, allowed, min, max, deprecation } = node;
  if (typeof datatype !== 'string') throw malformed(file, `${name} has no \`datatype\``);
  return {
    datatype,
    ...(typeof unit === 'string' && unit !== '' ? { unit } : {}),
    ...(Array.isArray(allowed) ? { allowed: allowed.map(String) } : {}),
    ...(typeof min === 'number' ? { minimum: min } : {}),
    ...(typeof max === 'number' ? { maximum: max } : {}),
    ...(typeof deprecation === 'string' ? { deprecation } : {}),
  };
}

function contentsOf(file: string): unknown {
  let text: string;
  try {
    const { size } = statSync(file);
    if (size > MOST_BYTES) throw malformed(file, `it has ${size} bytes, at most ${MOST_BYTES} are read`);
    text = readFileSync(file, 'utf8');
  } catch (error) {
    if (error instanceof VigieError) throw error;
    throw new VigieError('input.unreadable', `the specification cannot be read: ${reason(error)}`, { where: file });
  }
  try {
    return JSON.parse(text);
  } catch (error) {
    throw malformed(file, `it is not JSON: ${(error as Error).message}`);
  }
}

function malformed(file: string, message: string): VigieError {
  return new VigieError('input.malformed', `${message}; give the file that \`vspec export json\` of vss-tools writes`, {
    where: file,
  });
}
