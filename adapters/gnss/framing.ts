/**
 * Finds the records in the data of a receiver: NMEA 0183 sentences, JSON lines of gpsd, SiRF and UBX binary frames,
 * comment lines of recorded logs. Skips everything else (other binary protocols, noise). Lines end with CR, LF or
 * both; a sentence also ends with its checksum.
 */

/** Receives the records. `line` is 1-based, and 0 for binary frames. */
export interface RecordSink {
  /** From `$` to the checksum, or to the end of the line if there is no checksum. */
  sentence?(text: string, line: number): void;
  /** A line that begins with `{"class":`. */
  json?(text: string, line: number): void;
  /** A line that begins with `#`. */
  comment?(text: string): void;
  /** Payload of a frame with the right checksum. Valid during the call only. */
  sirf?(payload: Uint8Array): void;
  /**
   * Receives class (high byte) and message, and the payload of a frame with the right checksum; valid during the call.
   * @param at position of the first byte of the frame, counted from 0
   */
  ubx?(message: number, payload: Uint8Array, at: number): void;
  fault(line: number, message: string): void;
}

/** Longest accepted sentence. IEC 61162-1 §7.1 allows 82 characters; receivers with many satellites send more. */
const longestSentence = 1024;
/** Longest line of JSON or comment: a sky view with all satellites has some 20,000 characters. */
const longestLine = 65_536;
/** Payload of the longest SiRF frame (SiRF Binary Protocol Reference Manual, transport message). */
const longestSirf = 1023;
const sirfFraming = 8;
/** Payload of the longest UBX frame that is accepted: RXM-RAWX with 255 measurements has 8,176 bytes. */
const longestUbx = 8192;
const ubxFraming = 8;
/**
 * Classes of UBX (UBX-13003221 §32.3; SEC, HNR, NAV2 of later ones): NAV, RXM, INF, ACK, CFG, UPD, MON, AID, TIM, ESF,
 * MGA, LOG, SEC, HNR, NAV2. Few enough that two other bytes are seldom mistaken for a frame.
 */
const ubxClasses: ReadonlySet<number> = new Set([
  0x01, 0x02, 0x04, 0x05, 0x06, 0x09, 0x0a, 0x0b, 0x0d, 0x10, 0x13, 0x21, 0x27, 0x28, 0x29,
]);

const LF = 10;
const CR = 13;
const TAB = 9;
const HASH = 35;
const DOLLAR = 36;
const STAR = 42;
const BRACE = 123;

const jsonStart = new TextEncoder().encode('{"class":');
/** Talker and sentence, or a proprietary address. It distinguishes a sentence from a dollar sign in binary data. */
const address = /^\$[A-Z][A-Z\d]{2,9},/;

/** Splits a stream into records. Buffers at most one unfinished record. */
export class Framer {
  private readonly sink: RecordSink;
  private buffer = new Uint8Array(4096);
  private start = 0;
  private end = 0;
  /** Number of bytes before those in the buffer. */
  private before = 0;
  /** End of the searched part of the unfinished line at `start`. */
  private examined = 0;
  private line = 1;
  private lineStart = true;
  private afterReturn = false;
  private last = false;

  constructor(sink: RecordSink) {
    this.sink = sink;
  }

  push(bytes: Uint8Array): void {
    for (let from = 0; from < bytes.length; from += longestLine) {
      this.append(bytes.subarray(from, from + longestLine));
      this.scan();
    }
  }

  /** Ends the input: an unfinished record will not be completed. */
  finish(): void {
    this.last = true;
    this.scan();
    this.last = false;
  }

  private append(bytes: Uint8Array): void {
    if (this.start > 0) {
      this.buffer.copyWithin(0, this.start, this.end);
      this.end -= this.start;
      this.before += this.start;
      this.examined = Math.max(0, this.examined - this.start);
      this.start = 0;
    }
    if (this.end + bytes.length > this.buffer.length) {
      const larger = new Uint8Array(Math.max(this.buffer.length * 2, this.end + bytes.length));
      larger.set(this.buffer.subarray(0, this.end));
      this.buffer = larger;
    }
    this.buffer.set(bytes, this.end);
    this.end += bytes.length;
  }

  private scan(): void {
    while (this.start < this.end) {
      const next = this.record();
      if (next === undefined) {
        this.examined = this.end;
        return;
      }
      this.examined = 0;
      this.pass(next);
    }
  }

  /** Returns the end of the record, or of the stray byte, at `start`, or undefined if the decision needs more bytes. */
  private record(): number | undefined {
    const { buffer, start, sink } = this;
    const code = buffer[start];
    if (code === DOLLAR) return this.sentence();
    if (code === 0xa0 && sink.sirf !== undefined) return this.sirf();
    if (code === 0xb5 && sink.ubx !== undefined) return this.ubx();
    if (!this.lineStart) return start + 1;
    if (code === HASH) return this.textLine((text) => sink.comment?.(text));
    if (code === BRACE && this.begins(jsonStart)) return this.textLine((text, line) => sink.json?.(text, line));
    return start + 1;
  }

  /** Returns true if the bytes are `wanted`, or end before they differ from it. */
  private begins(wanted: Uint8Array): boolean {
    const there = Math.min(wanted.length, this.end - this.start);
    for (let i = 0; i < there; i++) if (this.buffer[this.start + i] !== wanted[i]) return false;
    return true;
  }

