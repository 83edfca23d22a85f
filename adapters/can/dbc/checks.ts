/** Finds contradictions within a message. They never prevent a file from loading. */
import { counted } from '../../../protocol/counted.ts';
import type { DbcMessage, Selection, Signal } from './database.ts';
import type { DbcFindings } from './findings.ts';
import { bitsOf, bytesNeeded } from './layout.ts';

/** Maximum number of signals compared in pairs: with more, the comparison would take too long. */
const mostCompared = 600;

function together(a: Selection | undefined, b: Selection | undefined): boolean {
  if (a === undefined || b === undefined || a.multiplexor !== b.multiplexor) return true;
  return a.ranges.some(([low, high]) => b.ranges.some(([from, to]) => low <= to && from <= high));
}

/** Returns true if one frame can contain both signals: no multiplexor must have different values for them. */
function coexist(a: Signal, b: Signal): boolean {
  for (let x: Signal | undefined = a; x !== undefined; x = x.selection?.multiplexor) {
    for (let y: Signal | undefined = b; y !== undefined; y = y.selection?.multiplexor) {
      if (!together(x.selection, y.selection)) return false;
    }
  }
  return true;
}

function masks(signal: Signal): Map<number, number> {
  const found = new Map<number, number>();
  for (const bit of bitsOf(signal)) found.set(bit >>> 3, (found.get(bit >>> 3) ?? 0) | (1 << (bit & 7)));
  return found;
}

function overlaps(message: DbcMessage, findings: DbcFindings): void {
  if (message.signals.length > mostCompared) {
    const what = `message ${message.name} has ${message.signals.length} signals; they were not checked for overlap`;
    findings.add('info', message.line, what);
    return;
  }
  const covered = message.signals.map(masks);
  message.signals.forEach((signal, i) => {
    const mine = covered[i]!;
    const other = message.signals.find((earlier, j) => {
      if (j >= i) return false;
      for (const [byte, mask] of covered[j]!) if ((mask & (mine.get(byte) ?? 0)) !== 0) return coexist(signal, earlier);
      return false;
    });
    if (other === undefined) return;
    const what = `signals ${other.name} and ${signal.name} of message ${message.name} overlap; both are decoded`;
    findings.add('warning', signal.line, what, 'check start bit, length and byte order of both');
  });
}

export function checkMessage(message: DbcMessage, findings: DbcFindings): void {
  const { name, line, length } = message;
  if (length === 0 && message.onBus) findings.add('info', line, `message ${name} has a length of 0 bytes`);
  else if (message.signals.length === 0) findings.add('info', line, `message ${name} has no signals`);
  if (length > 64 && message.onBus) {
    findings.add(
      'info',
      line,
      `message ${name} has ${length} bytes, more than a frame: a transport protocol carries it`,
    );
  }
  for (const signal of message.signals) {
    const needed = bytesNeeded(signal);
    if (needed > length && message.onBus) {
      const what = `signal ${signal.name} needs ${counted(needed, 'byte')} but message ${name} has ${length}`;
      const done = 'it is decoded only from frames that are long enough';
      findings.add('warning', signal.line, `${what}; ${done}`, 'correct the message length or the start bit');
    }
    if (signal.factor === 0) {
      findings.add('warning', signal.line, `signal ${signal.name} has the factor 0: its value is always its offset`);
    }
  }
  if (message.onBus) overlaps(message, findings);
}
