/** Reads the recordings in a zip or tar archive in order of their names. */
import type { FrameBatch } from '../../../agent/ports.ts';
import { VigieError } from '../../../protocol/errors.ts';
import { crc32 } from './crc32.ts';
import type { LogFormat } from './formats.ts';
import type { ByteInput, LogFile } from './input.ts';
import { type LogReader, RecordingLog, UnknownFormat } from './log-reader.ts';
import { magicSize, packingOf } from './packing.ts';
import type { Recording } from './recording.ts';
import { readTar } from './tar.ts';
import { UnpackedInput } from './unpacked.ts';
import { readDirectory, startOf, type ZipEntry } from './zip-directory.ts';

/** Largest accepted unpacked size of an archive in bytes. A larger size is an attack on memory or disk. */
const LARGEST = 256 * 1024 ** 3;
const LARGEST_RATIO = 250;
/** Unpacked size in bytes below which the ratio does not matter. */
const ANY_RATIO = 1024 ** 3;
const MOST_ENTRIES = 10_000;

type Open = (input: ByteInput) => Promise<LogReader>;

/**
 * @param open opens the content of an entry, or throws {@link UnknownFormat} if it is not a recording
 * @throws VigieError `input.malformed` if the archive is damaged, encrypted, too large, or has no recording
 */
export async function openZip(file: LogFile, recording: Recording, open: Open): Promise<LogReader> {
  const where = recording.file;
  try {
    const entries = await entriesOf(file, where);
    const log = new ZipLog(file, recording, entries, open);
    if (await log.next()) return log;
    const names = entries.slice(0, 5).map(({ name }) => name);
    const more = entries.length > names.length ? ` and ${entries.length - names.length} more` : '';
    const contents = names.length === 0 ? 'it is empty' : `it has ${names.join(', ')}${more}`;
    const what = workbook(entries) ?? `the archive has no log of a known format: ${contents}`;
    throw new VigieError('input.malformed', what, { where });
  } catch (error) {
    await file.close();
    throw error;
  }
}

/**
 * Returns the files in an archive in order of their names.
 * @throws VigieError `input.malformed` if the archive is damaged, encrypted or too large
 */
export async function entriesOf(file: LogFile, where: string): Promise<ZipEntry[]> {
  const magic = new Uint8Array(magicSize);
  await file.read(magic, 0);
  const all = await (packingOf(magic) === 'zip' ? readDirectory : readTar)(file, where);
  const entries = all.filter(({ name, size }) => size > 0 && !name.endsWith('/') && !name.startsWith('__MACOSX/'));
  check(entries, file.size, where);
  return entries.sort((a, b) => a.name.localeCompare(b.name, 'en', { numeric: true }));
}

/** Returns the advice for a workbook (office programs store a table in its own archive), or undefined. */
function workbook(entries: readonly ZipEntry[]): string | undefined {
  const isExcel = entries.some(({ name }) => name.startsWith('xl/'));
  if (!isExcel && !entries.some(({ name }) => name === 'content.xml')) return undefined;
  return `this is a workbook (${isExcel ? '.xlsx' : '.ods'}), which is not read: save the sheet with the frames as CSV`;
}

function check(entries: readonly ZipEntry[], archive: number, where: string): void {
  const encrypted = entries.find((entry) => entry.encrypted);
  if (encrypted !== undefined) {
    const what = `${encrypted.name} in the archive is encrypted: unpack it with its password`;
    throw new VigieError('input.malformed', what, { where });
  }
  if (entries.length > MOST_ENTRIES) {
    const what = `the archive has ${entries.length} files: unpack it, and name the recordings in it`;
    throw new VigieError('input.malformed', what, { where });
  }
  const size = entries.reduce((total, entry) => total + entry.size, 0);
  if (size > LARGEST || (size > ANY_RATIO && size > archive * LARGEST_RATIO)) {
    const what = `the archive says that it unpacks from ${archive} to ${size} bytes, which no recording does`;
    throw new VigieError('input.malformed', what, { where });
  }
}

class ZipLog extends RecordingLog implements LogReader {
  readonly #file: LogFile;
  readonly #archive: string;
  readonly #left: ZipEntry[];
  readonly #open: Open;
  #format: LogFormat | undefined;
  #entry: LogReader | undefined;
  #closed = false;

