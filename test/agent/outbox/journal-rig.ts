/**
 * A car with its outbox in a real journal in a real directory, and the receiver of its messages. Checks the outcome of
 * every number when journal files are damaged between two starts.
 */
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { openStore, type Store } from '../../../adapters/store/store.ts';
import { Outbox } from '../../../agent/outbox/outbox.ts';
import { decodeMessage } from '../../../protocol/cbor/message.ts';
import { classes, classOf } from '../../../protocol/classes.ts';
import type { Gap } from '../../../protocol/schema/gap.ts';
import { VirtualClock } from '../../rig/clock.ts';
import { hastyFiles } from '../../rig/hasty-files.ts';
import { WireLink } from '../../rig/link.ts';
import { MemoryLog } from '../../rig/log.ts';

const VIN = 'VF3VGEBENCH000001';
const segmentBytes = 1500;
const talk = ['remote', 'trip', 'status', 'waypoint'] as const;
type Talk = (typeof talk)[number];

export const nameOf = (priority: number, seq: number): string => `${priority}/${seq}`;

/** The receiver: messages by class and number. */
export class Receiver {
  readonly arrived = new Map<string, Uint8Array>();
  /**
   * Kinds of the gap messages that contain a number, by that number. A repeated gap message counts once. Messages
   * abandoned together have one gap message per kind, all with the same numbers.
   */
  readonly told = new Map<string, string[]>();
  readonly gaps: Gap[] = [];
  /** Numbers that arrived twice with different contents. */
  readonly reused: string[] = [];

  take(payload: Uint8Array): void {
    const message = decodeMessage(payload);
    const name = nameOf(classOf(message.kind), message.seq);
    const before = this.arrived.get(name);
    if (before !== undefined) {
      if (Buffer.compare(before, payload) !== 0) this.reused.push(name);
      return;
    }
    this.arrived.set(name, payload);
    if (message.kind !== 'gap') return;
    this.gaps.push(message.body);
    const { lost = '' } = message.body;
    for (const number of this.toldBy(name)) this.told.set(number, [...(this.told.get(number) ?? []), lost]);
  }

  /** Numbers in the gap message called `name`. Empty if it has not arrived or is not a gap message. */
  toldBy(name: string): string[] {
    const payload = this.arrived.get(name);
    const message = payload === undefined ? undefined : decodeMessage(payload);
    if (message?.kind !== 'gap') return [];
    const { class: priority, numbers = [] } = message.body;
    return numbers.flatMap(([first, last]) =>
      Array.from({ length: last - first + 1 }, (_, i) => nameOf(priority, first + i)),
    );
  }

  copy(): Receiver {
    const copy = new Receiver();
    for (const [name, payload] of this.arrived) copy.arrived.set(name, payload);
    for (const [name, kinds] of this.told) copy.told.set(name, kinds);
    copy.gaps.push(...this.gaps);
    return copy;
  }
}

/** One run of the agent. */
export class Run {
  readonly clock: VirtualClock;
  readonly link = new WireLink();
  readonly log = new MemoryLog();
  readonly store: Store;
  readonly outbox: Outbox;
  readonly #receiver: Receiver;
  #seen = 0;

  private constructor(store: Store, log: MemoryLog, boot: number, receiver: Receiver, limit: number) {
    this.store = store;
    this.log = log;
    this.clock = new VirtualClock(Date.UTC(2026, 0, boot));
    this.#receiver = receiver;
    const options = { vin: VIN, boot, quality: () => 'ntp' as const, window: () => 4, limit };
    this.outbox = new Outbox(store.outbox, this.link, this.clock, log, options, store.memory);
  }

  /** @param limit maximum size of the outbox, bytes */
  static async begin(directory: string, boot: number, receiver: Receiver, limit: number): Promise<Run> {
    const log = new MemoryLog();
    // Only the commits of the test write to disk.
    const waits = { settleWithin: 3_600_000, now: () => undefined, keptBytes: 10 * segmentBytes };
    const store = await openStore(directory, { files: hastyFiles, segmentBytes, log, ...waits });
    return new Run(store, log, boot, receiver, limit);
  }

  say(kind: Talk, size: number): void {
    const at = this.clock.now();
    const words = 'x'.repeat(size);
    const { outbox } = this;
    if (kind === 'remote') outbox.put(kind, { remoteActionId: 'a', type: 'Doors', status: 'Accepted', detail: words });
    if (kind === 'trip')
      outbox.put(kind, {
        id: `a${words.slice(0, 60).replaceAll('x', '0')}`,
        createdAt: at,
        startedAt: at,
        done: false,
      });
    if (kind === 'status') outbox.put(kind, { full: false, status: {} });
    if (kind === 'waypoint') {
      outbox.put(kind, { points: [{ at, latitude: 48.8, longitude: 2.3, type: 'Acquire' }] });
    }
  }

  sayAll(): void {
    for (const kind of talk) this.say(kind, 20);
  }

  /** Waits for pending commits and promises. */
  async settle(): Promise<void> {
    for (let turns = 0; turns < 3; turns++) {
      await this.store.outbox.commit();
      await new Promise((resolve) => setImmediate(resolve));
    }
  }