  private sentence(): number | undefined {
    const { buffer, start, end } = this;
    let at = start + 1;
    while (at < end && isText(buffer[at] as number) && at - start < longestSentence) at++;
    if (at === end && !this.last) return undefined;
    const code = buffer[at];
    if (at < end && code === STAR) {
      if (end - at < 3 && !this.last) return undefined;
      if (end - at >= 3 && isHex(buffer[at + 1] as number) && isHex(buffer[at + 2] as number)) {
        return this.found(at + 3);
      }
      return this.broken(at, 'the checksum is not two hexadecimal digits');
    }
    if (at < end && (code === CR || code === LF)) return this.found(at);
    return this.broken(at, at - start >= longestSentence ? 'the sentence is too long' : 'the sentence was cut');
  }

  private found(to: number): number {
    const text = this.text(to);
    if (!address.test(text)) return this.start + 1;
    this.sink.sentence?.(text, this.line);
    return to;
  }

  private broken(to: number, message: string): number {
    if (this.sink.sentence === undefined || !address.test(this.text(to))) return this.start + 1;
    this.sink.fault(this.line, message);
    return to;
  }

  private textLine(take: (text: string, line: number) => void): number | undefined {
    const { buffer, start, end } = this;
    let at = Math.max(start, this.examined);
    while (at < end && isLineText(buffer[at] as number)) at++;
    if (at - start > longestLine) {
      if (buffer[start] === BRACE) this.sink.fault(this.line, `the line is longer than ${longestLine} bytes`);
      return start + 1;
    }
    if (at === end && !this.last) return undefined;
    if (at < end && buffer[at] !== CR && buffer[at] !== LF) return start + 1;
    take(new TextDecoder().decode(buffer.subarray(start, at)), this.line);
    return at;
  }

  /** Format: A0 A2, length and payload, sum of the payload's bytes modulo 2^15, B0 B3; big-endian. */
  private sirf(): number | undefined {
    const { buffer, start, end } = this;
    const there = end - start;
    if (there < 4) return this.last || (there > 1 && buffer[start + 1] !== 0xa2) ? start + 1 : undefined;
    const length = ((buffer[start + 2] as number) << 8) | (buffer[start + 3] as number);
    if (buffer[start + 1] !== 0xa2 || length === 0 || length > longestSirf) return start + 1;
    const next = start + length + sirfFraming;
    if (next > end) return this.last ? start + 1 : undefined;
    if (buffer[next - 2] !== 0xb0 || buffer[next - 1] !== 0xb3) return start + 1;
    const payload = buffer.subarray(start + 4, next - 4);
    const sum = payload.reduce((total, byte) => (total + byte) & 0x7fff, 0);
    if (sum !== (((buffer[next - 4] as number) << 8) | (buffer[next - 3] as number))) {
      this.sink.fault(this.line, 'the checksum of the SiRF frame is wrong');
      return start + 1;
    }
    this.sink.sirf?.(payload);
    return next;
  }

  /** Format: B5 62, class, message, length (little-endian), payload, and the sum of all between B5 62 and itself. */
  private ubx(): number | undefined {
    const { buffer, start, end } = this;
    const there = end - start;
    if (there > 1 && buffer[start + 1] !== 0x62) return start + 1;
    if (there > 2 && !ubxClasses.has(buffer[start + 2] as number)) return start + 1;
    if (there < 6) return this.last ? start + 1 : undefined;
    const length = (buffer[start + 4] as number) | ((buffer[start + 5] as number) << 8);
    if (length > longestUbx) return start + 1;
    const next = start + length + ubxFraming;
    const at = this.before + start;
    if (next > end) {
      if (!this.last) return undefined;
      this.sink.fault(0, `the UBX frame at byte ${at} was cut`);
      return start + 1;
    }
    if (
      fletcher(buffer, start + 2, next - 2) !==
      (((buffer[next - 2] as number) << 8) | (buffer[next - 1] as number))
    ) {
      this.sink.fault(0, `the checksum of the UBX frame at byte ${at} is wrong`);
      return start + 1;
    }
    const message = ((buffer[start + 2] as number) << 8) | (buffer[start + 3] as number);
    this.sink.ubx?.(message, buffer.subarray(start + 6, next - 2), at);
    return next;
  }

  private text(to: number): string {
    return String.fromCharCode(...this.buffer.subarray(this.start, to));
  }

  /** Continues at `to`, and counts the lines between. */
  private pass(to: number): void {
    const { buffer } = this;
    for (; this.start < to; this.start++) {
      const code = buffer[this.start];
      if (code === CR || (code === LF && !this.afterReturn)) this.line++;
      this.afterReturn = code === CR;
      this.lineStart = code === CR || code === LF;
    }
  }
}

/** Returns the 8-bit Fletcher sum (RFC 1145) in two bytes, the first as the high one (UBX-13003221 §32.4). */
function fletcher(bytes: Uint8Array, from: number, to: number): number {
  let a = 0;
  let b = 0;
  for (let i = from; i < to; i++) {
    a = (a + (bytes[i] as number)) & 255;
    b = (b + a) & 255;
  }
  return (a << 8) | b;
}

function isText(code: number): boolean {
  return code >= 32 && code < 127 && code !== DOLLAR && code !== STAR;
}

/** Returns true for bytes of text: comments and JSON may be UTF-8. */
function isLineText(code: number): boolean {
  return (code >= 32 && code !== 127) || code === TAB;
}

function isHex(code: number): boolean {
  return (code >= 48 && code <= 57) || (code >= 65 && code <= 70) || (code >= 97 && code <= 102);
}
