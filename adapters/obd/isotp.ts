import { equalBytes } from '../../protocol/cose.ts';
import { hexOf } from './hex.ts';

/** A message reassembled from the frames of one sender. */
interface IsotpMessage {
  /** Identifier of the sender, with its extended address if there is one. */
  readonly sender: string;
  readonly data: Uint8Array;
}

/** Reason why the frames of a sender do not form a message. */
interface IsotpFault {
  readonly sender: string;
  readonly message: string;
  /** True if the sender itself restarted: the answer to this request cut off a late answer to an earlier one. */
  readonly replaced: boolean;
  /** Number of received consecutive frames if the rest of the message is missing; undefined for other faults. */
  readonly unfinished: number | undefined;
  /** True for a consecutive frame that continues no message: §9.8.3 ignores it. */
  readonly stray: boolean;
}

/** A message in reception. Its size grows with the received data, whatever length was announced. */
interface Reception {
  readonly length: number;
  readonly first: Uint8Array;
  readonly parts: Uint8Array[];
  came: number;
  /** Expected sequence number of the next consecutive frame, 0..15. */
  next: number;
}

/** Maximum number of adapters on one bus that record the same response. */
const MOST_COPIES = 4;

const NONE = new Uint8Array();

/**
 * Reassembles ISO 15765-2 messages from frames in the order received, with any number of interleaved senders. A wrong
 * sequence number ends only the reception that it belongs to (§9.8.3, N_WRONG_SN). Two equal first frames begin two
 * copies of one message, as recorded by two adapters on a bus: their frames may alternate.
 */
export class IsotpAssembler {
  readonly messages: IsotpMessage[] = [];
  readonly faults: IsotpFault[] = [];
  /** Receptions by sender, the newest first. Several receptions are copies of one message. */
  readonly #receptions = new Map<string, Reception[]>();
  /** Single-frame messages received so far, by sender and bytes. */
  readonly #singles = new Set<string>();
  /** Senders with a failed reception: their further consecutive frames are ignored. */
  readonly #spoilt = new Set<string>();

  /** Adds a frame. `data` begins with the protocol control information (ISO 15765-2 §9.6). */
  frame(sender: string, data: Uint8Array): void {
    const control = data[0] ?? 0;
    const type = control >> 4;
    if (data.length === 0) this.#fault(sender, 'a frame without data');
    else if (type === 0) this.#single(sender, data);
    else if (type === 1) this.#first(sender, data);
    else if (type === 2) this.#consecutive(sender, control & 15, data.subarray(1));
    // Flow control (3) belongs to the other direction.
    else if (type > 3) this.#fault(sender, `a frame of unknown type ${type}`);
  }

  /** Returns true if a message of this sender waits for consecutive frames. */
  receives(sender: string): boolean {
    return this.#receptions.has(sender);
  }

  /** Call after the last frame: incomplete messages become faults. */
  end(): void {
    for (const [sender, receptions] of this.#receptions) {
      for (const { length, came, parts } of receptions) {
        const message = `consecutive frames are missing: ${came} of ${length} bytes came`;
        this.#fault(sender, message, { unfinished: parts.length - 1 });
      }
    }
    this.#receptions.clear();
  }

  #single(sender: string, data: Uint8Array): void {
    const [control = 0, escaped = 0] = data;
    // Length 0 is the escape of CAN FD: the length is in the next byte.
    const [length, begin] = control === 0 ? [escaped, 2] : [control, 1];
    const payload = data.subarray(begin, begin + length);
    const key = `${sender} ${hexOf(payload)}`;
    // A second copy of an earlier message does not end a reception.
    if (!this.#singles.has(key)) this.#abandon(sender);
    if (length === 0) this.#fault(sender, 'a single frame of no bytes');
    else if (payload.length < length) {
      this.#fault(sender, `a single frame is cut: ${payload.length} of ${length} bytes came`);
    } else {
      this.#singles.add(key);
      this.messages.push({ sender, data: payload });
    }
  }

