/** Readers of the frames of a group, or of several interleaved groups. */
import type { FrameBatch } from '../../../../agent/ports.ts';
import type { LogPart } from '../format.ts';
import type { Recording } from '../recording.ts';
import type { Group } from './layout.ts';
import type { DataStream } from './stream.ts';

export interface Cursor {
  /** Progress in each of its groups. */
  readonly parts: readonly LogPart[];
  /** Adds frames until the batch is full or no more exist. Returns false at the end. */
  fill(batch: FrameBatch): Promise<boolean>;
}

/** The bytes of a stream in pieces that begin with a whole record. */
export class RecordBytes {
  bytes: Uint8Array = new Uint8Array(0);
  view = new DataView(this.bytes.buffer);
  /** Offset of the next record. */
  at = 0;
  readonly #stream: DataStream;
  #joined = new Uint8Array(0);

  constructor(stream: DataStream) {
    this.#stream = stream;
  }

  get left(): number {
    return this.bytes.length - this.at;
  }

  /** Reason why the bytes end early, or undefined. */
  get cut(): string | undefined {
    return this.#stream.cut;
  }

  /** Appends the next bytes of the stream to the unread ones. Returns false at the end of the stream. */
  async more(): Promise<boolean> {
    const { left } = this;
    // The stream reuses its buffer, so the unread bytes move to a buffer of this class, which is reused too.
    this.#reserve(left);
    this.#joined.set(this.bytes.subarray(this.at));
    const next = await this.#stream.next();
    if (left === 0 && next !== undefined) this.#set(next);
    else {
      const size = left + (next?.length ?? 0);
      this.#reserve(size);
      if (next !== undefined) this.#joined.set(next, left);
      this.#set(this.#joined.subarray(0, size));
    }
    return next !== undefined;
  }

  #reserve(size: number): void {
    if (this.#joined.length >= size) return;
    const larger = new Uint8Array(size);
    larger.set(this.#joined);
    this.#joined = larger;
  }

  #set(bytes: Uint8Array): void {
    this.bytes = bytes;
    this.view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length);
    this.at = 0;
  }
}

/** @param read number of records, which may be less than the number in the file */
export function partOf({ number, contents, name, count }: Group, read: number, why?: string): LogPart {
  const title = `channel group ${number} (${name === '' ? contents : `${contents}, ${name}`})`;
  return { name: title, read, count: count === undefined || count === 0 ? undefined : count, why };
}

/** Counts the records of an unreadable group. A truncated file has fewer than its header states. */
export function reportUnread(recording: Recording, group: Group, why: string, found: number): void {
  const count = Math.max(group.count ?? 0, found);
  if (count === 0) return;
  const message = `records of ${group.contents} cannot be read: ${why}`;
  recording.fault(0, message, message, count);
}

/** Counts the records of a sorted group that cannot be read. */
export class UnreadCursor implements Cursor {
  readonly #recording: Recording;
  readonly #group: Group;
  readonly #why: string;
  readonly #records: RecordBytes;
  #ended = false;

  get parts(): readonly LogPart[] {
    return [partOf(this.#group, 0, this.#why)];
  }

  constructor(recording: Recording, group: Group, why: string, records: RecordBytes) {
    this.#recording = recording;
    this.#group = group;
    this.#why = why;
    this.#records = records;
  }

  async fill(): Promise<boolean> {
    if (this.#ended) return false;
    this.#ended = true;
    const records = this.#records;
    let bytes = 0;
    // If the file contains the count, the records need not be read.
    while ((this.#group.count ?? 0) === 0 && (await records.more())) {
      bytes += records.left;
      records.at += records.left;
    }
    const { dataBytes, invalidBytes } = this.#group;
    reportUnread(this.#recording, this.#group, this.#why, Math.floor(bytes / Math.max(1, dataBytes + invalidBytes)));
    return false;
  }
}

/**
 * Counts the records missing at the end of a group.
 * @param read number of records read
 * @param rest number of bytes after the last whole record
 */
export function reportEnd(
  recording: Recording,
  group: Group,
  read: number,
  rest: number,
  cut: string | undefined,
): void {
  const { contents, count } = group;
  const missing = count === undefined ? 0 : count - read;
  if (missing > 0) {
    const why = cut === undefined ? '' : `: ${cut}`;
    recording.fault(
      0,
      `${missing} of ${count} records of ${contents} are missing${why}`,
      'records are missing',
      missing,
    );
  } else if (count === undefined || count === 0) {
    if (cut !== undefined) recording.fault(0, `the records of ${contents} end early: ${cut}`, 'the records end early');
    else if (rest > 0) recording.fault(0, `the records of ${contents} end within one`, 'the records end within one');
  }
}
