/** Joins the statements of a network description into a {@link Database}. */
import { EXTENDED } from '../../../agent/ports.ts';
import { AttributeSet, frameFormat } from './attributes.ts';
import { checkMessage } from './checks.ts';
import type { AttributeValue, Choices, Database, DbcMessage, EnvironmentVariable, NetworkNode } from './database.ts';
import type { AttributeTarget, Declarations, MessageDeclaration, SignalDeclaration } from './declarations.ts';
import type { DbcFindings } from './findings.ts';
import { isMultiplexor, type Loaded, type NamedSelection, selectSignals } from './multiplexing.ts';

/** Declarations that other statements of the file make about an element. */
class Owner {
  comment: string | undefined;
  choices: Choices | undefined;
  valueType = 0;
  readonly attributes = new Map<string, AttributeValue>();
  readonly selections = new Map<string, NamedSelection>();
}

const independent = 0xc000_0000;
/** Longest message of a transport protocol in bits (J1939-21: 1785 bytes; ISO 15765-2: 4095 bytes). */
const furthestBit = 4095 * 8;

const key = (target: AttributeTarget): string => `${target.scope}\u0000${target.id ?? ''}\u0000${target.name ?? ''}`;

/** All declarations by element, so that the order of the statements does not matter. */
class Owners {
  readonly #owners = new Map<string, Owner>();

  add(target: Omit<AttributeTarget, 'line'>): Owner {
    const owner = this.#owners.get(key({ ...target, line: 0 })) ?? new Owner();
    this.#owners.set(key({ ...target, line: 0 }), owner);
    return owner;
  }

  of(target: AttributeTarget): Owner | undefined {
    return this.#owners.get(key(target));
  }
}

function described(target: AttributeTarget): string {
  const { scope, id, name } = target;
  if (scope === 'network') return 'the network';
  return scope === 'signal' ? `signal ${name} of message ${id}` : `${scope} ${name ?? id}`;
}

function own(declarations: Declarations): Owners {
  const owners = new Owners();
  owners.add({ scope: 'network' });
  for (const node of declarations.nodes) owners.add({ scope: 'node', name: node.symbol });
  for (const variable of declarations.environment) owners.add({ scope: 'environment', name: variable.symbol });
  for (const message of declarations.messages) {
    owners.add({ scope: 'message', id: message.id });
    for (const signal of message.signals) owners.add({ scope: 'signal', id: message.id, name: signal.symbol });
  }
  return owners;
}

function attach(declarations: Declarations, owners: Owners, set: AttributeSet, findings: DbcFindings): void {
  const find = (target: AttributeTarget, severity: 'info' | 'warning', what: string): Owner | undefined => {
    const owner = owners.of(target);
    if (owner === undefined) {
      findings.add(severity, target.line, `${what} belongs to ${described(target)}, which does not exist; left out`);
    }
    return owner;
  };
  for (const { target, text } of declarations.comments) {
    const owner = find(target, 'info', 'a comment');
    if (owner !== undefined) owner.comment = text;
  }
  for (const { name, target, value } of declarations.attributes) {
    find(target, 'info', `attribute '${name}'`)?.attributes.set(name, set.value(name, value, target.line));
  }
  for (const { target, choices, table } of declarations.choices) {
    const owner = find(target, 'warning', 'a value table');
    const shared = table === undefined ? undefined : declarations.valueTables.get(table);
    if (table !== undefined && shared === undefined) {
      findings.add('warning', target.line, `value table ${table} does not exist; ${described(target)} has no names`);
    }
    const found = shared ?? choices;
    if (owner !== undefined && found.size > 0) owner.choices = found;
  }
  for (const { target, type } of declarations.valueTypes) {
    const owner = find(target, 'warning', 'a value type');
    if (owner === undefined) continue;
    if (type <= 2) owner.valueType = type;
    else findings.add('warning', target.line, `value type ${type} of ${described(target)} is unknown; left out`);
  }
  for (const { target, multiplexor, ranges } of declarations.selections) {
    const owner = find(target, 'warning', 'a multiplexor range');
    const before = owner?.selections.get(multiplexor);
    // A signal's ranges may be spread over several statements.
    if (before !== undefined) before.ranges.push(...ranges);
    else owner?.selections.set(multiplexor, { multiplexor, ranges, line: target.line });
  }
}

