/** Reads each kind of statement of a network description into {@link Declarations}. */
import type { AttributeDefinition, AttributeScope } from './database.ts';
import type { AttributeTarget, Declarations, MessageDeclaration, SignalDeclaration } from './declarations.ts';
import type { DbcFindings } from './findings.ts';
import { isKeyword, type Scanner, SyntaxFault } from './scanner.ts';

/** Reads one statement after its keyword. Throws a {@link SyntaxFault} if the text makes no sense. */
type Statement = (scanner: Scanner, into: Declarations, findings: DbcFindings) => void;

const identifier = /^[A-Za-z_]\w*$/;

function name(s: Scanner, findings: DbcFindings, what: string): string {
  s.skipSpace();
  const line = s.line();
  const found = s.name(what);
  if (!identifier.test(found)) {
    findings.add('warning', line, `${what} '${found}' is not a valid symbol of the format; it was kept as it is`);
  }
  return found;
}

function text(s: Scanner, findings: DbcFindings, last = false): string {
  s.skipSpace();
  const line = s.line();
  return s.string(last, (message) => findings.add('warning', line, message));
}

/** Reads the `;` that ends a statement. Real files may lack it before a line end. */
function end(s: Scanner, findings: DbcFindings): void {
  const line = s.lineOfLast;
  if (s.accept(';')) return;
  const next = s.peekWord();
  if (s.at < s.text.length && !isKeyword(next)) {
    findings.add('warning', line, `unexpected '${s.until(';').slice(0, 20)}' before the ';'; it was left out`);
    s.skipStatement();
  } else {
    findings.add('info', line, "a statement has no ';' at its end; it was taken as complete");
  }
}

/** Reads names up to a `;` or the end of the line, separated by commas or blanks. */
function names(s: Scanner): string[] {
  const found: string[] = [];
  for (let more = s.sameLine; more; ) {
    const next = isKeyword(s.peekWord()) ? undefined : s.acceptName();
    if (next === undefined) break;
    found.push(next);
    // This check comes first, because the search for a comma moves past the end of the line.
    const same = s.sameLine;
    more = s.accept(',') || same;
  }
  return found;
}

const version: Statement = (s, into, findings) => {
  into.version = text(s, findings);
};

/** Skips the list of symbols, which has no meaning. Each symbol is alone on its line. */
const newSymbols: Statement = (s) => {
  s.accept(':');
  for (;;) {
    s.skipSpace();
    const from = s.at;
    if (/^\w+$/.test(s.until(''))) continue;
    s.at = from;
    return;
  }
};

const bitTiming: Statement = (s) => {
  s.accept(':');
  if (s.sameLine) s.until('');
};

const nodes: Statement = (s, into, findings) => {
  s.accept(':');
  while ((s.sameLine || s.indented) && !s.ended && !isKeyword(s.peekWord())) {
    s.accept(',');
    if (s.accept(';')) return;
    into.nodes.push({ line: s.line(), symbol: name(s, findings, 'node') });
  }
};

const message: Statement = (s, into, findings) => {
  const line = s.line();
  const id = s.count('message id');
  const declaration: MessageDeclaration = { id, symbol: '', length: 0, sender: '', signals: [], line };
  declaration.symbol = name(s, findings, 'message');
  s.expect(':');
  declaration.length = s.count('message length');
  if (!s.ended && s.peek() !== ';' && !isKeyword(s.peekWord())) declaration.sender = s.name('a sender');
  s.accept(';');
  into.messages.push(declaration);
};

/** Reads a limit. Nothing depends on it, so a value that is not a number is left out. */
function limit(s: Scanner, findings: DbcFindings, stops: string): number | undefined {
  const line = s.line();
  const value = s.acceptNumber();
  const rest = s.until(stops);
  if (value !== undefined && rest === '') return Number.isFinite(value) ? value : undefined;
  findings.add('info', line, `a limit '${value ?? ''}${rest}' is not a number; it was left out`);
  return undefined;
}