  /** Advances time by 100 ms, after which all messages are on disk. */
  async commit(): Promise<void> {
    this.clock.advance(100);
    await this.settle();
  }

  up(): void {
    this.link.connected = true;
    this.outbox.linkUp();
    this.#look();
  }

  /** The broker receives everything in flight, and acknowledges the oldest messages. */
  acknowledge(count: number): void {
    this.#look();
    this.link.acknowledge(count);
  }

  #look(): void {
    for (; this.#seen < this.link.published.length; this.#seen++) {
      this.#receiver.take(this.link.published[this.#seen]!.payload);
    }
  }

  /** Sends all queued messages and waits until they are acknowledged. */
  async drain(): Promise<void> {
    this.up();
    for (let rounds = 0; this.outbox.waiting > 0; rounds++) {
      if (rounds > 1_000) throw new Error('it does not come to an end');
      this.clock.advance(5_000);
      await this.settle();
      this.acknowledge(4);
      await this.settle();
    }
  }

  async end(): Promise<void> {
    this.outbox.close();
    await this.store.close();
  }
}

export type Files = ReadonlyMap<string, Uint8Array>;

/** State after a run: files in its directory, and messages that the receiver has. */
export interface Left {
  readonly files: Files;
  readonly receiver: Receiver;
  /** By class: the first number that was never assigned. */
  readonly next: readonly number[];
  /**
   * Numbers whose acknowledgement the car has not stored: those of queued messages, and those that queued gap messages
   * report which have already arrived.
   */
  readonly unacknowledged: ReadonlySet<string>;
  /** `unacknowledged`, plus numbers acknowledged since the newest segment began, which only that segment records. */
  readonly recent: ReadonlySet<string>;
}

export function filesIn(directory: string): Files {
  return new Map(readdirSync(directory).map((name) => [name, new Uint8Array(readFileSync(join(directory, name)))]));
}

export function putFiles(directory: string, files: Files): void {
  mkdirSync(directory, { recursive: true });
  for (const [name, bytes] of files) writeFileSync(join(directory, name), bytes);
}

/** Names of the segment files, oldest first. */
export function segmentsOf(files: Files): string[] {
  return [...files.keys()].filter((name) => name.endsWith('.journal')).sort();
}

/** Pseudo-random numbers below `most`. */
export function chance(seed: number): (most: number) => number {
  let state = seed | 1;
  return (most) => {
    // xorshift32 (Marsaglia 2003).
    state ^= state << 13;
    state ^= state >>> 17;
    state ^= state << 5;
    return (state >>> 0) % most;
  };
}

/**
 * Lets a car send messages for some time, sometimes without a link, so that some arrive, some wait, and some are
 * dropped and reported. Finally the car is stopped, or killed after a commit that contains only state.
 */
export async function talked(directory: string, seed: number, rounds: number, stopped: boolean): Promise<Left> {
  const any = chance(seed);
  const receiver = new Receiver();
  const run = await Run.begin(directory, 1, receiver, 2_500);
  let round = 0;
  run.store.memory.keep(() => [['round', round]]);
  run.store.memory.keep(() => [['first', 'x'.repeat(20)]]);
  let newest = '';
  let before = new Set<string>();
  /** Queued messages, plus the numbers reported by queued gap messages that have already arrived. */
  const unsettled = (): Set<string> => {
    const waiting = [...run.store.outbox.entries()].map((entry) => nameOf(entry.class, entry.seq));
    return new Set(waiting.flatMap((name) => [name, ...receiver.toldBy(name)]));
  };
  const settledNames = (): Set<string> => {
    const open = unsettled();
    return new Set([...namesOf(receiver)].filter((name) => !open.has(name)));
  };
  for (; round < rounds; round++) {
    const earlier = settledNames();
    for (let n = any(3); n >= 0; n--) run.say(talk[any(talk.length)]!, any(40));
    if (any(3) === 0) run.store.records.put('trips', { id: `${any(9)}`, at: round, record: round });
    await run.commit();
    const happens = any(3);
    if (happens === 0) run.link.lose();
    if (happens === 1) run.up();
    if (run.link.connected) run.acknowledge(any(4));
    await run.settle();
    const now = segmentsOf(filesIn(directory)).at(-1) ?? '';
    if (now !== newest) before = earlier;
    newest = now;
  }
  const next = classes.map((_, priority) => run.store.outbox.nextSeq(priority));
  // Damage to the last commit looks like a power cut, so the last commit contains no message here.
  round++;
  await run.store.outbox.commit();
  const unacknowledged = unsettled();
  const settled = settledNames();
  if (stopped) await run.end();
  else run.outbox.close();
  const files = filesIn(directory);
  if (segmentsOf(files).at(-1) !== newest) before = settled;
  const recent = new Set([...unacknowledged, ...[...namesOf(receiver)].filter((name) => !before.has(name))]);
  return { files, receiver, next, unacknowledged, recent };
}

function namesOf({ arrived, told }: Receiver): Set<string> {
  return new Set([...arrived.keys(), ...told.keys()]);
}

