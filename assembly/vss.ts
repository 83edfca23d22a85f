/** Compares a vehicle's custom signals with COVESA's Vehicle Signal Specification: names, types and units. */

import { readable, signalNamed } from '../adapters/can/dbc/index.ts';
import type { VssSignal, VssTree } from '../config/vss.ts';
import { defined } from '../protocol/defined.ts';
import type { Diagnostic } from '../protocol/diagnostic.ts';
import { nearest, suggestion } from '../protocol/nearest.ts';
import type { CustomSignal } from '../protocol/profile.ts';
import { convertUnit, type UnitConversion } from '../protocol/signals/units.ts';
import { messagesOf } from './custom-signals.ts';
import type { Vehicle } from './vehicle.ts';

const SAME: UnitConversion = { scale: 1, offset: 0 };

/** Returns differences from the specification, with suggested names. */
export function compareWithVss(vehicle: Vehicle, tree: VssTree): Diagnostic[] {
  const { file, signals = [], writtenSignals } = vehicle.profile;
  const lines = new Map(writtenSignals.map(({ name, line }) => [name, line]));
  const names = new VssNames(tree);
  const found: Diagnostic[] = [];
  for (const signal of signals) {
    // If the name is not in the file, it comes from a wildcard.
    const line = lines.get(signal.name) ?? lines.get(`${signal.name.slice(0, signal.name.lastIndexOf('.'))}.*`) ?? 0;
    const find = (severity: Diagnostic['severity'], message: string, fix?: string): void => {
      found.push({ file, line, severity, message, ...defined({ fix }) });
    };
    const specified = tree.signals.get(signal.name);
    if (specified !== undefined) compare(signal, specified, rangeOf(signal, vehicle), find);
    else if (tree.branches.has(signal.name)) {
      find('warning', `${signal.name} is a branch of the specification, not a signal`, 'name a signal below it');
    } else {
      const meant = names.closeTo(signal.name);
      if (meant.length === 0) continue;
      find('info', `the specification has no ${signal.name}`, `did you mean ${meant.join(' or ')}?`);
    }
  }
  const known = signals.filter(({ name }) => tree.signals.has(name)).length;
  const message = `of ${signals.length} custom signals the specification names ${known}`;
  return [...tree.diagnostics, ...found, { file, line: 0, severity: 'info', message }];
}

type Find = (severity: Diagnostic['severity'], message: string, fix?: string) => void;
type Range = readonly [minimum: number, maximum: number];

function compare(signal: CustomSignal, specified: VssSignal, range: Range | undefined, find: Find): void {
  const { name, kind } = signal;
  const { datatype, deprecation } = specified;
  if (deprecation !== undefined) find('info', `${name} is deprecated in the specification: ${deprecation}`);
  const expected = kindsOf(specified);
  if (!expected.includes(kind)) {
    const [fix] = expected;
    const is = specified.allowed === undefined ? datatype : `${datatype} with names`;
    find(
      'warning',
      `${name} is recorded as ${kind}, the specification has the type ${is}`,
      fix === undefined ? 'take another name' : `write kind: ${fix}`,
    );
    return;
  }
  if (kind === 'enumeration') compareNames(signal, specified, find);
  if (kind === 'quantity') compareQuantity(signal, specified, range, find);
}

/** Returns the kinds that values of this type may have, the usual kind first. */
function kindsOf({ datatype, allowed }: VssSignal): CustomSignal['kind'][] {
  if (datatype === 'boolean') return ['flag'];
  if (/^(u?int(8|16|32|64)|float|double)$/.test(datatype)) {
    return allowed === undefined ? ['quantity'] : ['enumeration', 'quantity'];
  }
  return datatype === 'string' && allowed !== undefined ? ['enumeration'] : [];
}

function compareNames({ name, names = [] }: CustomSignal, { allowed = [], datatype }: VssSignal, find: Find): void {
  if (datatype !== 'string') return;
  const others = names.filter((one) => !allowed.includes(one.name));
  if (others.length === 0) return;
  const [first] = others;
  const shown = others.slice(0, 3).map((one) => one.name);
  find(
    'warning',
    `${name} has names that the specification does not allow: ${shown.join(', ')}${others.length > 3 ? ', …' : ''}`,
    suggestion(first?.name ?? '', allowed) ?? `write names: with these: ${allowed.join(', ')}`,
  );
}

