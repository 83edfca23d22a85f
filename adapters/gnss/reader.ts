/** Reads recordings of receivers and of gpsd, in one pass and with constant memory. */
import { VigieError } from '../../protocol/errors.ts';
import type { Faults, Fix, FixParser } from './fix.ts';
import { Framer } from './framing.ts';
import { GpsdParser } from './gpsd.ts';
import { NmeaParser } from './nmea.ts';
import { readSentence } from './sentence.ts';

/** Bytes by which a format is recognised. */
const headSize = 64 * 1024;
const blockSize = 64 * 1024;

export type FixFormat = 'nmea' | 'gpsd';

export interface FixReader {
  readonly format: FixFormat;
  /** Bytes of the file as it lies on the disk; 0 for standard input. */
  readonly size: number;
  /** Bytes of it that were read, for a progress bar. */
  readonly position: number;
  /** Complete when the last fix was given. */
  readonly faults: Pick<Faults, 'count' | 'first'>;
  /** As {@link FixParser.others} and {@link FixParser.unproven}. */
  readonly others: ReadonlyMap<string, number>;
  readonly unproven: number;
  /** The fixes in the order of the recording. Can be iterated once. Throws `input.unreadable`. */
  fixes(): AsyncIterable<readonly Fix[]>;
}

/** Classes of gpsd's reports (gpsd_json(5)) that begin a recording. */
const gpsdClasses = /^\{"class":"(TPV|SKY|GST|ATT|VERSION|DEVICES?|WATCH|PPS|TOFF)"/;

/** Accepted as a sentence also without a checksum. */
const plainKinds = /^(GGA|GLL|GNS|GSA|GST|GSV|RMC|VTG|ZDA)$/;

/** The format of a recording by its first bytes; undefined when they are of no receiver. */
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
  // gpsd can pass on the sentences of the receiver too: then its own reports count, unless it has none.
  const receiver = sentences + frames > 0;
  if (fixReports > 0 || (reports > 0 && !receiver)) return 'gpsd';
  return receiver ? 'nmea' : undefined;
}

/** Where the bytes of a recording come from, unpacked. */
interface FixBytes {
  /** Bytes of the file as it lies on the disk; 0 when that is not known. */
  readonly size: number;
  /** How many of them were read. */
  readonly position: number;
  /** Set when the bytes end early, by damage of what they are packed in: why. */
  readonly broken?: string | undefined;
  /** Fills a part of `into`; returns how many bytes, 0 at the end. Throws `input.unreadable`. */
  read(into: Uint8Array): Promise<number>;
}

/**
 * True for a recording of a receiver or of gpsd, also in a protocol that {@link openFixLog} can only name. Throws
 * `input.unreadable`.
 */
export async function isFixRecording(bytes: FixBytes): Promise<boolean> {
  const head = await headOf(bytes);
  return detectFixFormat(head) !== undefined || (await unreadProtocol(head)) !== undefined;
}

/** Loaded for recordings only: a unit has no use for it. */
async function unreadProtocol(head: Uint8Array): Promise<string | undefined> {
  return (await import('./unread.ts')).identifyProtocol(head);
}

/**
 * @param file what diagnostics name
 * @param latest UTC milliseconds, see NmeaOptions
 * Throws `input.unreadable` when it cannot be read, `input.malformed` for what is of no receiver.
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
