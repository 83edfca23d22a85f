/** Reads recordings of receivers and of gpsd, in one pass and with constant memory. */
import { VigieError } from '../../protocol/errors.ts';
import type { Faults, Fix, FixParser } from './fix.ts';
import { Framer } from './framing.ts';
import { GpsdParser } from './gpsd.ts';
import { NmeaParser } from './nmea.ts';
import { readSentence } from './sentence.ts';

/** Number of bytes from which the format is detected. */
const headSize = 64 * 1024;
const blockSize = 64 * 1024;

export type FixFormat = 'nmea' | 'gpsd';

export interface FixReader {
  readonly format: FixFormat;
  /** Size in bytes of the file on the disk; 0 for standard input. */
  readonly size: number;
  /** Number of its bytes that were read, for a progress bar. */
  readonly position: number;
  /** Complete after the last fix was returned. */
  readonly faults: Pick<Faults, 'count' | 'first'>;
  /** See {@link FixParser.others} and {@link FixParser.unproven}. */
  readonly others: ReadonlyMap<string, number>;
  readonly unproven: number;
  /** Returns the fixes in the order of the recording. Can be iterated once. Throws `input.unreadable`. */
  fixes(): AsyncIterable<readonly Fix[]>;
}

/** Classes of gpsd's reports (gpsd_json(5)) that begin a recording. */
const gpsdClasses = /^\{"class":"(TPV|SKY|GST|ATT|VERSION|DEVICES?|WATCH|PPS|TOFF)"/;

/** Sentences that are accepted even without a checksum. */
const plainKinds = /^(GGA|GLL|GNS|GSA|GST|GSV|RMC|VTG|ZDA)$/;

/** Returns the format of a recording with these first bytes, or undefined if no receiver wrote it. */
export function detectFixFormat(head: Uint8Array): FixFormat | undefined {
  let sentences = 0;
  let frames = 0;
  let reports = 0;
  let fixReports = 0;
  const framer = new Framer({
    sentence: (text) => {
      const sentence = readSentence(text);
      if (sentence === undefined || 'fault' in sentence) return;
      if (text.includes('*') || plainKinds.test(sentence.kind)) sentences++;
    },
    json: (text) => {
      if (gpsdClasses.test(text)) reports++;
      if (text.startsWith('{"class":"TPV"')) fixReports++;
    },
    comment: () => undefined,
    sirf: () => {
      frames++;
    },
    ubx: () => {
      frames++;
    },
    fault: () => undefined,
  });
  framer.push(head);
  framer.finish();
  // gpsd can also forward the receiver's sentences: then its own reports are used, if there are any.
  const receiver = sentences + frames > 0;
  if (fixReports > 0 || (reports > 0 && !receiver)) return 'gpsd';
  return receiver ? 'nmea' : undefined;
}

/** Source of the unpacked bytes of a recording. */
interface FixBytes {
  /** Size in bytes of the file on the disk; 0 if unknown. */
  readonly size: number;
  /** Number of its bytes that were read. */
  readonly position: number;
  /** Reason why the bytes end early, if their archive or compression is damaged. */
  readonly broken?: string | undefined;
  /** Fills a part of `into`; returns the number of bytes, 0 at the end. Throws `input.unreadable`. */
  read(into: Uint8Array): Promise<number>;
}

/**
 * Returns true for a recording of a receiver or of gpsd, even in a protocol that {@link openFixLog} can only name.
 * Throws `input.unreadable`.
 */
export async function isFixRecording(bytes: FixBytes): Promise<boolean> {
  const head = await headOf(bytes);
  return detectFixFormat(head) !== undefined || (await unreadProtocol(head)) !== undefined;
}

/** Loads the module for recordings only: a unit does not need it. */
async function unreadProtocol(head: Uint8Array): Promise<string | undefined> {
  return (await import('./unread.ts')).identifyProtocol(head);
}

/**
 * @param file name used in diagnostics
 * @param latest UTC ms, see NmeaOptions
 * Throws `input.unreadable` for an unreadable file, `input.malformed` if no receiver wrote it.
 */
export async function openFixLog(bytes: FixBytes, file: string, latest: number): Promise<FixReader> {
  const head = await headOf(bytes);
  const format = detectFixFormat(head);
  if (format === undefined) {
    const protocol = await unreadProtocol(head);
    const what =
      protocol !== undefined
        ? `this is ${protocol}, which is not read: record NMEA 0183 or UBX, or convert it (gpsbabel)`
        : bytes.broken === undefined
          ? 'this is not a recording'
          : `the compressed data are broken (${bytes.broken})`;
    throw new VigieError('input.malformed', `${what}; known are NMEA 0183, UBX, SiRF binary and gpsd JSON`, {
      where: file,
    });
  }
  const parser = format === 'gpsd' ? new GpsdParser({ file }) : new NmeaParser({ file, latest });
  return new BytesFixReader(format, bytes, head, parser);
}

class BytesFixReader implements FixReader {
  readonly format: FixFormat;
  private readonly bytes: FixBytes;
  private readonly head: Uint8Array;
  private readonly parser: FixParser;

  constructor(format: FixFormat, bytes: FixBytes, head: Uint8Array, parser: FixParser) {
    this.format = format;
    this.bytes = bytes;
    this.head = head;
    this.parser = parser;
  }

  get size(): number {
    return this.bytes.size;
  }

  get position(): number {
    return this.bytes.position;
  }

  get faults(): Faults {
    return this.parser.faults;
  }

  get others(): ReadonlyMap<string, number> {
    return this.parser.others;
  }

  get unproven(): number {
    return this.parser.unproven;
  }

  async *fixes(): AsyncGenerator<readonly Fix[]> {
    const { bytes, parser } = this;
    const block = new Uint8Array(blockSize);
    for (let part = this.head; part.length > 0; part = block.subarray(0, await bytes.read(block))) {
      const fixes = parser.push(part);
      if (fixes.length > 0) yield fixes;
    }
    const fixes = parser.finish();
    if (bytes.broken !== undefined) parser.faults.add(0, `the compressed data are broken: ${bytes.broken}`);
    if (fixes.length > 0) yield fixes;
  }
}

async function headOf(bytes: FixBytes): Promise<Uint8Array> {
  const head = new Uint8Array(headSize);
  let filled = 0;
  while (filled < headSize) {
    const count = await bytes.read(head.subarray(filled));
    if (count === 0) break;
    filled += count;
  }
  return head.subarray(0, filled);
}
