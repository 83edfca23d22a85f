/** A message put together of the frames of one sender. */
export interface IsotpMessage {
  /** Identifier of the sender, with its extended address where there is one. */
  readonly sender: string;
  readonly data: Uint8Array;
}

/** Why the frames of a sender make no message. */
export interface IsotpFault {
  readonly sender: string;
  readonly message: string;
  /** The sender itself began anew: a late answer to an earlier request, cut off by the one to this. */
  readonly replaced: boolean;
  /** The rest of the message did not come: how many consecutive frames did; undefined for other faults. */
  readonly unfinished: number | undefined;
}

/** Grows with what has come, whatever length was announced. */
interface Unfinished {
  readonly length: number;
  readonly parts: Uint8Array[];
  came: number;
  /** Sequence number that the next consecutive frame must carry, 0..15. */
  next: number;
}

/**
 * Reassembles ISO 15765-2 messages from frames in the order received, any number of senders interleaved. A missing,
 * repeated or misplaced consecutive frame spoils the message it belongs to and is said.
 */
export class IsotpAssembler {
  readonly messages: IsotpMessage[] = [];
  readonly faults: IsotpFault[] = [];
  readonly #unfinished = new Map<string, Unfinished>();
  /** Senders whose message is spoilt: their further consecutive frames are no news. */
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
    return this.#unfinished.has(sender);
  }

  /** Call after the last frame: what is not complete by now is a fault. */
  end(): void {
    for (const [sender, { length, came, parts }] of this.#unfinished) {
      const message = `consecutive frames are missing: ${came} of ${length} bytes came`;
      this.faults.push({ sender, message, replaced: false, unfinished: parts.length - 1 });
    }
    this.#unfinished.clear();
  }

  #single(sender: string, data: Uint8Array): void {
    this.#abandon(sender);
    const [control = 0, escaped = 0] = data;
    // Length 0 is the escape of CAN FD: the length is in the next byte.
    const [length, begin] = control === 0 ? [escaped, 2] : [control, 1];
    const payload = data.subarray(begin, begin + length);
    if (length === 0) this.#fault(sender, 'a single frame of no bytes');
    else if (payload.length < length) {
      this.#fault(sender, `a single frame is cut: ${payload.length} of ${length} bytes came`);
    } else this.messages.push({ sender, data: payload });
  }

  #first(sender: string, data: Uint8Array): void {
    this.#abandon(sender);
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
    else this.#unfinished.set(sender, { length, parts: [part], came: part.length, next: 1 });
  }

  #consecutive(sender: string, index: number, part: Uint8Array): void {
    const message = this.#unfinished.get(sender);
    if (message === undefined) {
      if (!this.#spoilt.has(sender)) this.#spoil(sender, `consecutive frame ${index} came without a first frame`);
    } else if (index !== message.next) {
      this.#spoil(sender, `consecutive frame ${message.next} is missing or out of order: ${index} came`);
    } else {
      message.next = (message.next + 1) & 15;
      message.parts.push(part);
      message.came += part.length;
      if (message.came < message.length) return;
      this.#unfinished.delete(sender);
      this.messages.push({ sender, data: joined(message.parts).subarray(0, message.length) });
    }
  }

  /** A new message while the last is unfinished takes its place (ISO 15765-2 §9.8.3). */
  #abandon(sender: string): void {
    const message = this.#unfinished.get(sender);
    this.#spoilt.delete(sender);
    if (message === undefined) return;
    this.#unfinished.delete(sender);
    this.#fault(sender, `a new message began after ${message.came} of ${message.length} bytes`, true);
  }

  #spoil(sender: string, message: string): void {
    this.#unfinished.delete(sender);
    this.#spoilt.add(sender);
    this.#fault(sender, message);
  }

  #fault(sender: string, message: string, replaced = false): void {
    this.faults.push({ sender, message, replaced, unfinished: undefined });
  }
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