/** Result of three starts after the damage. */
export interface Aftermath {
  readonly receiver: Receiver;
  /** By class: the first number that was never assigned. */
  readonly next: readonly number[];
  /** Per start: log lines of other levels than info, and whether the store reported that its memory is damaged. */
  readonly starts: readonly { readonly log: MemoryLog['lines']; readonly doubtful: boolean }[];
}

/** Starts the agent three times. Each start adds messages, sends everything, and stops. */
export async function startThrice(directory: string, before: Receiver): Promise<Aftermath> {
  const receiver = before.copy();
  const starts: Aftermath['starts'][number][] = [];
  let next: number[] = [];
  for (let start = 0; start < 3; start++) {
    // The limit is high, because a message in flight when the first run ended could otherwise both arrive and be
    // dropped.
    const run = await Run.begin(directory, 10 + start, receiver, 1 << 20);
    run.store.memory.keep(() => [['round', -start]]);
    run.sayAll();
    await run.commit();
    await run.drain();
    next = classes.map((_, priority) => run.store.outbox.nextSeq(priority));
    const doubtful = run.store.memory.damaged === true;
    await run.end();
    starts.push({ log: run.log.lines.filter(({ level }) => level !== 'info'), doubtful });
  }
  return { receiver, next, starts };
}

/** Descriptions of wrong outcomes. Numbers in `unsure` may both have arrived and be in a gap. */
export function faultsOf({ receiver, next }: Aftermath, unsure: ReadonlySet<string>): string[] {
  const faults = receiver.reused.map((name) => `${name} came with different contents`);
  for (const [priority, end] of next.entries()) {
    for (let seq = 0; seq < end; seq++) {
      const name = nameOf(priority, seq);
      const arrived = receiver.arrived.has(name);
      const told = receiver.told.get(name) ?? [];
      if (!arrived && told.length === 0) faults.push(`${name} neither arrived nor is in a gap message`);
      const twice = new Set(told).size < told.length || (told.length > 1 && told.includes(''));
      if (!unsure.has(name) && ((arrived && told.length > 0) || twice)) {
        faults.push(`${name} arrived: ${arrived}, gaps: ${told.map((kind) => kind || 'unknown')}`);
      }
    }
  }
  for (const name of receiver.told.keys()) {
    const [priority = 0, seq = 0] = name.split('/').map(Number);
    if (seq >= (next[priority] ?? 0)) faults.push(`${name} is in a gap message and was never given out`);
  }
  return faults;
}

/** Damage to one or two files of the journal. */
export type Damage =
  | { readonly kind: 'missing' | 'empty' | 'zeros' | 'flip' | 'cut'; readonly segment: number; readonly at: number }
  | { readonly kind: 'swapped' | 'copied'; readonly segment: number; readonly other: number }
  | { readonly kind: 'doubled'; readonly segment: number };

/** Which of the two generations of the manifest exist. */
export type Generations = 'both' | 'older' | 'newest' | 'newest damaged' | 'none';

/** Files after the damage. Positions are taken modulo the size. */
export function damaged(files: Files, damage: Damage, generations: Generations): Files {
  const names = segmentsOf(files);
  const result = new Map(files);
  const nameAt = (place: number): string => names[place % names.length]!;
  const name = nameAt(damage.segment);
  const bytes = files.get(name)!;
  switch (damage.kind) {
    case 'missing':
      result.delete(name);
      break;
    case 'empty':
      result.set(name, new Uint8Array());
      break;
    case 'zeros':
      result.set(name, new Uint8Array(bytes.length));
      break;
    case 'cut':
      result.set(name, bytes.slice(0, damage.at % bytes.length));
      break;
    case 'flip':
      result.set(name, flipped(bytes, damage.at % (8 * bytes.length)));
      break;
    case 'swapped':
      result.set(name, files.get(nameAt(damage.other))!);
      result.set(nameAt(damage.other), bytes);
      break;
    case 'copied':
      result.set(nameAt(damage.other), bytes);
      break;
    case 'doubled':
      result.set(`${String(Number.parseInt(names.at(-1)!, 10) + 1).padStart(8, '0')}.journal`, bytes);
      break;
  }
  const [newest, older] = ['manifest.json', 'manifest.json.previous'];
  const manifest = result.get(newest);
  if (generations === 'older' || generations === 'none') result.delete(newest);
  if (generations === 'newest' || generations === 'none') result.delete(older);
  if (generations === 'newest damaged' && manifest !== undefined) result.set(newest, flipped(manifest, 8 * 30));
  return result;
}

function flipped(bytes: Uint8Array, bit: number): Uint8Array {
  const result = bytes.slice();
  result[bit >> 3]! ^= 1 << (bit & 7);
  return result;
}

/** Whether the damage affects the newest segment, which alone records the last changes. */
export function ofNewest(files: Files, damage: Damage): boolean {
  const { length } = segmentsOf(files);
  const places = [damage.segment, ...('other' in damage ? [damage.other] : [])].map((place) => place % length);
  if (damage.kind === 'copied') return places[1] === length - 1 && places[0] !== length - 1;
  return damage.kind !== 'swapped' && damage.kind !== 'doubled' && places.includes(length - 1);
}