  constructor(file: LogFile, recording: Recording, entries: readonly ZipEntry[], open: Open) {
    super(recording);
    this.#file = file;
    this.#archive = recording.file;
    this.#left = [...entries];
    this.#open = open;
  }

  get format(): LogFormat {
    return this.#format as LogFormat;
  }

  get size(): number {
    return this.#file.size;
  }

  get position(): number {
    return this.#entry?.position ?? this.#file.size;
  }

  /** Opens the next recording. Returns false after the last. */
  async next(): Promise<boolean> {
    const { recording } = this;
    for (let entry = this.#left.shift(); entry !== undefined; entry = this.#left.shift()) {
      recording.file = `${this.#archive}/${entry.name}`;
      try {
        this.#entry = await this.#open(await inputOf(entry, this.#file, recording.file));
        this.#format ??= this.#entry.format;
        return true;
      } catch (error) {
        if (!(error instanceof VigieError)) throw error;
        if (error instanceof UnknownFormat) recording.passOver('other files in the archive');
        else recording.fault(0, error.message.replace(`${error.where}: `, ''), 'a file in the archive cannot be read');
      }
    }
    recording.file = this.#archive;
    return false;
  }

  async *batches(): AsyncGenerator<FrameBatch> {
    while (this.#entry !== undefined && !this.#closed) {
      for await (const batch of this.#entry.batches()) yield this.counted(batch);
      await this.#entry.close();
      this.#entry = undefined;
      if (this.#closed) return;
      await this.next();
    }
  }

  async close(): Promise<void> {
    if (this.#closed) return;
    this.#closed = true;
    await this.#entry?.close();
    await this.#file.close();
  }
}

/** Opens the unpacked bytes of a file in an archive. Throws `input.malformed`. */
export async function inputOf(entry: ZipEntry, file: LogFile, where: string): Promise<ByteInput> {
  const from = await startOf(entry, file);
  if (Number.isNaN(from)) throw new VigieError('input.malformed', 'its header in the archive is broken', { where });
  const packed = new EntryInput(file, from, from + entry.packed);
  switch (entry.method) {
    case 0:
      return new CheckedInput(packed, entry);
    case 8:
      return new CheckedInput(new UnpackedInput('deflate', packed), entry);
    case 93:
      return new CheckedInput(new UnpackedInput('zstd', packed), entry);
    default: {
      const what = `it is packed by method ${entry.method}, which is not read: pack it with deflate`;
      throw new VigieError('input.malformed', what, { where });
    }
  }
}

/** The packed bytes of an entry in the archive. Does not close the archive. */
class EntryInput implements ByteInput {
  readonly #file: LogFile;
  readonly #to: number;
  position: number;

  constructor(file: LogFile, from: number, to: number) {
    this.#file = file;
    this.position = from;
    this.#to = to;
  }

  get size(): number {
    return this.#file.size;
  }

  async read(into: Uint8Array): Promise<number> {
    const count = await this.#file.read(into.subarray(0, Math.max(0, this.#to - this.position)), this.position);
    this.position += count;
    return count;
  }

  async close(): Promise<void> {}
}

/** Checks the size and the checksum of the entry while its bytes are read. */
class CheckedInput implements ByteInput {
  broken: string | undefined;
  readonly #input: ByteInput;
  readonly #entry: ZipEntry;
  #crc = 0;
  #count = 0;

  constructor(input: ByteInput, entry: ZipEntry) {
    this.#input = input;
    this.#entry = entry;
  }

  get size(): number {
    return this.#input.size;
  }

  get position(): number {
    return this.#input.position;
  }

  async read(into: Uint8Array): Promise<number> {
    const { size, crc } = this.#entry;
    const count = await this.#input.read(into.subarray(0, Math.max(1, size - this.#count)));
    if (this.#count + count > size) {
      this.broken ??= `there are more than the ${size} bytes that the archive says`;
      return 0;
    }
    this.#count += count;
    if (crc !== undefined) this.#crc = crc32(into.subarray(0, count), this.#crc);
    if (count > 0) return count;
    this.broken ??= this.#input.broken;
    if (this.#count < size) this.broken ??= `there are ${this.#count} of ${size} bytes`;
    else if (crc !== undefined && this.#crc !== crc) this.broken ??= 'the checksum is another one';
    return 0;
  }

  close(): Promise<void> {
    return this.#input.close();
  }
}
