/** Facts about each signal from the files and, if there is one, from a log. */

import { type DbcMessage, readable, type Signal } from '../../adapters/can/dbc/index.ts';
import { defined } from '../../protocol/defined.ts';
import type { Observed } from './observed.ts';
import { type Concept, qualifying } from './vocabulary.ts';
import { type Word, wordsOf } from './words.ts';

/** A signal with the words that are said about it. */
export interface SignalFacts {
  readonly message: DbcMessage;
  readonly signal: Signal;
  /** Logical bus; absent where the profile has one only. */
  readonly bus?: string;
  /** The signal's own name; the message's where the signal is called no more than its state or value. */
  readonly own: readonly Word[];
  readonly borrowed: boolean;
  /** The first word of the name when many signals of the file begin with it: who sends it, rather than what it is. */
  readonly prefix?: Word;
  /** Words of no dictionary that many names of the file have, such as those of control units. */
  readonly frequent: ReadonlySet<string>;
  /** The name of the message. */
  readonly around: readonly Word[];
  /** A short comment of the signal. */
  readonly comment: readonly Word[];
  /** Facts of the log. Undefined without a log, and for a signal without a value in the log. */
  readonly observed?: Observed;
}

export interface DescribedBus {
  readonly messages: readonly DbcMessage[];
  readonly bus?: string;
}

/** Signals that begin with the same word before the word is the sender's. */
const SHARED = 3;

/** Share of the signals that have a word of no dictionary before it is a sender's. */
const SENDERS = 0.02;

/** Names that say: what the message is about. */
const pointing: ReadonlySet<string> = new Set(['state', 'status', 'stat', 'st', 'value', 'val', 'signal', 'sig']);

/** Longer comments are ignored: they contain more than a name. */
const LONGEST_COMMENT = 10;

/** Every signal of the files that a profile can use, in their order. */
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
 * The signal that each name means: a profile knows signals by their names, so all that have one name must be read the
 * same way. Undefined where they are not.
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

/** An l or r is a side where another signal of the message has the other letter there. */
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

/** Whether the word may be that of a control unit: it does not say what kind of value it is. */
function maySend({ concepts }: Word): boolean {
  return !concepts.some((concept) => qualifying.has(concept) || concept === 'row' || concept === 'time');
}

/** Whether `Message.Signal` can be written with it. */
function nameable(name: string): boolean {
  return /^[^.\s]+$/.test(name);
}
