/** Matches bytes against a CDDL rule (RFC 8610); see parser.ts for the supported part of CDDL. */
import { type Item, readItem } from './items.ts';
import { type Entry, type Group, parseCddl, type Type, type Value } from './parser.ts';

/** RFC 8610 appendix D, the part that is used. */
const prelude = parseCddl(`
  bytes = bstr
  text = tstr
  int = uint / nint
  bool = false / true
  nil = null
  number = int / float
`);

const builtIn: Readonly<Record<string, (item: Item) => boolean>> = {
  any: () => true,
  uint: (item) => item.type === 'integer' && item.value >= 0n,
  nint: (item) => item.type === 'integer' && item.value < 0n,
  bstr: (item) => item.type === 'bytes',
  tstr: (item) => item.type === 'text',
  false: (item) => item.type === 'simple' && item.value === 20,
  true: (item) => item.type === 'simple' && item.value === 21,
  null: (item) => item.type === 'simple' && item.value === 22,
  float: (item) => item.type === 'float',
};

/**
 * Deviations of `bytes` from the rule `rule` of `cddl`, each with its place; empty if they match. Bytes that are not
 * one well-formed data item are a deviation too. Throws an Error for CDDL that cannot be parsed or lacks a rule.
 */
export function matchCddl(cddl: string, rule: string, bytes: Uint8Array): string[] {
  return new Matcher(rulesOf(cddl)).embedded({ is: 'name', name: rule }, bytes, rule);
}

const parsed = new Map<string, Map<string, Type>>();

function rulesOf(cddl: string): Map<string, Type> {
  let rules = parsed.get(cddl);
  if (rules === undefined) {
    rules = new Map([...prelude, ...parseCddl(cddl)]);
    for (const type of rules.values()) checkNames(type, rules);
    parsed.set(cddl, rules);
  }
  return rules;
}

function checkNames(type: Type, rules: ReadonlyMap<string, Type>): void {
  const group = (choices: Group): void => {
    for (const entry of choices.flat()) {
      if (entry.key !== undefined) checkNames(entry.key, rules);
      if (entry.type !== undefined) checkNames(entry.type, rules);
      if (entry.group !== undefined) group(entry.group);
    }
  };
  if (type.is === 'name' && !rules.has(type.name) && !Object.hasOwn(builtIn, type.name)) {
    throw new Error(`CDDL has no rule ${type.name}`);
  }
  if (type.is === 'choice') for (const one of type.of) checkNames(one, rules);
  if (type.is === 'control') {
    checkNames(type.target, rules);
    checkNames(type.argument, rules);
  }
  if (type.is === 'tag') checkNames(type.content, rules);
  if (type.is === 'map' || type.is === 'array' || type.is === 'enumeration') group(type.group);
}

class Matcher {
  readonly #rules: ReadonlyMap<string, Type>;

  constructor(rules: ReadonlyMap<string, Type>) {
    this.#rules = rules;
  }

  faults(type: Type, item: Item, at: string): string[] {
    switch (type.is) {
      case 'value':
        return equal(type.value, item) ? [] : [`${at}: ${show(item)} is not ${String(type.value.value)}`];
      case 'range':
        return inRange(type, item)
          ? []
          : [`${at}: ${show(item)} is not within ${type.from.value}..${type.to.value} (${type.from.is})`];
      case 'name': {
        const rule = this.#rules.get(type.name);
        if (rule !== undefined) return this.faults(rule, item, at);
        const test = Object.hasOwn(builtIn, type.name) ? builtIn[type.name] : undefined;
        if (test === undefined) throw new Error(`CDDL has no rule ${type.name}`);
        return test(item) ? [] : [`${at}: ${show(item)} is not ${type.name}`];
      }
      case 'choice': {
        const faults = type.of.map((one) => this.faults(one, item, at));
        const fewest = faults.toSorted((a, b) => a.length - b.length)[0]!;
        return fewest.length === 0 ? [] : [`${at}: none of ${type.of.length} choices; the nearest:`, ...fewest];
      }
      case 'control':
        return this.#control(type, item, at);
      case 'enumeration': {
        const members = flatten(type.group).map((entry) => entry.type!);
        return members.some((member) => this.#matches(member, item)) ? [] : [`${at}: ${show(item)} is not a member`];
      }
      case 'tag':
        if (item.type !== 'tag' || item.number !== type.number)
          return [`${at}: ${show(item)} is not tag ${type.number}`];
        return this.faults(type.content, item.content, at);
      case 'array':
        if (item.type !== 'array') return [`${at}: ${show(item)} is not an array`];
        return this.#array(type.group, item.entries, at);
      case 'map':
        if (item.type !== 'map') return [`${at}: ${show(item)} is not a map`];
        return this.#map(type.group, item.entries, at);
    }
  }

  #matches(type: Type, item: Item): boolean {
    return this.faults(type, item, '').length === 0;
  }

