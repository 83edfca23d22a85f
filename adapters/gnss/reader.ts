/** Reads recordings of receivers and of gpsd, in one pass and with constant memory. */
import type { ReadStream } from 'node:fs';
import { type FileHandle, open } from 'node:fs/promises';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { constants, createGunzip } from 'node:zlib';
import { VigieError } from '../../protocol/errors.ts';
import type { Faults, Fix, FixParser } from './fix.ts';
import { Framer } from './framing.ts';
import { GpsdParser } from './gpsd.ts';
import { NmeaParser } from './nmea.ts';
import { readSentence } from './sentence.ts';

/** Bytes by which a format is recognised. */
const headSize = 64 * 1024;

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
  /** The fixes in the order of the file. Can be iterated once. Throws `input.unreadable`. */
  fixes(): AsyncIterable<readonly Fix[]>;
  close(): void;
}

/** Classes of gpsd's reports (gpsd_json(5)) that begin a recording. */
const gpsdClasses = /^\{"class":"(TPV|SKY|GST|ATT|VERSION|DEVICES?|WATCH|PPS|TOFF)"/;

/** What counts as a sentence also without a checksum. */
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
  // gpsd may be told to pass on what the receiver says: then its own reports are what counts, unless it has none.
  const receiver = sentences + frames > 0;
  if (fixReports > 0 || (reports > 0 && !receiver)) return 'gpsd';
  return receiver ? 'nmea' : undefined;
}

/**
 * True for a recording of a receiver or of gpsd, gzip included; also in a protocol that {@link openFixLog} can only
 * name. Throws `input.unreadable`.
 */
export async function isFixRecording(path: string): Promise<boolean> {
  const input = await FixInput.open(path);
  try {
    const head = await input.head();
    return detectFixFormat(head) !== undefined || (await unreadProtocol(head)) !== undefined;
  } finally {
    input.close();
  }
}

/** Loaded for recordings only: a unit has no use for it. */
async function unreadProtocol(head: Uint8Array): Promise<string | undefined> {
  return (await import('./unread.ts')).identifyProtocol(head);
}

/**
 * @param path a file, or `-` for standard input
 * @param latest UTC milliseconds, see NmeaOptions
 * Throws `input.unreadable` for a file that cannot be read, `input.malformed` for one of no receiver.
 */
export async function openFixLog(path: string, latest: number): Promise<FixReader> {
  const input = await FixInput.open(path);
  try {
    const head = await input.head();
    const format = detectFixFormat(head);
    if (format === undefined) {
      const protocol = await unreadProtocol(head);
      const what =
        protocol !== undefined
          ? `this is ${protocol}, which is not read: record NMEA 0183 or UBX, or convert it (gpsbabel)`
          : input.broken === undefined
            ? 'this is no recording'
            : `the compressed data are broken (${input.broken})`;
      throw new VigieError(
        'input.malformed',
        `${what}; known are NMEA 0183, UBX, SiRF binary and gpsd JSON, each also as gzip`,
        {
          where: input.name,
        },
      );
    }
    const parser =
      format === 'gpsd' ? new GpsdParser({ file: input.name }) : new NmeaParser({ file: input.name, latest });
    return new InputFixReader(format, input, parser);
  } catch (error) {
    input.close();
    throw error;
  }
}

class InputFixReader implements FixReader {
  readonly format: FixFormat;
  private readonly input: FixInput;
  private readonly parser: FixParser;

  constructor(format: FixFormat, input: FixInput, parser: FixParser) {
    this.format = format;
    this.input = input;
    this.parser = parser;
  }

  get size(): number {
    return this.input.size;
  }

  get position(): number {
    return this.input.position;
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
    const { input, parser } = this;
    for await (const bytes of input.blocks()) {
      const fixes = parser.push(bytes);
      if (fixes.length > 0) yield fixes;
    }
    const fixes = parser.finish();
    if (input.broken !== undefined) parser.faults.add(0, `the compressed data are broken: ${input.broken}`);
    if (fixes.length > 0) yield fixes;
  }

  close(): void {
    this.input.close();
  }
}

/** Bytes of a file or of standard input, unpacked when they begin with the magic number of gzip (RFC 1952 §2.3.1). */
class FixInput {
  readonly name: string;
  readonly size: number;
  /** Set when unpacking ended early; what came before counts. */
  broken: string | undefined;
  private readonly file: Readable;
  private plain: AsyncIterator<Uint8Array>;
  private begun: Uint8Array[] = [];

  private constructor(name: string, size: number, file: Readable) {
    this.name = name;
    this.size = size;
    this.file = file;
    this.plain = file[Symbol.asyncIterator]() as AsyncIterator<Uint8Array>;
  }

  static async open(path: string): Promise<FixInput> {
    if (path === '-') return new FixInput('standard input', 0, process.stdin);
    let file: FileHandle | undefined;
    try {
      file = await open(path, 'r');
      const { size } = await file.stat();
      return new FixInput(path, size, file.createReadStream());
    } catch (error) {
      await file?.close();
      throw unreadable(path, error);
    }
  }

  get position(): number {
    return (this.file as Partial<ReadStream>).bytesRead ?? 0;
  }

  /** The first bytes, unpacked; they come again from {@link blocks}. */
  async head(): Promise<Uint8Array> {
    let head = await this.gather(2);
    if (head[0] === 0x1f && head[1] === 0x8b) {
      const gunzip = createGunzip({ finishFlush: constants.Z_SYNC_FLUSH });
      const packed = this.blocksOf(this.begun, this.plain);
      // A failure of either stream ends the iteration over `gunzip`, where it is dealt with.
      pipeline(Readable.from(packed, { objectMode: false }), gunzip).catch(() => undefined);
      this.plain = this.unpacked(gunzip);
      this.begun = [];
      head = new Uint8Array(0);
    }
    return head.length < headSize ? this.gather(headSize) : head;
  }

  blocks(): AsyncIterable<Uint8Array> {
    const { begun, plain } = this;
    this.begun = [];
    return this.blocksOf(begun, plain);
  }

  close(): void {
    this.file.destroy();
  }

  private async gather(wanted: number): Promise<Uint8Array> {
    const { begun } = this;
    let size = begun.reduce((sum, block) => sum + block.length, 0);
    while (size < wanted) {
      const next = await this.next(this.plain);
      if (next === undefined) break;
      begun.push(next);
      size += next.length;
    }
    return Buffer.concat(begun);
  }

  private async *blocksOf(
    begun: readonly Uint8Array[],
    rest: AsyncIterator<Uint8Array>,
  ): AsyncGenerator<Uint8Array, undefined> {
    yield* begun;
    for (;;) {
      const next = await this.next(rest);
      if (next === undefined) return;
      yield next;
    }
  }

  private async *unpacked(gunzip: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
    try {
      for await (const block of gunzip) yield block;
    } catch (error) {
      if (error instanceof VigieError) throw error;
      this.broken = error instanceof Error ? error.message : String(error);
    }
  }

  private async next(blocks: AsyncIterator<Uint8Array>): Promise<Uint8Array | undefined> {
    try {
      const next = await blocks.next();
      return next.done === true ? undefined : next.value;
    } catch (error) {
      throw error instanceof VigieError ? error : unreadable(this.name, error);
    }
  }
}

function unreadable(where: string, cause: unknown): VigieError {
  const reason = cause instanceof Error ? cause.message : String(cause);
  return new VigieError('input.unreadable', `cannot be read: ${reason}`, { where, cause });
}
