/** Collects data about each signal from the files and, if there is one, from a log. */

import { type DbcMessage, readable, type Signal } from '../../adapters/can/dbc/index.ts';
import { defined } from '../../protocol/defined.ts';
import type { Observed } from './observed.ts';
import { type Concept, qualifying } from './vocabulary.ts';
import { type Word, wordsOf } from './words.ts';

/** A signal with the words that describe it. */
export interface SignalFacts {
  readonly message: DbcMessage;
  readonly signal: Signal;
  /** Logical bus; omitted if the profile has only one. */
  readonly bus?: string;
  /** Words of the signal's own name, or of the message's name if the signal's name is only state, value or similar. */
  readonly own: readonly Word[];
  readonly borrowed: boolean;
  /** First word of the name if many signals of the file begin with it: it then names the sender, not the quantity. */
  readonly prefix?: Word;
  /** Unknown words that many names of the file contain, such as those of control units. */
  readonly frequent: ReadonlySet<string>;
  /** Words of the message's name. */
  readonly around: readonly Word[];
  /** Words of the signal's comment, if short. */
  readonly comment: readonly Word[];
  /** Data from the log. Undefined without a log, and for a signal without a value in the log. */
  readonly observed?: Observed;
}

export interface DescribedBus {
  readonly messages: readonly DbcMessage[];
  readonly bus?: string;
}

/** Smallest number of signals that begin with the same word if that word names their sender. */
const SHARED = 3;

/** Smallest share of signals that contain the same unknown word if that word names a sender. */
const SENDERS = 0.02;

/** Signal names that refer to the topic of the message. */
const pointing: ReadonlySet<string> = new Set(['state', 'status', 'stat', 'st', 'value', 'val', 'signal', 'sig']);

/** Length in words of the longest comment that is used: longer ones contain more than a name. */
const LONGEST_COMMENT = 10;

/** Returns every signal of the files that a profile can use, in order. */
export function signalsOf(
  described: readonly DescribedBus[],
  observed?: (message: DbcMessage, signal: Signal, bus: string | undefined) => Observed | undefined,
): SignalFacts[] {
  return described.flatMap(({ messages: all, bus }) => {
    const messages = all.filter(({ onBus, name }) => onBus && nameable(name));
    const named = namedOnce(messages);
    const listed = messages.flatMap((message) =>
      message.signals
        .filter((signal) => nameable(signal.name) && readable(signal) && named.get(keyOf(message, signal)) === signal)
        .map((signal) => ({ message, signal, own: wordsOf(signal.name) })),
    );
    const firsts = new Map<string, number>();
    const unknown = new Map<string, number>();
    const add = (counts: Map<string, number>, text: string): unknown => counts.set(text, (counts.get(text) ?? 0) + 1);
    for (const { own } of listed) {
      if (own[0] !== undefined) add(firsts, own[0].text);
      for (const { text, concepts } of own) if (concepts.length === 0) add(unknown, text);
    }
    const frequent = new Set(
      [...unknown].filter(([, count]) => count >= Math.max(SHARED, SENDERS * listed.length)).map(([text]) => text),
    );
    return listed.map(({ message, signal, own: words }) => {
      const around = wordsOf(message.name);
      const borrowed = words.every(({ text }) => pointing.has(text));
      const own = borrowed ? around : withSides(signal, message, words);
      const [first] = own;
      const shared = first !== undefined && own.length > 1 && (firsts.get(first.text) ?? 0) >= SHARED && maySend(first);
      const comment = wordsOf(signal.comment ?? '');
      const seen = observed?.(message, signal, bus);
      return {
        message,
        signal,
        ...defined({ bus }),
        own,
        ...(shared ? { prefix: first } : {}),
        frequent,
        around: borrowed ? [] : around,
        borrowed,
        comment: comment.length > LONGEST_COMMENT ? [] : comment,
        ...defined({ observed: seen }),
      };
    });
  });
}

/**
 * Returns the signal for each name; undefined if signals with this name differ. A profile refers to signals by name, so
 * all signals with the same name must be read with the same properties.
 */
function namedOnce(messages: readonly DbcMessage[]): Map<string, Signal | undefined> {
  const named = new Map<string, Signal | undefined>();
  for (const message of messages) {
    for (const signal of message.signals) {
      const key = keyOf(message, signal);
      const before = named.get(key);
      if (!named.has(key)) named.set(key, signal);
      else if (before !== undefined && meaningOf(before) !== meaningOf(signal)) named.set(key, undefined);
    }
  }
  return named;
}

function keyOf(message: DbcMessage, signal: Signal): string {
  return `${message.name}.${signal.name}`;
}

function meaningOf({ factor, offset, unit, length, choices }: Signal): string {
  return JSON.stringify([factor, offset, unit, length, [...(choices ?? [])]]);
}

/** Treats an `l` or `r` as left or right if another signal of the message has the opposite letter in its place. */
function withSides({ name }: Signal, { signals }: DbcMessage, words: readonly Word[]): readonly Word[] {
  return words.map((word, index) => {
    if (word.concepts.length > 0 || (word.text !== 'l' && word.text !== 'r')) return word;
    const other = word.text === 'l' ? 'r' : 'l';
    const twin = words.map(({ text }, at) => (at === index ? other : text)).join(' ');
    const side: Concept = word.text === 'l' ? 'left' : 'right';
    const isTwin = (one: Signal): boolean =>
      one.name !== name &&
      wordsOf(one.name)
        .map(({ text }) => text)
        .join(' ') === twin;
    return signals.some(isTwin) ? { ...word, concepts: [side] } : word;
  });
}

/** Returns true if the word may name a control unit, because it does not describe a kind of value. */
function maySend({ concepts }: Word): boolean {
  return !concepts.some((concept) => qualifying.has(concept) || concept === 'row' || concept === 'time');
}

/** Returns true if the name can be used in `Message.Signal`. */
function nameable(name: string): boolean {
  return /^[^.\s]+$/.test(name);
}
