import { hexOf } from './hex.ts';

/** A message put together of the frames of one sender. */
interface IsotpMessage {
  /** Identifier of the sender, with its extended address where there is one. */
  readonly sender: string;
  readonly data: Uint8Array;
}

/** Why the frames of a sender make no message. */
interface IsotpFault {
  readonly sender: string;
  readonly message: string;
  /** The sender itself restarted: its late answer to an earlier request was cut off by the answer to this one. */
  readonly replaced: boolean;
  /** The rest of the message did not come: how many consecutive frames did; undefined for other faults. */
  readonly unfinished: number | undefined;
  /** A consecutive frame that continues no message: §9.8.3 ignores it. */
  readonly stray: boolean;
}

/** A message in reception. Grows with what has come, whatever length was announced. */
interface Reception {
  readonly length: number;
  readonly first: Uint8Array;
  readonly parts: Uint8Array[];
  came: number;
  /** Sequence number that the next consecutive frame must carry, 0..15. */
  next: number;
}

/** Adapters on one bus that record the same response. */
const MOST_COPIES = 4;

const NONE = new Uint8Array();

/**
 * Reassembles ISO 15765-2 messages from frames in the order received, any number of senders interleaved. A wrong
 * sequence number ends the reception that it belongs to and no other (§9.8.3, N_WRONG_SN). Two first frames that are
 * equal begin two copies of one message, as two adapters on a bus record it: their frames may alternate.
 */
export class IsotpAssembler {
  readonly messages: IsotpMessage[] = [];
  readonly faults: IsotpFault[] = [];
  /** By sender, the newest first. Several are copies of one message. */
  readonly #receptions = new Map<string, Reception[]>();
  /** Messages of one frame so far, by sender and bytes. */
  readonly #singles = new Set<string>();
  /** Senders with a failed reception: their further consecutive frames are ignored. */
  readonly #spoilt = new Set<string>();

  /** `data` begins with the protocol control information (ISO 15765-2 §9.6). */
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

  /** Whether a message of this sender waits for consecutive frames. */
  receives(sender: string): boolean {
    return this.#receptions.has(sender);
  }

  /** Call after the last frame: what is not complete by now is a fault. */
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
    // A second copy of a message that came before begins nothing.
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
    const copies = (this.#receptions.get(sender) ?? []).filter(({ first }) => equal(first, data));
    if (copies.length === 0) this.#abandon(sender);
    let length = (((data[0] ?? 0) & 15) << 8) | (data[1] ?? 0);
    let begin = 2;
    if (length === 0) {
      // The escape for messages beyond 4095 bytes: 32 bits of length follow.
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
   * Which of the copies the frame continues. Their sequence numbers may be equal sixteen frames apart, so what the one
   * has brought already decides where the other is.
   */
  #continued(sender: string, receptions: readonly Reception[], index: number, part: Uint8Array): Reception | undefined {
    const waiting = receptions.filter(({ next }) => next === index);
    const known = ({ parts: { length } }: Reception) =>
      receptions.find(({ parts }) => parts.length > length)?.parts[length];
    const repeating = waiting.find((reception) => equal(known(reception) ?? NONE, part));
    const leading = waiting.find((reception) => known(reception) === undefined);
    const [newest] = waiting;
    if (repeating !== undefined || leading !== undefined || newest === undefined) return repeating ?? leading;
    // Other data at the same place: no copy, but the next message (§9.8.3).
    for (const other of receptions) if (other !== newest) this.#replaced(sender, other);
    this.#receptions.set(sender, [newest]);
    return newest;
  }

  /** Ends the reception from which the fewest frames are missing; of equal copies the oldest. */
  #wrongSequence(sender: string, receptions: readonly Reception[], index: number): void {
    const missing = ({ next }: Reception) => (index - next) & 15;
    const ended = receptions.reduce((least, other) => (missing(other) <= missing(least) ? other : least));
    this.#leave(sender, ended);
    this.#spoil(sender, `consecutive frame ${ended.next} is missing or out of order: ${index} came`);
  }

  /** A new message while the last is unfinished takes its place (ISO 15765-2 §9.8.3). */
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

function equal(a: Uint8Array, b: Uint8Array): boolean {
  return a.length === b.length && a.every((byte, i) => byte === b[i]);
}

/** The parts one after the other. */
export function joined(parts: readonly Uint8Array[]): Uint8Array {
  const whole = new Uint8Array(parts.reduce((sum, part) => sum + part.length, 0));
  let at = 0;
  for (const part of parts) {
    whole.set(part, at);
    at += part.length;
  }
  return whole;
}