function longName(owner: Owner, attribute: string, symbol: string): string {
  const long = owner.attributes.get(attribute);
  return typeof long === 'string' && long !== '' ? long : symbol;
}

function optional<K extends string, V>(name: K, value: V | undefined): { [P in K]?: V } {
  return (value === undefined ? {} : { [name]: value }) as { [P in K]?: V };
}

function loadSignal(declared: SignalDeclaration, owner: Owner, findings: DbcFindings): Loaded {
  const { symbol, start, length, byteOrder, factor, offset, unit, receivers, line, minimum, maximum } = declared;
  const float = owner.valueType > 0;
  const floats = length === 16 || length === 32 || length === 64;
  const expected = owner.valueType === 2 ? 64 : 32;
  if (float && !floats) {
    findings.add('warning', line, `signal ${symbol} is called IEEE 754 but has ${length} bits; taken as an integer`);
  } else if (float && length !== expected && length !== 16) {
    findings.add(
      'warning',
      line,
      `signal ${symbol} has ${length} bits, not ${expected}; taken as a ${length}-bit float`,
    );
  }
  const ranged = minimum !== undefined && maximum !== undefined && minimum < maximum;
  const range: [number, number] | undefined = ranged ? [minimum, maximum] : undefined;
  return {
    name: longName(owner, 'SystemSignalLongSymbol', symbol),
    symbol,
    start,
    length,
    byteOrder,
    type: float && floats ? 'float' : declared.signed ? 'signed' : 'unsigned',
    factor,
    offset,
    unit,
    receivers,
    multiplexor: isMultiplexor(declared),
    line,
    ...optional('range', range),
    ...optional('choices', owner.choices),
    ...optional('comment', owner.comment),
    attributes: owner.attributes,
  };
}

/** Returns the readable signals, without repeated names. */
function usable(message: MessageDeclaration, findings: DbcFindings): SignalDeclaration[] {
  const seen = new Set<string>();
  return message.signals.filter(({ symbol, start, length, factor, offset, line }) => {
    let fault: string | undefined;
    if (length < 1 || length > 64) fault = `has ${length} bits, not 1 to 64`;
    else if (start > furthestBit) fault = `starts at bit ${start}, beyond any message`;
    else if (!Number.isFinite(factor) || !Number.isFinite(offset))
      fault = 'has a factor or offset that is not a number';
    else if (seen.has(symbol)) fault = 'is declared twice';
    seen.add(symbol);
    if (fault !== undefined) {
      findings.add('warning', line, `signal ${symbol} of message ${message.symbol} ${fault}; it was left out`);
    }
    return fault === undefined;
  });
}

/** Returns the identifier on the bus; undefined if the written id is invalid. */
function identifier(message: MessageDeclaration, findings: DbcFindings): number | undefined {
  const { id, symbol, line } = message;
  if (id >= EXTENDED ? id <= EXTENDED + 0x1fff_ffff : id <= 0x7ff) return id;
  if (id <= 0x1fff_ffff) {
    const what = `message ${symbol} has the id ${id}, too large for 11 bits; it was taken as a 29-bit id`;
    findings.add('warning', line, what, `write ${id + EXTENDED}`);
    return id + EXTENDED;
  }
  if (id !== independent) {
    findings.add('warning', line, `message ${symbol} has the id ${id}, which no frame can have; it is not decoded`);
  }
  return undefined;
}