const signal: Statement = (s, into, findings) => {
  s.skipSpace();
  const line = s.line();
  const symbol = name(s, findings, 'signal');
  const multiplexing = s.peek() === ':' ? '' : s.name('a multiplexor indicator or a colon');
  s.expect(':');
  const start = s.count('start bit');
  s.expect('|');
  const length = s.count('signal length');
  s.expect('@');
  const orderAt = s.at;
  const order = s.peek();
  if (order !== '0' && order !== '1') throw new SyntaxFault(orderAt, `byte order is '${order}', not 0 or 1`);
  s.accept(order);
  const signed = s.accept('-');
  if (!signed && !s.accept('+'))
    findings.add('warning', line, `signal ${symbol} has no sign; it was taken as unsigned`);
  s.expect('(');
  const factor = s.number('a factor');
  s.expect(',');
  const offset = s.number('an offset');
  s.expect(')');
  let minimum: number | undefined;
  let maximum: number | undefined;
  if (s.accept('[')) {
    minimum = limit(s, findings, '|]');
    if (s.accept('|')) maximum = limit(s, findings, ']');
    s.expect(']');
  }
  const unit = s.peek() === '"' ? text(s, findings) : '';
  const receivers = names(s).filter((receiver) => receiver !== 'Vector__XXX');
  s.accept(';');
  const byteOrder = order === '1' ? 'little' : 'big';
  const found: SignalDeclaration = {
    symbol,
    multiplexing,
    start,
    length,
    byteOrder,
    signed,
    factor,
    offset,
    minimum,
    maximum,
    unit,
    receivers,
    line,
  };
  const owner = into.messages.at(-1);
  if (owner === undefined) throw new SyntaxFault(s.at, `signal ${symbol} stands before any message; it was left out`);
  owner.signals.push(found);
};

const senders: Statement = (s, into, findings) => {
  const line = s.line();
  const id = s.count('message id');
  s.expect(':');
  into.senders.push({ id, senders: names(s), line });
  end(s, findings);
};

const environment: Statement = (s, into, findings) => {
  const line = s.line();
  const symbol = name(s, findings, 'environment variable');
  s.expect(':');
  const type = s.count('type');
  s.expect('[');
  limit(s, findings, '|]');
  s.expect('|');
  limit(s, findings, ']');
  s.expect(']');
  const unit = text(s, findings);
  into.environment.push({ symbol, type, unit, initial: s.number('an initial value'), line });
  s.skipStatement();
};

const scopes: ReadonlyMap<string, AttributeScope> = new Map([
  ['BU_', 'node'],
  ['BO_', 'message'],
  ['SG_', 'signal'],
  ['EV_', 'environment'],
]);

/** Reads `BO_ id`, `SG_ id name`, `BU_ name`, `EV_ name`, or nothing for the network. */
function target(s: Scanner): AttributeTarget {
  s.skipSpace();
  const line = s.line();
  const scope = scopes.get(s.peekWord());
  if (scope === undefined) return { scope: 'network', line };
  s.word();
  if (scope === 'message') return { scope, id: s.count('message id'), line };
  if (scope === 'signal') return { scope, id: s.count('message id'), name: s.name('a signal name'), line };
  return { scope, name: s.name('a name'), line };
}

const comment: Statement = (s, into, findings) => {
  const found = target(s);
  into.comments.push({ target: found, text: text(s, findings, true) });
  end(s, findings);
};

const attributeTypes = new Set(['INT', 'HEX', 'FLOAT', 'STRING', 'ENUM']);

const attributeDefinition: Statement = (s, into, findings) => {
  const scope = s.peek() === '"' ? 'network' : scopes.get(s.word());
  if (scope === undefined) throw new SyntaxFault(s.at, 'an attribute is defined for something that has no attributes');
  const attribute = text(s, findings);
  const type = s.word();
  if (!attributeTypes.has(type)) throw new SyntaxFault(s.at, `attribute '${attribute}' has the unknown type ${type}`);
  const labels: string[] = [];
  if (type === 'ENUM') {
    while (s.peek() !== ';' && !s.ended) {
      if (isKeyword(s.peekWord())) break;
      labels.push(s.peek() === '"' ? text(s, findings) : s.name('a label'));
      s.accept(',');
    }
  }
  into.definitions.set(attribute, { name: attribute, scope, type: type as AttributeDefinition['type'], labels });
  if (type === 'ENUM') end(s, findings);
  else s.skipStatement();
};

function attributeValue(s: Scanner, findings: DbcFindings): number | string {
  if (s.peek() === '"') return text(s, findings, true);
  return s.acceptNumber() ?? s.name('a value');
}

