/**
 * Finds the multiplexor that selects each signal of a message. `m3` states only the value: the multiplexor is the
 * message's `M`, unless SG_MUL_VAL_ (extended multiplexing) names another one and its ranges.
 */
import type { Signal } from './database.ts';
import type { SignalDeclaration } from './declarations.ts';
import type { DbcFindings } from './findings.ts';

export type Loaded = { -readonly [K in keyof Signal]: Signal[K] };

export interface NamedSelection {
  readonly multiplexor: string;
  readonly ranges: [number, number][];
  readonly line: number;
}

/** Maximum nesting depth: real networks nest two or three levels, and a cycle has no end. */
const deepest = 32;

const indicator = /^(M)$|^m(\d+)(M?)$/;

export function isMultiplexor(declaration: SignalDeclaration): boolean {
  return declaration.multiplexing.endsWith('M');
}

export function selectSignals(
  signals: readonly { declaration: SignalDeclaration; signal: Loaded }[],
  extended: ReadonlyMap<string, NamedSelection>,
  findings: DbcFindings,
): void {
  const roots = signals.filter((entry) => entry.declaration.multiplexing === 'M');
  const root = roots[0]?.signal;
  const bySymbol = new Map(signals.map(({ declaration, signal }) => [declaration.symbol, signal]));
  for (const { declaration, signal } of signals) {
    const { multiplexing, symbol, line } = declaration;
    const always = (what: string) => findings.add('warning', line, `${what}; it is decoded from every frame`);
    const match = indicator.exec(multiplexing);
    if (multiplexing !== '' && match === null) {
      always(`signal ${symbol} has the unknown multiplexor indicator '${multiplexing}'`);
    }
    const named = extended.get(symbol);
    if (named !== undefined) {
      const multiplexor = bySymbol.get(named.multiplexor);
      if (multiplexor !== undefined) {
        signal.selection = { multiplexor, ranges: named.ranges };
        continue;
      }
      const what = `multiplexor ${named.multiplexor} of signal ${symbol} does not exist; SG_MUL_VAL_ was left out`;
      findings.add('warning', named.line, what);
    }
    if (match?.[2] === undefined) continue;
    const value = Number(match[2]);
    if (root === undefined || root === signal) {
      always(`signal ${symbol} is multiplexed (m${value}) but its message has no multiplexor`);
    } else {
      signal.selection = { multiplexor: root, ranges: [[value, value]] };
      if (roots.length > 1) {
        const what = `signal ${symbol} does not say which of ${roots.length} multiplexors selects it`;
        findings.add('warning', line, `${what}; ${root.name} was taken`, 'add SG_MUL_VAL_');
      }
    }
  }
  const broken = (signal: Loaded, what: string) => {
    delete signal.selection;
    findings.add('warning', signal.line, `signal ${signal.name} is selected ${what}; it is decoded from every frame`);
  };
  for (const { signal } of signals) if (above(signal).includes(signal)) broken(signal, 'by itself');
  for (const { signal } of signals) {
    if (above(signal).length > deepest) broken(signal, `through more than ${deepest} others`);
  }
  for (const { signal } of signals) if (signal.selection) (signal.selection.multiplexor as Loaded).multiplexor = true;
}

/** Returns the multiplexors above a signal, the nearest first, up to the maximum depth. */
function above(signal: Signal): Signal[] {
  const found: Signal[] = [];
  for (let next = signal.selection; next !== undefined && found.length <= deepest; next = next.multiplexor.selection) {
    found.push(next.multiplexor);
  }
  return found;
}
