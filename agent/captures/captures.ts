import { DAY } from '../../protocol/calendar.ts';
import { packFrames } from '../../protocol/captures/capture.ts';
import { type Deflate, portableDeflate } from '../../protocol/columns/deflate.ts';
import { decodeBody } from '../../protocol/command.ts';
import { defined } from '../../protocol/defined.ts';
import { VigieError } from '../../protocol/errors.ts';
import type { CaptureRule, CaptureRules } from '../../protocol/profile.ts';
import { type Capture, captureBounds } from '../../protocol/schema/capture.ts';
import type { MonitorEvent } from '../../protocol/schema/event.ts';
import type { RecordKind } from '../../protocol/schema/kind.ts';
import type { Body } from '../../protocol/schema/message.ts';
import type { CaptureOrder } from '../../protocol/schema/order.ts';
import type { Slot } from '../../protocol/slots.ts';
import type { CaptureParts, CapturesPart } from '../options.ts';
import { EXTENDED, type FrameBatch } from '../ports.ts';
import type { Recorder } from '../recorders/recorder.ts';
import type { RecordObserver, Records } from '../records.ts';
import type { AgentCommand } from '../remotes/agent-command.ts';
import { FrameRing } from './ring.ts';
import { FrameSelection } from './selection.ts';

/** Longest delay in ms with which a source delivers frames. */
const LATE = 1_000;
/** Maximum parts that a capture writes per second: enough for four times the frames of a busy car, in small steps. */
const PARTS_A_TICK = 4;
/** Size in bytes of a message without its columns. */
const ENVELOPE = 100;
/** Number of buses: bus numbers have one byte. */
const BUSES = 256;
const NO_BUS = -1;
/** Highest identifier of 11 bits. */
const STANDARD = 0x7ff;

/** Compiled request of a trigger. */
interface Request {
  readonly rule: CaptureRule;
  readonly selection: FrameSelection;
}

/** Fields that all parts of a capture share. */
type Head = Pick<Capture, 'id' | 'cause' | 'of' | 'monitorId' | 'at' | 'from' | 'to' | 'since'>;

interface OpenCapture {
  head: Head;
  readonly request: Request;
  part: number;
  /** Number of the first frame that is not written yet, and count of the frames before it. */
  cursor: number;
  passed: number;
  lost: number;
}

/** Totals of a day (whole days since 1970, UTC): captures by command, and bytes of all captures. */
interface Today {
  readonly day: number;
  readonly count: number;
  readonly bytes: number;
}

/** Persisted form of an open capture. */
type Draft = readonly [head: Head, part: number];

/**
 * Stores the newest raw frames, and writes those around an event as records. Frames are stored after their batch
 * was applied to Status, so that a change of privacy in the batch itself is known by then.
 */
export class Captures implements CapturesPart, Recorder, RecordObserver {
  readonly recorder: Recorder = this;
  readonly name = 'captures';
  readonly watches: readonly Slot[] = [];
  readonly #parts: CaptureParts;
  readonly #records: Records;
  readonly #deflate: Deflate;
  readonly #ring: FrameRing;
  readonly #collision: Request | undefined;
  /** Carries out commands of kind `Capture`. */
  readonly order: AgentCommand | undefined;
  #today: Today = { day: 0, count: 0, bytes: 0 };
  readonly #monitors: ReadonlyMap<string, Request>;
  readonly #wanted: readonly FrameSelection[];
  /** Frames that privacy does not hide. */
  readonly #free: readonly FrameSelection[];
  readonly #buses: string[] = [];
  /** Number of each bus, by its index in the source of the present batch. */
  readonly #numbers = new Int16Array(BUSES);
  #open: OpenCapture[] = [];
  #drafts: readonly Draft[] = [];
  #private = false;
  /** Time (UTC ms) of the newest frame in the last private period. */
  #privateUntil = Number.NEGATIVE_INFINITY;
  /** Time of the oldest stored frame, UTC ms. */
  #since: number;