  #control(type: Extract<Type, { is: 'control' }>, item: Item, at: string): string[] {
    const faults = this.faults(type.target, item, at);
    if (faults.length > 0) return faults;
    const { operator, argument } = type;
    if (operator === 'cbor') {
      if (item.type !== 'bytes') throw new Error('.cbor is known for byte strings only');
      return this.embedded(argument, item.value, `${at} .cbor`);
    }
    if (operator === 'size') {
      const size =
        item.type === 'bytes' ? item.value.length : item.type === 'text' ? Buffer.byteLength(item.value) : -1;
      if (size < 0) throw new Error('.size is known for strings only');
      return this.faults(argument, { type: 'integer', value: BigInt(size) }, `${at} .size`);
    }
    if (argument.is !== 'value' || argument.value.is === 'text' || (item.type !== 'integer' && item.type !== 'float')) {
      throw new Error(`.${operator} is known for numbers only`);
    }
    const limit = argument.value.value;
    const value = item.value;
    const good = { ge: value >= limit, gt: value > limit, le: value <= limit, lt: value < limit }[operator];
    return good ? [] : [`${at}: ${show(item)} is not .${operator} ${limit}`];
  }

  /** Deviations of bytes that must be one data item of `type`. */
  embedded(type: Type, bytes: Uint8Array, at: string): string[] {
    let item: Item;
    try {
      item = readItem(bytes).item;
    } catch (error) {
      return [`${at}: not a data item: ${(error as Error).message}`];
    }
    return this.faults(type, item, at);
  }

  /** Backtracks over the number of occurrences of each entry, starting with the maximum. */
  #array(group: Group, items: readonly Item[], at: string): string[] {
    let furthest = 0;
    let reason: string[] = [];
    const fits = (entries: readonly Entry[], index: number, done: number, from: number): boolean => {
      const entry = entries[index];
      if (entry === undefined) {
        if (from < items.length && (from > furthest || reason.length === 0))
          reason = [`${at}[${from}]: ${show(items[from]!)} is one too many`];
        return from === items.length;
      }
      if (done < entry.most) {
        const item = items[from];
        const faults =
          item === undefined ? [`${at}: ends before entry ${index}`] : this.faults(entry.type!, item, `${at}[${from}]`);
        if (faults.length === 0 && fits(entries, index, done + 1, from + 1)) return true;
        if (faults.length > 0 && from >= furthest) {
          furthest = from;
          reason = faults;
        }
      }
      return done >= entry.least && fits(entries, index + 1, 0, from);
    };
    for (const choice of group) if (fits(flatten([choice]), 0, 0, 0)) return [];
    return reason.length > 0 ? reason : [`${at}: array does not match`];
  }

  /** Tries member keys in the order of the group. Each pair belongs to the first entry with a matching key. */
  #map(group: Group, pairs: readonly (readonly [Item, Item])[], at: string): string[] {
    let nearest: string[] | undefined;
    for (const choice of group) {
      const faults = this.#mapChoice(flatten([choice]), pairs, at);
      if (faults.length === 0) return [];
      if (nearest === undefined || faults.length < nearest.length) nearest = faults;
    }
    return nearest ?? [];
  }

  #mapChoice(entries: readonly Entry[], pairs: readonly (readonly [Item, Item])[], at: string): string[] {
    const counts = entries.map(() => 0);
    const faults: string[] = [];
    for (const [key, value] of pairs) {
      const index = entries.findIndex(
        (entry, i) => entry.key !== undefined && counts[i]! < entry.most && this.#matches(entry.key, key),
      );
      if (index < 0) {
        faults.push(`${at}: key ${show(key)} is not allowed (again)`);
        continue;
      }
      counts[index]!++;
      faults.push(...this.faults(entries[index]!.type!, value, `${at}.${show(key)}`));
    }
    entries.forEach((entry, index) => {
      if (entry.key === undefined) throw new Error('CDDL has a map entry without key');
      if (counts[index]! < entry.least) {
        faults.push(
          `${at}: key ${entry.key.is === 'value' ? String(entry.key.value.value) : 'of an entry'} is missing`,
        );
      }
    });
    return faults;
  }
}

/** The entries of a group with one choice. Groups in parentheses are spliced in if they occur exactly once. */
function flatten(group: Group): Entry[] {
  if (group.length !== 1) throw new Error('a choice of groups is known directly in maps and arrays only');
  return group[0]!.flatMap((entry) => {
    if (entry.group === undefined) return [entry];
    if (entry.least !== 1 || entry.most !== 1) throw new Error('occurrence of groups is not known');
    return flatten(entry.group);
  });
}

function equal(value: Value, item: Item): boolean {
  return value.is === item.type && value.value === item.value;
}

function inRange({ from, to, exclusive }: Extract<Type, { is: 'range' }>, item: Item): boolean {
  if (item.type !== from.is || (item.type !== 'integer' && item.type !== 'float')) return false;
  if (from.is === 'text' || to.is === 'text') return false;
  return item.value >= from.value && (exclusive ? item.value < to.value : item.value <= to.value);
}

function show(item: Item): string {
  switch (item.type) {
    case 'text':
      return JSON.stringify(item.value);
    case 'bytes':
      return `h'${Buffer.from(item.value).toString('hex')}'`;
    case 'integer':
      return String(item.value);
    case 'float':
      return `float ${item.value}`;
    case 'simple':
      return `simple ${item.value}`;
    default:
      return `a ${item.type}`;
  }
}
