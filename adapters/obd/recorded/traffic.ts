/**
 * Requests and answers of diagnostics in recorded frames (ISO 15765-2, normal addressing; ISO 14229-1, SAE J1979).
 *
 *     7DF 02 01 0C                      request to all
 *     7E8 04 41 0C 0F A0                answer of one control unit
 *     7E9 03 7F 01 78                   another one needs more time: its answer follows
 *     7E0 03 22 F1 90                   request to one
 *     7E8 10 14 62 F1 90 …              first frame of an answer; 7E0 30 00 00 flow control; 7E8 21 …, 22 …
 */
import { ERROR, EXTENDED, REMOTE } from '../../../agent/ports.ts';
import { Assembly } from '../isotp/assembly.ts';
import { type Control, readControl } from '../isotp/control.ts';
import { answersRequest } from '../isotp/matching.ts';
import { defaultSettings } from '../isotp/settings.ts';
import { NEGATIVE, PENDING } from '../negative-response.ts';
import type { DiagnosticRole, Roles } from './roles.ts';

/** A whole message. */
export interface TrafficMessage {
  /** UTC ms: the time of its last frame. */
  readonly at: number;
  readonly bus: number;
  /** Identifier with EXTENDED bit. */
  readonly id: number;
  readonly payload: Uint8Array;
}

export type TrafficEvent =
  /** A final answer. `request` is undefined if the recording has none that it answers. */
  | { readonly kind: 'answer'; readonly answer: TrafficMessage; readonly request: TrafficMessage | undefined }
  /** A request without a final answer. `pending`: control units that only announced one, by identifier. */
  | { readonly kind: 'unanswered'; readonly request: TrafficMessage; readonly pending: readonly number[] };

interface OpenRequest {
  readonly message: TrafficMessage;
  /** Identifier of the answers; undefined for a request to all. */
  readonly answer: number | undefined;
  readonly answered: Set<number>;
  readonly pending: Set<number>;
  /** Time in UTC ms after which no answer is expected. */
  until: number;
}

interface Sender {
  readonly assembly: Assembly;
  /** Latest frame with a part of a message, to recognise repetitions. */
  frame: Uint8Array;
  at: number;
}

/** Longest time in ms from a request, or from "response pending", to the answer (P2*, ISO 14229-2 §7.2). */
const MAX_ANSWER_MS = defaultSettings.pending;

/** Longest time in ms between two frames of a message (N_Cr, ISO 15765-2 §9.7). */
const MAX_PAUSE_MS = defaultSettings.consecutive;

/** Maximum number of requests that wait at the same time. More are noise. */
const MAX_OPEN = 1024;

const TESTER_PRESENT = 0x3e;

/** Services with a sub-function, in which bit 7 suppresses the positive answer (ISO 14229-1 §8.2.2). */
const SUB_FUNCTIONS: ReadonlySet<number> = new Set([
  0x10, 0x11, 0x19, 0x27, 0x28, 0x29, 0x2c, 0x31, 0x3e, 0x83, 0x85, 0x86, 0x87,
]);

const NO_FRAME = new Uint8Array();

/** Reassembles messages, and pairs answers with requests. Memory does not grow with the recording. */
export class DiagnosticTraffic {
  /** Number of messages that were begun and lost, by reason. */
  readonly lost: Map<string, number> = new Map();
  /** Number of frames that repeat the sender's previous frame, as in recordings of two loggers. */
  repeated = 0;
  /** Number of consecutive frames without a first frame. */
  strays = 0;
  readonly #roles: Roles;
  readonly #emit: (event: TrafficEvent) => void;
  /** By bus and identifier. */
  readonly #senders = new Map<string, Sender>();
  #open: OpenRequest[] = [];

  constructor(roles: Roles, emit: (event: TrafficEvent) => void) {
    this.#roles = roles;
    this.#emit = emit;
  }

  /**
   * Adds a frame of any kind.
   * @param id with EXTENDED, REMOTE and ERROR bits
   * @param data its payload; copied where necessary
   */
  frame(id: number, bus: number, at: number, data: Uint8Array): void {
    if ((id & (REMOTE | ERROR)) !== 0) return;
    const role = this.#roles.of(id);
    if (role === undefined) return;
    this.advance(at);
    const control = readControl(data, 0);
    if (control === undefined) return;
    if (control.kind === 'flow') this.#flow(control, role, id, bus, at);
    else this.#part(control, { role, id, bus, at }, data);
  }