const attributeInitial: Statement = (s, into, findings) => {
  const line = s.line();
  const attribute = text(s, findings);
  into.initials.push({ name: attribute, value: attributeValue(s, findings), line });
  end(s, findings);
};

const attribute: Statement = (s, into, findings) => {
  const found = text(s, findings);
  const on = target(s);
  into.attributes.push({ name: found, target: on, value: attributeValue(s, findings) });
  end(s, findings);
};

/** Reads `number "name"` pairs up to the `;`. */
function pairs(s: Scanner, findings: DbcFindings): Map<number, string> {
  const found = new Map<number, string>();
  while (s.peek() !== ';' && !s.ended && !isKeyword(s.peekWord())) {
    const line = s.line();
    const value = s.number('a value');
    const label = text(s, findings);
    if (found.has(value)) findings.add('info', line, `value ${value} is named twice; '${label}' was kept`);
    found.set(value, label);
  }
  end(s, findings);
  return found;
}

const valueTable: Statement = (s, into, findings) => {
  const table = name(s, findings, 'value table');
  into.valueTables.set(table, pairs(s, findings));
};

const choices: Statement = (s, into, findings) => {
  s.skipSpace();
  const line = s.line();
  const id = s.acceptNumber();
  const owner = name(s, findings, id === undefined ? 'environment variable' : 'signal');
  const found: AttributeTarget =
    id === undefined ? { scope: 'environment', name: owner, line } : { scope: 'signal', id, name: owner, line };
  const table = s.peekWord();
  if (table !== '' && !isKeyword(table)) {
    s.word();
    end(s, findings);
    into.choices.push({ target: found, choices: new Map(), table });
  } else {
    into.choices.push({ target: found, choices: pairs(s, findings) });
  }
};

function signalReference(s: Scanner): AttributeTarget {
  s.skipSpace();
  const line = s.line();
  return { scope: 'signal', id: s.count('message id'), name: s.name('a signal name'), line };
}

const valueType: Statement = (s, into, findings) => {
  const found = signalReference(s);
  s.accept(':');
  into.valueTypes.push({ target: found, type: s.count('value type') });
  end(s, findings);
};

const selection: Statement = (s, into, findings) => {
  const found = signalReference(s);
  const multiplexor = s.name('a multiplexor');
  const ranges: [number, number][] = [];
  do {
    const low = s.count('a multiplexor value');
    s.expect('-');
    const high = s.count('a multiplexor value');
    ranges.push(low <= high ? [low, high] : [high, low]);
  } while (s.accept(','));
  into.selections.push({ target: found, multiplexor, ranges });
  end(s, findings);
};

const group: Statement = (s, into, findings) => {
  const line = s.line();
  const id = s.count('message id');
  const found = name(s, findings, 'signal group');
  const repetitions = s.count('repetitions');
  s.accept(':');
  into.groups.push({ id, name: found, repetitions, signals: names(s), line });
  end(s, findings);
};

/** Skips statements that do not define frames and signals, and those that relate nodes to other elements. */
const ignored: Statement = (s) => s.skipStatement();

export const statements: Readonly<Record<string, Statement>> = {
  VERSION: version,
  NS_: newSymbols,
  BS_: bitTiming,
  BU_: nodes,
  BO_: message,
  SG_: signal,
  BO_TX_BU_: senders,
  EV_: environment,
  CM_: comment,
  BA_DEF_: attributeDefinition,
  BA_DEF_DEF_: attributeInitial,
  BA_: attribute,
  VAL_TABLE_: valueTable,
  VAL_: choices,
  SIG_VALTYPE_: valueType,
  SG_MUL_VAL_: selection,
  SIG_GROUP_: group,
  ...Object.fromEntries(
    `ENVVAR_DATA_ EV_DATA_ SGTYPE_ SGTYPE_VAL_ SIG_TYPE_REF_ SIGTYPE_VALTYPE_ BA_DEF_REL_ BA_DEF_DEF_REL_ BA_REL_
    BA_DEF_SGTYPE_ BA_SGTYPE_ BU_SG_REL_ BU_EV_REL_ BU_BO_REL_ CAT_DEF_ CAT_ FILTER NS_DESC_`
      .split(/\s+/)
      .map((keyword) => [keyword, ignored]),
  ),
};
