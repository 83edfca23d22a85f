import { isUnrecorded, Lives, lifeOf } from '../hub/core/lives.ts';
import { decodeMessage } from '../protocol/cbor/message.ts';
import { classOf } from '../protocol/classes.ts';
import { type ReadableBody, readableBody } from '../protocol/readable.ts';
import { Runs } from '../protocol/runs.ts';
import type { Gap } from '../protocol/schema/gap.ts';
import type { Message } from '../protocol/schema/message.ts';
import { Catalogs } from '../protocol/signals/catalog.ts';
import { hexOf } from '../protocol/signals/hash.ts';

/** A message as `watch` and `replay` print it: its body as JSON, with the names of the schema. */
export interface ReceivedMessage {
  readonly topic: string;
  readonly seq: number;
  readonly at: number;
  readonly body: unknown;
}

/** Reads the messages of one car in the order in which they arrive. */
export class MessageReader {
  readonly #catalogs = new Catalogs();
  /** Units of a custom signal in all catalogs, by its name. '' means no unit. */
  readonly #units = new Map<string, Set<string>>();
  readonly #unknown: (catalog: string) => void;
  readonly #reported = new Set<string>();

  /** @param unknown called once for each catalog to which telemetry refers and that has not arrived */
  constructor(unknown: (catalog: string) => void = () => undefined) {
    this.#unknown = unknown;
  }

  line(topic: string, payload: Uint8Array): ReceivedMessage {
    const message = decodeMessage(payload);
    const { seq, at } = message;
    return { topic, seq, at, body: this.#readable(message) };
  }

  /** Returns the body, in which readings have names, times, values and units. */
  #readable(message: Message): unknown {
    const body = readableBody(message, this.#catalogs);
    if (message.kind === 'telemetry' && message.body.signals !== undefined) this.#report(message.body.signals.catalog);
    if (message.kind === 'catalog') {
      for (const { name, unit = '' } of message.body.entries) {
        this.#units.set(name, (this.#units.get(name) ?? new Set()).add(unit));
      }
    }
    return message.kind === 'event' ? this.#withUnits(body as ReadableBody<'event'>) : body;
  }

  /** Adds units to an event, which names signals without a catalog: only units that are the same in all catalogs. */
  #withUnits({ values, ...event }: ReadableBody<'event'>): unknown {
    if (values === undefined) return event;
    const shown = values.map((value) => {
      const [unit = '', ...others] = value.signal === undefined ? [] : (this.#units.get(value.signal) ?? []);
      return unit === '' || others.length > 0 ? value : { ...value, unit };
    });
    return { ...event, values: shown };
  }

  #report(hash: Uint8Array): void {
    const catalog = hexOf(hash);
    if (this.#catalogs.has(hash) || this.#reported.has(catalog)) return;
    this.#reported.add(catalog);
    this.#unknown(catalog);
  }
}

/** Numbers that are further below the highest one are forgotten, since a car's numbers grow without limit. */
const REMEMBERED = 100_000;

interface Seen {
  /** For each number, the agent starts that sent it. Several starts use a number only if a disk failed in between. */
  readonly boots: Map<number, number[]>;
  /** First number that arrived, and highest number that arrived or is in a gap message. */
  from: number;
  highest: number;
}

interface Outcome {
  readonly missing: number;
  readonly lost: number;
}

/**
 * Receiver side of exactly-once delivery: each class of a car is numbered without gaps within a life of its folder of
 * records, so duplicates and missing messages are detectable. Messages of a class may arrive out of order after an
 * outage.
 */
export class ReceivedNumbers {
  readonly #lives = new Lives();
  readonly #began: (boot: number) => void;
  /** Newest life with a message that was not retained. */
  #newest: number | undefined;
  /** Seen numbers by life and class. */
  readonly #seen = new Map<string, Seen>();
  /** Numbers in gap messages, which never arrive, by life and class. */
  readonly #told = new Map<string, Runs>();
  /** Keys of messages that do not count: retained ones, and those of starts without records. */
  readonly #uncounted = new Set<string>();

  /** @param began called with the `boot` of each life that follows another one while this receiver is running */
  constructor(began: (boot: number) => void = () => undefined) {
    this.#began = began;
  }

  /**
   * Returns false for a duplicate. A `retained` message may be old: messages between it and the first live one were
   * never sent to this receiver, so they do not count as missing.
   */
  admit(payload: Uint8Array, retained = false): boolean {
    const { kind, seq, boot, body } = decodeMessage(payload);
    const start = this.#lives.startOf(boot);
    const life = lifeOf(start);
    const line = `${life}/${classOf(kind)}`;
    const identity = `${line}/${boot}/${seq}`;
    const seen = this.#seen.get(line);
    const before = seen?.boots.get(seq) ?? [];
    if (before.includes(boot) || this.#uncounted.has(identity)) return false;
    if (!retained && life > (this.#newest ?? life)) this.#began(boot);
    if (!retained) this.#newest = Math.max(this.#newest ?? life, life);
    const isOwn = isUnrecorded(start);
    if (kind === 'gap' && !isOwn) this.#tell(life, body as Gap);
    if (retained || isOwn) {
      this.#uncounted.add(identity);
      return true;
    }
    if (seen === undefined) {
      const [, told = seq] = this.#told.get(line)?.all.at(-1) ?? [];
      this.#seen.set(line, { boots: new Map([[seq, [boot]]]), from: seq, highest: Math.max(seq, told) });
      return true;
    }
    if (seq <= seen.highest - REMEMBERED) return false;
    seen.boots.set(seq, [...before, boot]);
    seen.from = Math.min(seen.from, seq);
    seen.highest = Math.max(seen.highest, seq);
    if (seen.boots.size > 2 * REMEMBERED) {
      for (const number of seen.boots.keys()) if (number <= seen.highest - REMEMBERED) seen.boots.delete(number);
      seen.from = Math.max(seen.from, seen.highest - REMEMBERED + 1);
    }
    return true;
  }

  /**
   * Number of messages that have not arrived, from the first number seen to the last known one. Excludes numbers that
   * gap messages declare lost.
   */
  get missing(): number {
    return this.#outcomes.reduce((sum, { missing }) => sum + missing, 0);
  }

  /** Number of missing messages that will never arrive, according to gap messages. */
  get lost(): number {
    return this.#outcomes.reduce((sum, { lost }) => sum + lost, 0);
  }

  get #outcomes(): Outcome[] {
    return [...this.#seen].map(([line, { boots, from, highest }]) => {
      const told = this.#told.get(line) ?? new Runs();
      let lost = 0;
      for (const [first, last] of told.all) lost += Math.max(0, Math.min(last, highest) - Math.max(first, from) + 1);
      // A number in a gap message that arrived anyway is not lost.
      for (const seq of boots.keys()) if (told.has(seq)) lost--;
      return { missing: highest - from + 1 - boots.size - lost, lost };
    });
  }

  #tell(life: number, { class: priority, numbers = [] }: Gap): void {
    const line = `${life}/${priority}`;
    const told = this.#told.get(line) ?? new Runs();
    this.#told.set(line, told);
    const seen = this.#seen.get(line);
    for (const [first, last] of numbers) {
      if (first > last) continue;
      told.add(first, last);
      if (seen !== undefined) seen.highest = Math.max(seen.highest, last);
    }
  }
}
