/** Signals that state whether another signal of their message is valid. */
import type { DbcMessage, Signal } from '../../adapters/can/dbc/index.ts';
import { isUnusable } from './codes.ts';
import { wordsOf } from './words.ts';

export interface Validity {
  readonly signal: Signal;
  /** Returns true if the raw value says that the other signal is valid; undefined if it says nothing about this. */
  readonly isValid: (raw: number) => boolean | undefined;
}

/** Length in bits of the longest such signal. A longer one is a measured accuracy. */
const MOST_BITS = 3;

/** Words for which 1 means invalid. */
const negative: ReadonlySet<string> = new Set(['invalid', 'ungueltig', 'inv', 'invalide']);

/** Words for which 1 means valid. */
const positive: ReadonlySet<string> = new Set(['valid', 'validity', 'gueltig', 'valide', 'vld', 'vd', 'plausible']);

/** Returns the signal of the message whose other words all occur in the name of the signal or of the message. */
export function validityOf({ name }: Signal, { signals, name: messageName }: DbcMessage): Validity | undefined {
  const own = new Set([...wordsOf(name), ...wordsOf(messageName)].map(({ text }) => text));
  if (wordsOf(name).some(({ concepts }) => concepts.includes('validity'))) return undefined;
  let best: { readonly signal: Signal; readonly shared: number } | undefined;
  for (const signal of signals) {
    if (signal.name === name || signal.length > MOST_BITS || signal.type === 'float') continue;
    const words = wordsOf(signal.name);
    if (!words.some(({ concepts }) => concepts.includes('validity'))) continue;
    const others = words.filter(({ concepts }) => !concepts.includes('validity') && !concepts.includes(''));
    if (!others.every(({ text }) => own.has(text))) continue;
    if (best === undefined || others.length > best.shared) best = { signal, shared: others.length };
  }
  return best === undefined ? undefined : { signal: best.signal, isValid: meaningOf(best.signal) };
}

function meaningOf({ name, length, choices }: Signal): Validity['isValid'] {
  if (choices !== undefined && choices.size > 1) {
    return (raw) => {
      const label = choices.get(raw);
      return label === undefined ? undefined : !isUnusable(label) && !wordsOf(label).some(denies);
    };
  }
  const texts = wordsOf(name).map(({ text }) => text);
  if (length > 1) return () => undefined;
  if (texts.some((text) => negative.has(text))) return (raw) => raw === 0;
  return texts.some((text) => positive.has(text)) ? (raw) => raw === 1 : () => undefined;
}

function denies({ text, concepts }: { readonly text: string; readonly concepts: readonly string[] }): boolean {
  return text === 'not' || concepts.includes('no') || concepts.includes('off') || concepts.includes('none');
}