function compareQuantity(signal: CustomSignal, specified: VssSignal, range: Range | undefined, find: Find): void {
  const { name, unit, resolution = 1, offset = 0 } = signal;
  const { datatype, minimum, maximum } = specified;
  const conversion = compareUnits(signal, specified, find);
  if (conversion === undefined) return;
  const isWhole = Number.isInteger(resolution) && Number.isInteger(offset);
  if (/int/.test(datatype) && !isWhole && conversion === SAME) {
    find(
      'warning',
      `${name} is recorded in steps of ${resolution}, the specification has whole numbers (${datatype})`,
      'write resolution: 1, or keep the steps for receivers that take them',
    );
  }
  if (range === undefined) return;
  const [from, to] = range.map((value) => rounded(value * conversion.scale + conversion.offset)) as [number, number];
  const lowest = minimum ?? (datatype.startsWith('uint') ? 0 : Number.NEGATIVE_INFINITY);
  if (Math.min(from, to) >= lowest && Math.max(from, to) <= (maximum ?? Number.POSITIVE_INFINITY)) return;
  const limits = `${lowest === Number.NEGATIVE_INFINITY ? '' : `from ${lowest} `}${maximum === undefined ? 'up' : `to ${maximum}`}`;
  find(
    'info',
    `the DBC lets ${name} be ${from} to ${to} ${specified.unit ?? unit ?? ''}`.trimEnd(),
    `the specification has ${limits}`,
  );
}

/** Returns the conversion to the specified unit. If there is none, reports a finding and returns undefined. */
function compareUnits({ name, unit, scale, shift }: CustomSignal, specified: VssSignal, find: Find) {
  const wanted = specified.unit;
  if (wanted === undefined) {
    if (unit !== undefined) find('warning', `${name} has the unit ${unit}, the specification has none`);
    return SAME;
  }
  if (unit === undefined) {
    find('warning', `${name} has no unit, the specification has ${wanted}`, `write unit: ${wanted} if it is that`);
    return SAME;
  }
  const conversion = convertUnit(unit, wanted);
  if (conversion === undefined) {
    find('warning', `${name} has the unit ${unit}, the specification has ${wanted}`, 'take another name or unit');
    return undefined;
  }
  if (conversion.scale === 1 && conversion.offset === 0) return SAME;
  const members = [
    `unit: ${wanted}`,
    `scale: ${rounded(scale * conversion.scale)}`,
    ...(shift === 0 && conversion.offset === 0
      ? []
      : [`offset: ${rounded(shift * conversion.scale + conversion.offset)}`]),
  ];
  find('warning', `${name} has the unit ${unit}, the specification has ${wanted}`, `write ${members.join(', ')}`);
  return conversion;
}

/** Returns the physical range according to the DBC, in the unit of the profile, or undefined. */
function rangeOf(
  { bus, message, signal, scale, shift, kind }: CustomSignal,
  { databases }: Vehicle,
): Range | undefined {
  if (kind !== 'quantity') return undefined;
  const described = messagesOf(bus ?? '', message, databases)
    .flatMap((one) => signalNamed(one, signal) ?? [])
    .find(readable);
  return described?.range?.map((value) => rounded(value * scale + shift)) as Range | undefined;
}

function rounded(value: number): number {
  return Number(value.toPrecision(9)) + 0;
}

/** Finds names whose last part is similar, and prefers those that share most of the other parts. */
class VssNames {
  /** Names by their last part. */
  readonly #byLeaf = new Map<string, string[]>();

  constructor({ signals }: VssTree) {
    for (const name of signals.keys()) {
      const leaf = name.slice(name.lastIndexOf('.') + 1);
      const names = this.#byLeaf.get(leaf) ?? [];
      this.#byLeaf.set(leaf, names);
      names.push(name);
    }
  }

  /** Returns up to three of the closest names. Names that share only a similar last part do not count as close. */
  closeTo(name: string): string[] {
    const parts = name.split('.');
    const leaf = parts.at(-1) as string;
    const own = new Set(parts.slice(0, -1).map((part) => part.toLowerCase()));
    // All names begin with `vehicle`.
    own.delete('vehicle');
    let best = 1;
    let found: string[] = [];
    for (const similar of nearest(leaf, this.#byLeaf.keys())) {
      const same = similar.toLowerCase() === leaf.toLowerCase() ? 1 : 0.5;
      for (const candidate of this.#byLeaf.get(similar) ?? []) {
        const shared = candidate
          .split('.')
          .slice(0, -1)
          .filter((part) => own.has(part.toLowerCase())).length;
        const score = same + shared;
        if (score > best) [best, found] = [score, []];
        if (score === best) found.push(candidate);
      }
    }
    return found.slice(0, 3);
  }
}
