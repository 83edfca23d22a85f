/** Reads a log file of any known format, in one pass and with constant memory. */
import type { FrameBatch } from '../../../agent/ports.ts';
import type { Diagnostic } from '../../../protocol/diagnostic.ts';
import { VigieError } from '../../../protocol/errors.ts';
import { detect, formats, headOf, type LogFormat, logFormats } from './formats.ts';
import { type ByteInput, GzipInput, openInput } from './input.ts';
import { type LogParser, Recording } from './recording.ts';

/** Bytes read at a time, and by which a format is recognised. */
const chunk = 512 * 1024;
const headSize = 64 * 1024;

export interface LogReader {
  /** One of {@link logFormats}. */
  readonly format: LogFormat;
  /** Names that {@link FrameBatch.bus} indexes; grows while reading. */
  readonly buses: readonly string[];
  /** Bytes of the file as it lies on the disk; 0 for standard input. */
  readonly size: number;
  /** Bytes of it that were read, for a progress bar. */
  readonly position: number;
  /** Records that could not be read: how many, and the first ten with file and line. */
  readonly faults: { readonly count: number; readonly first: readonly Diagnostic[] };
  /**
   * The frames in the order of the file. The same batch is filled again for each step; its frames are in order of
   * time only when the log is. Can be iterated once. Throws `input.unreadable` when the file cannot be read any more.
   */
  batches(): AsyncIterable<FrameBatch>;
  close(): Promise<void>;
}

export interface LogOptions {
  /** Leaves out recognition by content. */
  readonly format?: LogFormat;
  /** Takes all frames as from the bus of this name, whatever the log says. */
  readonly bus?: string;
}

/**
 * Opens a log; the format is recognised by content, gzip by its magic number.
 * @param path a file, or `-` for standard input
 * Throws `input.unreadable` for a file that cannot be opened or read, `input.malformed` for one that is no log.
 */
export async function openLog(path: string, options: LogOptions = {}): Promise<LogReader> {
  const file = path === '-' ? 'standard input' : path;
  let input = await openInput(path);
  try {
    let buffer: Uint8Array = new Uint8Array(chunk);
    let filled = await fill(input, buffer, 0, 2);
    if (filled >= 2 && buffer[0] === 0x1f && buffer[1] === 0x8b) {
      input = new GzipInput(input, buffer.slice(0, filled));
      filled = 0;
    }
    buffer = buffer.fill(0, filled);
    // What lives must not wait for more than it takes to know the format: a bus may be silent for hours.
    const lives = input.size === 0;
    filled = await fill(
      input,
      buffer,
      filled,
      headSize,
      (end) => lives && (options.format !== undefined || recognised(buffer.subarray(0, end))),
    );
    const bom = filled >= 3 && buffer[0] === 0xef && buffer[1] === 0xbb && buffer[2] === 0xbf ? 3 : 0;
    const head = headOf(buffer.subarray(bom, Math.min(filled, headSize)));
    const format = options.format ?? detect(head);
    if (format === undefined) {
      const known = logFormats.map((name) => formats[name].name).join(', ');
      const broken = input instanceof GzipInput ? input.broken : undefined;
      const what =
        broken !== undefined
          ? `the compressed data are broken (${broken})`
          : filled === 0
            ? 'the file is empty'
            : 'this is no log of a known format';
      const fix = filled === 0 ? '' : `; known are ${known}, each also compressed with gzip`;
      throw new VigieError('input.malformed', `${what}${fix}`, { where: file });
    }
    const recording = new Recording(file, options.bus);
    const parser = formats[format].create(recording, head);
    return new InputReader(format, input, recording, parser, { buffer, from: bom, filled });
  } catch (error) {
    await input.close();
    throw error;
  }
}

/** True when whole lines are there and they are of a known format. */
function recognised(begun: Uint8Array): boolean {
  const end = Math.max(begun.lastIndexOf(0x0a), begun.lastIndexOf(0x0d));
  return end > 0 && detect(headOf(begun.subarray(0, end + 1))) !== undefined;
}

/**
 * Reads until at least `wanted` bytes are there, or it is `enough`, or no more come; returns how many are there.
 */
async function fill(
  input: ByteInput,
  buffer: Uint8Array,
  filled: number,
  wanted: number,
  enough: (end: number) => boolean = () => false,
): Promise<number> {
  let end = filled;
  while (end < wanted && !enough(end)) {
    const count = await input.read(buffer.subarray(end));
    if (count === 0) break;
    end += count;
  }
  return end;
}

interface Begun {
  readonly buffer: Uint8Array;
  readonly from: number;
  readonly filled: number;
}

class InputReader implements LogReader {
  readonly format: LogFormat;
  private readonly input: ByteInput;
  private readonly recording: Recording;
  private readonly parser: LogParser;
  private begun: Begun | undefined;
  private closed = false;

  constructor(format: LogFormat, input: ByteInput, recording: Recording, parser: LogParser, begun: Begun) {
    this.format = format;
    this.input = input;
    this.recording = recording;
    this.parser = parser;
    this.begun = begun;
  }

  get buses(): readonly string[] {
    return this.recording.buses;
  }

  get size(): number {
    return this.input.size;
  }

  get position(): number {
    return this.input.position;
  }

  get faults(): LogReader['faults'] {
    return this.recording.faults;
  }

  async *batches(): AsyncGenerator<FrameBatch> {
    const { input, recording, parser, begun } = this;
    if (begun === undefined) return;
    this.begun = undefined;
    const { batch } = recording;
    let { buffer, from, filled } = begun;
    let last = false;
    while (!this.closed) {
      from = parser.parse(buffer, from, filled, last);
      if (recording.full) {
        yield batch;
        batch.count = 0;
        continue;
      }
      if (last) break;
      // A source that lives (standard input) must not wait for a full batch, nor for the bus to speak again.
      if (batch.count > 0 && input.size === 0) {
        yield batch;
        batch.count = 0;
        if (this.closed) return;
      }
      // What is left of a record goes to the front; a record larger than the buffer gets one twice as large. The
      // parsers bound their records, and with them the buffer.
      if (from === 0 && filled === buffer.length) {
        const larger = new Uint8Array(buffer.length * 2);
        larger.set(buffer);
        buffer = larger;
      } else {
        buffer.copyWithin(0, from, filled);
        filled -= from;
        from = 0;
      }
      let count: number;
      try {
        count = await input.read(buffer.subarray(filled));
      } catch (error) {
        if (this.closed) return;
        if (batch.count > 0) yield batch;
        throw error;
      }
      filled += count;
      last = count === 0;
    }
    if (input instanceof GzipInput && input.broken !== undefined) {
      recording.fault(0, `the compressed data are broken: ${input.broken}`);
    }
    if (batch.count > 0 && !this.closed) yield batch;
    batch.count = 0;
  }

  async close(): Promise<void> {
    if (this.closed) return;
    this.closed = true;
    await this.input.close();
  }
}