  constructor({ collision, command, monitors, positionFree }: CaptureRules, parts: CaptureParts) {
    this.#parts = parts;
    this.#records = parts.records;
    this.#deflate = parts.deflate ?? portableDeflate;
    this.#ring = new FrameRing(parts.settings.memory);
    this.#collision = collision === undefined ? undefined : requestOf(collision);
    this.#monitors = new Map(Object.entries(monitors).map(([id, rule]) => [id, requestOf(rule)]));
    this.order = command === undefined ? undefined : async (body, at) => this.#capture(command, body, at);
    this.#wanted = [
      ...(this.#collision === undefined ? [] : [this.#collision.selection]),
      ...(command === undefined ? [] : [new FrameSelection(command)]),
      ...[...this.#monitors.values()].map(({ selection }) => selection),
    ];
    this.#free = positionFree.map((choice) => new FrameSelection(choice));
    this.#since = parts.now();
    parts.records.observe(this);
  }

  take(batch: FrameBatch, buses: readonly string[]): void {
    const { count, at, id, bus } = batch;
    const wasPrivate = this.#private;
    // The batch may have started and ended a private period.
    this.#private = this.#parts.highestPrivacy() > 0;
    if (this.#private && !wasPrivate) this.#conceal(batch);
    this.#number(buses);
    const numbers = this.#numbers;
    for (let i = 0; i < count; i++) {
      const number = numbers[bus[i] as number] as number;
      const time = at[i] as number;
      if (this.#private && time > this.#privateUntil) this.#privateUntil = time;
      if (number === NO_BUS || !selected(this.#wanted, number, id[i] as number)) continue;
      if (time <= this.#privateUntil && !selected(this.#free, number, id[i] as number)) continue;
      this.#ring.add(batch, i, number);
    }
  }

  recorded<K extends RecordKind>(kind: K, record: Body<K>, previous: Body<K> | undefined): void {
    if (kind !== 'collision' || previous !== undefined || this.#collision === undefined) return;
    const { id, createdAt } = record as Body<'collision'>;
    this.#begin(this.#collision, { cause: 'collision', of: id, at: createdAt });
  }

  event({ id, monitorId, at, refresh, complement }: MonitorEvent): void {
    const request = this.#monitors.get(monitorId);
    if (request === undefined || refresh || complement === true) return;
    this.#begin(request, { cause: 'monitor', of: id, monitorId, at });
  }

  tick(now: number): void {
    this.#look(now);
    this.#endDrafts();
    for (const open of [...this.#open]) this.#write(open, now >= open.head.to + LATE, PARTS_A_TICK);
  }

  flush(now: number): void {
    this.#endDrafts();
    for (const open of [...this.#open]) this.#write(open, true, Number.POSITIVE_INFINITY, now < open.head.to);
  }

  state(): unknown {
    return [...this.#drafts, ...this.#open.map(({ head, part }): Draft => [head, part])];
  }

  /** The totals of the day and the open captures have separate keys. */
  *parts(): Generator<readonly [key: number, value: unknown]> {
    const { day, count, bytes } = this.#today;
    yield [0, count + bytes === 0 ? undefined : [day, count, bytes]];
  }

  restoreParts([today]: readonly unknown[]): void {
    if (!Array.isArray(today)) return;
    const [day, count, bytes = 0] = today as readonly unknown[];
    this.#today = { day: Number(day), count: Number(count), bytes: Number(bytes) };
  }

  restore(state: unknown): void {
    if (Array.isArray(state)) this.#drafts = state as readonly Draft[];
  }

  stepped(by: number): void {
    this.#ring.shift(by);
    this.#privateUntil += by;
    this.#since += by;
    for (const open of this.#open) {
      const { at, from, to, since } = open.head;
      open.head = {
        ...open.head,
        at: at + by,
        from: from + by,
        to: to + by,
        ...(since === undefined ? {} : { since: since + by }),
      };
    }
  }

  /** Removes private frames: other sources may have reported the start of the private time before this batch. */
  #conceal({ count, at }: FrameBatch): void {
    const ring = this.#ring;
    let begin = Number.POSITIVE_INFINITY;
    for (let i = 0; i < count; i++) begin = Math.min(begin, at[i] as number);
    for (let frame = ring.first; frame < ring.next; frame = ring.after(frame)) {
      if (ring.at(frame) >= begin && !selected(this.#free, ring.bus(frame), ring.id(frame))) ring.withhold(frame);
    }
  }

  #capture(rule: CaptureRule, body: Uint8Array, at: number): void {
    const order = decodeBody('Capture', body);
    if (this.#open.some(({ head }) => head.cause === 'command')) {
      throw new VigieError('command.busy', 'a capture of a command is under way');
    }
    const request = requestOf(narrowed(rule, order, this.#buses));
    const { settings, log } = this.#parts;
    const perDay = settings.commandsPerDay;
    this.#look(at);
    if (this.#today.count >= perDay) {
      log.warn('capture.bound', { perDay });
      throw new VigieError(
        'command.tooMany',
        `commands have asked for ${perDay} captures today (captures.commandsPerDay)`,
      );
    }
    this.#today = { ...this.#today, count: this.#today.count + 1 };
    for (const [number, name] of this.#buses.entries()) request.selection.number(number, name);
    this.#begin(request, { cause: 'command', of: order.name, at });
  }

  #begin(request: Request, head: Pick<Head, 'cause' | 'of' | 'monitorId' | 'at'>): void {
    const running = this.#open.find((open) => open.request === request);
    if (running !== undefined) {
      this.#parts.log.info('capture.running', {
        ...head,
        capture: running.head.id,
      });
      return;
    }
    if (head.cause !== 'command' && this.#isFull) {
      const { bytesPerDay } = this.#parts.settings;
      this.#parts.log.error('capture.full', { bytesPerDay, ...head });
      return;
    }
    const { before, after } = request.rule;
    const from = Math.round(head.at - before);
    const ring = this.#ring;
    const since = Math.round(Math.max(this.#since, ring.lastOverwritten));
    this.#open.push({
      head: {
        id: this.#records.newId(head.at),
        ...head,
        at: Math.round(head.at),
        from,
        to: Math.round(head.at + after),
        ...(since > from ? { since } : {}),
      },
      request,
      part: 0,
      cursor: ring.first,
      passed: ring.overwritten,
      lost: 0,
    });
  }

  /** Writes at most `most` parts of the frames since the last part; writes all the rest if the capture is `over`. */
  #write(open: OpenCapture, over: boolean, most: number, broken = false): void {
    const ring = this.#ring;
    for (let parts = 0; parts < most; ) {
      if (open.cursor < ring.first) {
        open.lost += ring.overwritten - open.passed;
        open.cursor = ring.first;
        open.passed = ring.overwritten;
      }
      const frames = this.#gather(open);
      const { next } = frames;
      const hasMore = next < ring.next;
      const isLast = over && !hasMore;
      // Frames before the event are written at once. Later ones wait for a full part, but not until overwritten.
      const isDue = hasMore || over || open.part === 0 || (ring.next - open.cursor) * 2 > ring.capacity;
      if (!isDue) return;
      if (frames.found.length > 0 || isLast) {
        this.#put(open, frames.found, isLast, broken);
        parts++;
      }
      open.cursor = next;
      open.passed = frames.passed;
      if (isLast) this.#open = this.#open.filter((one) => one !== open);
      if (!hasMore) return;
    }
  }

  /** Returns frames of the capture from its cursor on, up to the size of a part. Moves the cursor to the first one. */
  #gather(open: OpenCapture): { found: number[]; next: number; passed: number } {
    const ring = this.#ring;
    const { from, to } = open.head;
    const { selection } = open.request;
    const found: number[] = [];
    let frame = open.cursor;
    let { passed } = open;
    for (; frame < ring.next && found.length < captureBounds.frames; frame = ring.after(frame), passed++) {
      const at = ring.at(frame);
      if (at < from || at > to || ring.withheld(frame) || !selection.has(ring.bus(frame), ring.id(frame))) continue;
      if (found.length === 0) {
        open.cursor = frame;
        open.passed = passed;
      }
      found.push(frame);
    }
    if (found.length === 0) {
      open.cursor = frame;
      open.passed = passed;
    }
    return { found, next: frame, passed };
  }

  #put(open: OpenCapture, frames: readonly number[], last: boolean, broken: boolean): void {
    const { head } = open;
    const packed = packFrames(this.#ring.copy(frames), head.from, this.#deflate);
    if (packed.columns.length > captureBounds.columns && frames.length > 1) {
      const half = frames.length >> 1;
      this.#put(open, frames.slice(0, half), false, false);
      this.#put(open, frames.slice(half), last, broken);
      return;
    }
    const { part, lost } = open;
    open.part++;
    open.lost = 0;
    this.#append({
      ...head,
      part,
      last,
      buses: [...this.#buses],
      ...packed,
      ...(lost === 0 ? {} : { lost }),
      ...(last && broken ? { broken } : {}),
    });
  }

  /** Writes the last part of captures that a power cut ended. */
  #endDrafts(): void {
    const drafts = this.#drafts;
    this.#drafts = [];
    for (const [head, part] of drafts) {
      const none = packFrames(this.#ring.copy([]), head.from, this.#deflate);
      this.#append({ ...head, part, last: true, broken: true, buses: [], ...none });
    }
  }

  #append(part: Capture): void {
    this.#records.append('capture', part, part.at);
    this.#today = { ...this.#today, bytes: this.#today.bytes + part.columns.length + ENVELOPE };
  }

  get #isFull(): boolean {
    return this.#today.bytes >= this.#parts.settings.bytesPerDay;
  }

  /** Resets the totals if `now` is in another day. */
  #look(now: number): void {
    const day = Math.floor(now / DAY);
    if (day !== this.#today.day) this.#today = { day, count: 0, bytes: 0 };
  }

  /** Assigns a number to each bus of a source, by the bus index in the source's frames. */
  #number(buses: readonly string[]): void {
    for (let index = 0; index < BUSES; index++) {
      const name = buses[index];
      if (name === undefined) {
        this.#numbers.fill(NO_BUS, index);
        return;
      }
      let number = this.#buses.indexOf(name);
      if (number < 0 && this.#buses.length < BUSES) {
        number = this.#buses.push(name) - 1;
        const asked = this.#open.map(({ request }) => request.selection);
        for (const selection of [...this.#wanted, ...this.#free, ...asked]) selection.number(number, name);
      }
      this.#numbers[index] = number;
    }
  }
}

/** Restricts the rule of the profile as the command requests. @throws VigieError if the command exceeds it */
function narrowed(rule: CaptureRule, order: CaptureOrder, seen: readonly string[]): CaptureRule {
  const { before = rule.before, after = rule.after, buses = rule.buses, identifiers: written } = order;
  const identifiers = written?.map((id) => (id > STANDARD ? id + EXTENDED : id)) ?? rule.identifiers;
  const beyond = (what: string): VigieError =>
    new VigieError('input.malformed', `the profile allows commands to capture ${what}`);
  if (before > rule.before) throw beyond(`at most ${rule.before} ms before, not ${before}`);
  if (after > rule.after) throw beyond(`at most ${rule.after} ms after, not ${after}`);
  const unknown = buses?.find((bus) => !(rule.buses ?? seen).includes(bus));
  if (unknown !== undefined) throw beyond(`buses ${(rule.buses ?? seen).join(', ')}, not ${unknown}`);
  const others =
    rule.identifiers === undefined ? undefined : identifiers?.find((id) => !rule.identifiers?.includes(id));
  if (others !== undefined)
    throw beyond(`${rule.identifiers?.length} identifiers, and 0x${hexOf(others)} is none of them`);
  return {
    before,
    after,
    ...defined({ buses, identifiers }),
  };
}

function hexOf(id: number): string {
  return (id >= EXTENDED ? id - EXTENDED : id).toString(16).toUpperCase();
}

function requestOf(rule: CaptureRule): Request {
  return { rule, selection: new FrameSelection(rule) };
}

/** Returns true if a selection contains the frame. Called for each frame. */
function selected(selections: readonly FrameSelection[], bus: number, id: number): boolean {
  for (let i = 0; i < selections.length; i++) if ((selections[i] as FrameSelection).has(bus, id)) return true;
  return false;
}
