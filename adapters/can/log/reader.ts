/** Opens a log file of any known format, plain or packed. It is read in one pass and with constant memory. */
import { VigieError } from '../../../protocol/errors.ts';
import { BytesLog } from './bytes-log.ts';
import type { FileReader, FormatReader, Head } from './format.ts';
import {
  detect,
  formatNames,
  formats,
  headOf,
  identify,
  isDbc,
  type LogFormat,
  packings,
  tableReader,
} from './formats.ts';
import { type ByteInput, fill, type LogFile, openInput } from './input.ts';
import { type LogOptions, type LogReader, UnknownFormat } from './log-reader.ts';
import { fileOf, isTar, magicSize, mostPackings, packingOf } from './packing.ts';
import { Recording } from './recording.ts';

export type { LogOptions, LogReader } from './log-reader.ts';

/** Number of bytes read at a time, and used to detect a format. */
const chunk = 512 * 1024;
const headSize = 64 * 1024;
/** Number of bytes needed to detect UTF-16. */
const utf16Proof = 32;

/**
 * Opens a log. Detects the format and the packing by content.
 * @param path a file, or `-` for standard input
 * Throws `input.unreadable` if the file cannot be opened or read, `input.malformed` if it is not a log,
 * `usage.wrong` for columns without an identifier or data.
 */
export async function openLog(path: string, options: LogOptions = {}): Promise<LogReader> {
  const where = path === '-' ? 'standard input' : path;
  return openIn(await openInput(path), new Recording(where, options.bus), options, mostPackings);
}

/** Opens the log in an input. Closes the input if it is not a log. */
async function openIn(
  given: ByteInput,
  recording: Recording,
  options: LogOptions,
  packings: number,
): Promise<LogReader> {
  let input = given;
  const where = recording.file;
  try {
    const buffer: Uint8Array = new Uint8Array(chunk);
    let filled = await fill(input, buffer, 0, magicSize);
    for (let left = packings; left > 0; left--) {
      const packing = packingOf(buffer.subarray(0, filled));
      if (packing === undefined) break;
      if (packing === 'zip') {
        const { openZip } = await import('./zip.ts');
        const file = await fileFor(input, buffer.slice(0, filled), recording, false);
        return await openZip(file, recording, (entry) => openIn(entry, recording, options, left - 1));
      }
      const { UnpackedInput } = await import('./unpacked.ts');
      input = new UnpackedInput(packing, input, buffer.slice(0, filled));
      filled = await fill(input, buffer, 0, magicSize);
    }
    // Without a byte-order mark, a few characters are needed to detect UTF-16.
    if (filled >= 2 && (buffer[0] === 0 || buffer[1] === 0 || (buffer[0] as number) >= 0xfe)) {
      filled = await fill(input, buffer, filled, utf16Proof);
      const { utf16Order, Utf16Input } = await import('./utf16.ts');
      const order = utf16Order(buffer.subarray(0, filled));
      if (order !== undefined) {
        input = new Utf16Input(input, order, buffer.slice(0, filled));
        filled = 0;
      }
    }
    // Do not wait for more live input than the detection needs: a bus may be silent for hours.
    const lives = input.size === 0;
    filled = await fill(
      input,
      buffer,
      filled,
      headSize,
      (end) =>
        lives && (options.format !== undefined || options.columns !== undefined || recognised(buffer.subarray(0, end))),
    );
    buffer.fill(0, filled);
    if (packings > 0 && isTar(buffer.subarray(0, filled))) {
      const { openZip } = await import('./zip.ts');
      const file = await fileFor(input, buffer.slice(0, filled), recording, false);
      return await openZip(file, recording, (entry) => openIn(entry, recording, options, packings - 1));
    }
    const bom = filled >= 3 && buffer[0] === 0xef && buffer[1] === 0xbb && buffer[2] === 0xbf ? 3 : 0;
    let head = headOf(buffer.subarray(bom, Math.min(filled, headSize)));
    const format = options.columns === undefined ? (options.format ?? (await detect(head))) : 'table';
    if (format === undefined) throw unknown(input, filled, head, where);
    const reader = await loadReader(format, options);
    if (format === 'table' && !lives) {
      // The detection of columns needs many lines.
      filled = await fill(input, buffer, filled, buffer.length);
      head = headOf(buffer.subarray(bom, filled));
    }
    if (reader.from === 'file') return await openFile(format, reader, input, buffer.slice(0, filled), recording);
    const parser = reader.create(recording, head);
    return new BytesLog(format, input, recording, parser, { buffer, from: bom, filled });
  } catch (error) {
    await input.close();
    throw error;
  }
}

function loadReader(format: LogFormat, { columns }: LogOptions): Promise<FormatReader> {
  return columns === undefined ? formats[format].load() : tableReader(columns);
}

async function openFile(
  format: LogFormat,
  reader: FileReader,
  input: ByteInput,
  begun: Uint8Array,
  recording: Recording,
): Promise<LogReader> {
  const { FileLog } = await import('./file-log.ts');
  const file = await fileFor(input, begun, recording, reader.byName === true);
  try {
    return new FileLog(format, recording, file, await reader.open(file, recording));
  } catch (error) {
    await file.close();
    throw error;
  }
}

async function fileFor(input: ByteInput, begun: Uint8Array, recording: Recording, byName: boolean): Promise<LogFile> {
  const file = await fileOf(input, begun, recording.file, byName);
  if (input.broken !== undefined) recording.brokenPacking(input.broken);
  return file;
}

function unknown(input: ByteInput, filled: number, head: Head, where: string): VigieError {
  const malformed = (what: string): VigieError => new VigieError('input.malformed', what, { where });
  if (input.broken !== undefined) return malformed(`the compressed data are broken (${input.broken})`);
  if (filled === 0) return malformed('the file is empty');
  if (isDbc(head, where)) {
    const advice = 'name the log here, and give the DBC with --dbc or in a profile';
    return new UnknownFormat(`this is a DBC, which describes frames: ${advice}`, where);
  }
  const known = identify(head, where);
  if (known !== undefined) return malformed(known);
  const list = `${formatNames()}, each also packed (${packings.join(', ')})`;
  return new UnknownFormat(`this is not a log of a known format; known are ${list}`, where);
}

/** Returns true if the input contains whole lines and they are of a known format. */
async function recognised(begun: Uint8Array): Promise<boolean> {
  const end = Math.max(begun.lastIndexOf(0x0a), begun.lastIndexOf(0x0d));
  return end > 0 && (await detect(headOf(begun.subarray(0, end + 1)))) !== undefined;
}