  /** Ends the requests whose time is over. Call also when only other frames were read. */
  advance(at: number): void {
    if ((this.#open[0]?.until ?? Number.POSITIVE_INFINITY) >= at) return;
    const open = this.#open;
    this.#open = open.filter(({ until }) => until >= at);
    for (const request of open) if (request.until < at) this.#close(request);
  }

  /** Call after the last frame of the recording. */
  end(): void {
    for (const { assembly } of this.#senders.values()) {
      if (assembly.abandon('') !== undefined) this.#lose('the log ends within it');
    }
    this.#senders.clear();
    for (const request of this.#open) this.#close(request);
    this.#open = [];
  }

  #part(
    control: Exclude<Control, { kind: 'flow' }>,
    from: { readonly role: DiagnosticRole; readonly id: number; readonly bus: number; readonly at: number },
    data: Uint8Array,
  ): void {
    const { role, id, bus, at } = from;
    const sender = this.#sender(bus, id);
    const isLate = Math.abs(at - sender.at) > MAX_PAUSE_MS;
    if (isLate) this.#abandon(sender, 'a frame came too late');
    if (control.kind !== 'single' && !isLate && equal(sender.frame, data)) {
      this.repeated++;
      return;
    }
    sender.frame = data.slice();
    sender.at = at;
    const { step, replaced } = sender.assembly.frame(control, data);
    if (replaced !== undefined) this.#lose('a new message began');
    if (step.kind === 'stray') this.strays++;
    else if (step.kind === 'failed') this.#lose('frames are missing or out of order');
    else if (step.kind === 'too long') this.#lose('it is too long');
    else if (step.kind === 'whole') {
      const message = { at, bus, id, payload: step.payload };
      if (role.kind === 'request') this.#request(message, role.answer);
      else this.#answer(message, role.request);
    }
  }

  /** Processes flow control: a receiver may keep the sender waiting or refuse the rest of the message. */
  #flow(
    { status }: Extract<Control, { kind: 'flow' }>,
    role: DiagnosticRole,
    id: number,
    bus: number,
    at: number,
  ): void {
    const peer = role.kind === 'request' ? role.answer : role.request;
    const sender = peer === undefined ? undefined : this.#senders.get(`${bus} ${peer}`);
    if (sender === undefined || id === peer) return;
    if (status === 'overflow') this.#abandon(sender, 'its receiver had no room');
    else if (sender.assembly.current !== undefined) sender.at = at;
  }

  #request(message: TrafficMessage, answer: number | undefined): void {
    const [service = 0, sub = 0] = message.payload;
    if (service !== TESTER_PRESENT) this.#endAnswers(message.bus, answer);
    if (SUB_FUNCTIONS.has(service) && (sub & 0x80) !== 0) return;
    if (this.#open.length >= MAX_OPEN) this.#close(this.#open.shift() as OpenRequest);
    const until = message.at + MAX_ANSWER_MS;
    this.#open.push({ message, answer, answered: new Set(), pending: new Set(), until });
  }

  /** Ends unfinished answers: a tester sends its next request after the answer, so their rest was lost. */
  #endAnswers(bus: number, answer: number | undefined): void {
    for (const [key, sender] of this.#senders) {
      const [on, id] = key.split(' ').map(Number);
      if (on !== bus || (answer !== undefined && id !== answer)) continue;
      if (this.#roles.of(id as number)?.kind === 'answer') this.#abandon(sender, 'the next request came first');
    }
  }

  #answer(message: TrafficMessage, request: number): void {
    const { id, bus, payload } = message;
    const open = this.#open.findLast(
      ({ message: asked, answer, answered, until }) =>
        asked.bus === bus &&
        until >= message.at &&
        (answer === undefined ? isExtended(asked.id) === isExtended(id) : asked.id === request || answer === id) &&
        !answered.has(id) &&
        answersRequest(asked.payload, payload),
    );
    if (payload[0] === NEGATIVE && payload[2] === PENDING) {
      if (open === undefined) return;
      open.pending.add(id);
      open.until = message.at + MAX_ANSWER_MS;
      return;
    }
    open?.pending.delete(id);
    open?.answered.add(id);
    if (open?.answer !== undefined) this.#open = this.#open.filter((other) => other !== open);
    this.#emit({ kind: 'answer', answer: message, request: open?.message });
  }

  #close({ message, answered, pending }: OpenRequest): void {
    if (answered.size > 0 && pending.size === 0) return;
    this.#emit({ kind: 'unanswered', request: message, pending: [...pending] });
  }

  #sender(bus: number, id: number): Sender {
    const key = `${bus} ${id}`;
    const known = this.#senders.get(key);
    if (known !== undefined) return known;
    const sender = { assembly: new Assembly(defaultSettings.longest), frame: NO_FRAME, at: Number.NEGATIVE_INFINITY };
    this.#senders.set(key, sender);
    return sender;
  }

  #abandon(sender: Sender, why: string): void {
    sender.frame = NO_FRAME;
    if (sender.assembly.abandon(why) !== undefined) this.#lose(why);
  }

  #lose(why: string): void {
    this.lost.set(why, (this.lost.get(why) ?? 0) + 1);
  }
}

function isExtended(id: number): boolean {
  return id >= EXTENDED;
}

function equal(a: Uint8Array, b: Uint8Array): boolean {
  return a.length === b.length && a.every((byte, i) => byte === b[i]);
}