  #first(sender: string, data: Uint8Array): void {
    const copies = (this.#receptions.get(sender) ?? []).filter(({ first }) => equalBytes(first, data));
    if (copies.length === 0) this.#abandon(sender);
    let length = (((data[0] ?? 0) & 15) << 8) | (data[1] ?? 0);
    let begin = 2;
    if (length === 0) {
      // Escape for messages beyond 4095 bytes: a 32-bit length follows.
      for (const byte of data.subarray(2, 6)) length = length * 256 + byte;
      begin = 6;
    }
    const part = data.subarray(begin, begin + length);
    if (length === 0) this.#spoil(sender, 'a first frame announces no bytes');
    else if (part.length === length) this.messages.push({ sender, data: part });
    else {
      const reception = { length, first: data, parts: [part], came: part.length, next: 1 };
      this.#receptions.set(sender, [reception, ...copies].slice(0, MOST_COPIES));
    }
  }

  #consecutive(sender: string, index: number, part: Uint8Array): void {
    const receptions = this.#receptions.get(sender);
    if (receptions === undefined) {
      if (this.#spoilt.has(sender)) return;
      this.#spoilt.add(sender);
      this.#fault(sender, `consecutive frame ${index} came without a first frame`, { stray: true });
      return;
    }
    const reception = this.#continued(sender, receptions, index, part);
    if (reception === undefined) {
      this.#wrongSequence(sender, receptions, index);
      return;
    }
    reception.next = (reception.next + 1) & 15;
    reception.parts.push(part);
    reception.came += part.length;
    if (reception.came < reception.length) return;
    this.#leave(sender, reception);
    this.messages.push({ sender, data: joined(reception.parts).subarray(0, reception.length) });
  }

  /**
   * Returns the copy that the frame continues. Sequence numbers repeat after sixteen frames, so the data that one copy
   * already contains determines the position of the other.
   */
  #continued(sender: string, receptions: readonly Reception[], index: number, part: Uint8Array): Reception | undefined {
    const waiting = receptions.filter(({ next }) => next === index);
    const known = ({ parts: { length } }: Reception) =>
      receptions.find(({ parts }) => parts.length > length)?.parts[length];
    const repeating = waiting.find((reception) => equalBytes(known(reception) ?? NONE, part));
    const leading = waiting.find((reception) => known(reception) === undefined);
    const [newest] = waiting;
    if (repeating !== undefined || leading !== undefined || newest === undefined) return repeating ?? leading;
    // Different data at the same position: the next message, not a copy (§9.8.3).
    for (const other of receptions) if (other !== newest) this.#replaced(sender, other);
    this.#receptions.set(sender, [newest]);
    return newest;
  }

  /** Ends the reception with the fewest missing frames; of equal copies the oldest. */
  #wrongSequence(sender: string, receptions: readonly Reception[], index: number): void {
    const missing = ({ next }: Reception) => (index - next) & 15;
    const ended = receptions.reduce((least, other) => (missing(other) <= missing(least) ? other : least));
    this.#leave(sender, ended);
    this.#spoil(sender, `consecutive frame ${ended.next} is missing or out of order: ${index} came`);
  }

  /** Ends unfinished messages: a new message replaces them (ISO 15765-2 §9.8.3). */
  #abandon(sender: string): void {
    this.#spoilt.delete(sender);
    for (const reception of this.#receptions.get(sender) ?? []) this.#replaced(sender, reception);
    this.#receptions.delete(sender);
  }

  #replaced(sender: string, { came, length }: Reception): void {
    this.#fault(sender, `a new message began after ${came} of ${length} bytes`, { replaced: true });
  }

  #leave(sender: string, reception: Reception): void {
    const others = (this.#receptions.get(sender) ?? []).filter((other) => other !== reception);
    if (others.length === 0) this.#receptions.delete(sender);
    else this.#receptions.set(sender, others);
  }

  #spoil(sender: string, message: string): void {
    this.#spoilt.add(sender);
    this.#fault(sender, message);
  }

  #fault(sender: string, message: string, kind: Partial<Omit<IsotpFault, 'sender' | 'message'>> = {}): void {
    this.faults.push({ sender, message, replaced: false, unfinished: undefined, stray: false, ...kind });
  }
}

/** Concatenates the parts. */
export function joined(parts: readonly Uint8Array[]): Uint8Array {
  const whole = new Uint8Array(parts.reduce((sum, part) => sum + part.length, 0));
  let at = 0;
  for (const part of parts) {
    whole.set(part, at);
    at += part.length;
  }
  return whole;
}