export function resolve(declarations: Declarations, file: string, findings: DbcFindings): Database {
  const set = new AttributeSet(declarations, findings);
  const owners = own(declarations);
  attach(declarations, owners, set, findings);
  const network = owners.add({ scope: 'network' });
  const known = new Set(declarations.messages.map((message) => message.id));
  const about = <T extends { id: number; line: number }>(list: readonly T[], what: string): Map<number, T[]> => {
    for (const { id, line } of list) {
      if (!known.has(id))
        findings.add('info', line, `${what} belongs to message ${id}, which does not exist; left out`);
    }
    const grouped = new Map<number, T[]>();
    for (const entry of list) {
      const same = grouped.get(entry.id);
      if (same === undefined) grouped.set(entry.id, [entry]);
      else same.push(entry);
    }
    return grouped;
  };
  const senders = about(declarations.senders, 'a list of senders');
  const groups = about(declarations.groups, 'a signal group');

  const messages = declarations.messages.map((declared): DbcMessage => {
    const owner = owners.add({ scope: 'message', id: declared.id });
    const id = identifier(declared, findings);
    const extended = new Map<string, NamedSelection>();
    const signals = usable(declared, findings).map((declaration) => {
      const about = owners.add({ scope: 'signal', id: declared.id, name: declaration.symbol });
      for (const selection of about.selections.values()) extended.set(declaration.symbol, selection);
      return { declaration, signal: loadSignal(declaration, about, findings) };
    });
    selectSignals(signals, extended, findings);
    const cycle = set.effective(owner.attributes, 'GenMsgCycleTime');
    const onBus = id !== undefined;
    const header = { id: id ?? declared.id, length: declared.length, attributes: owner.attributes };
    const named = [declared.sender, ...(senders.get(declared.id) ?? []).flatMap((list) => list.senders)];
    const message: DbcMessage = {
      ...header,
      ...frameFormat(set, header, network.attributes),
      name: longName(owner, 'SystemMessageLongSymbol', declared.symbol),
      symbol: declared.symbol,
      onBus,
      senders: [...new Set(named)].filter((name) => name !== '' && name !== 'Vector__XXX'),
      signals: signals.map((entry) => entry.signal),
      groups: (groups.get(declared.id) ?? []).map(({ name, repetitions, signals }) => ({ name, repetitions, signals })),
      ...optional('cycleTime', typeof cycle === 'number' && cycle > 0 ? cycle : undefined),
      ...optional('comment', owner.comment),
      line: declared.line,
    };
    checkMessage(message, findings);
    return message;
  });
  duplicates(messages, findings);

  const nodes = declarations.nodes.map(({ symbol }): NetworkNode => {
    const { comment, attributes, ...rest } = owners.add({ scope: 'node', name: symbol });
    const name = longName({ comment, attributes, ...rest }, 'SystemNodeLongSymbol', symbol);
    return { name, symbol, ...optional('comment', comment), attributes };
  });
  const environmentVariables = declarations.environment.map(({ symbol, type, unit, initial }): EnvironmentVariable => {
    const owner = owners.add({ scope: 'environment', name: symbol });
    const name = longName(owner, 'SystemEnvVarLongSymbol', symbol);
    const said = { ...optional('choices', owner.choices), ...optional('comment', owner.comment) };
    return { name, symbol, type, unit, initial, ...said, attributes: owner.attributes };
  });
  return {
    file,
    version: declarations.version,
    nodes,
    messages,
    environmentVariables,
    valueTables: declarations.valueTables,
    definitions: set.definitions,
    attributes: network.attributes,
    ...optional('comment', network.comment),
  };
}

function duplicates(messages: readonly DbcMessage[], findings: DbcFindings): void {
  const ids = new Map<number, DbcMessage>();
  const names = new Map<string, DbcMessage>();
  for (const message of messages) {
    const sameId = message.onBus ? ids.get(message.id) : undefined;
    const sameName = names.get(message.name);
    if (sameId !== undefined) {
      const what = `messages ${sameId.name} (line ${sameId.line}) and ${message.name} have the same id ${message.id}`;
      findings.add('warning', message.line, `${what}; frames are decoded as the later one`);
    }
    if (sameName !== undefined) {
      const what = `two messages are named ${message.name} (the other in line ${sameName.line})`;
      findings.add('warning', message.line, `${what}; frames of both are decoded, the first is sent`);
    }
    ids.set(message.id, message);
    if (sameName === undefined) names.set(message.name, message);
  }
}
