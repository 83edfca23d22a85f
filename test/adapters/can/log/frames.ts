/** Frames as plain objects, and logs of them, for tests. */
import { mkdtempSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import type { BytesReader } from '../../../../adapters/can/log/format.ts';
import { type BytesFormat, bytesFormats, formats, headOf } from '../../../../adapters/can/log/formats.ts';
import { type LogOptions, openLog } from '../../../../adapters/can/log/index.ts';
import type { LogParser, Recording } from '../../../../adapters/can/log/recording.ts';
import { BIT_RATE_SWITCH, ERROR_STATE, EXTENDED, FD, type FrameBatch, REMOTE, SENT } from '../../../../agent/ports.ts';
import { runFolder } from '../../../rig/run.ts';

export interface Frame {
  readonly at: number;
  readonly id: number;
  readonly bus: string;
  readonly flags: number;
  readonly length: number;
  /** Payload in hexadecimal. */
  readonly data: string;
}

export function framesOf(batch: FrameBatch, buses: readonly string[]): Frame[] {
  return Array.from({ length: batch.count }, (_, i) => {
    const offset = batch.offset[i] as number;
    const length = batch.length[i] as number;
    return {
      at: batch.at[i] as number,
      id: batch.id[i] as number,
      bus: buses[batch.bus[i] as number] as string,
      flags: batch.flags[i] as number,
      length,
      data: Buffer.from(batch.data.subarray(offset, offset + length)).toString('hex'),
    };
  });
}

export interface Read {
  readonly format: string;
  readonly frames: Frame[];
  readonly faults: number;
  /** `line: message` of the first faults. */
  readonly messages: string[];
  readonly size: number;
  readonly position: number;
}

export async function readLog(path: string, options?: LogOptions): Promise<Read> {
  const log = await openLog(path, options);
  try {
    const frames: Frame[] = [];
    for await (const batch of log.batches()) for (const frame of framesOf(batch, log.buses)) frames.push(frame);
    const messages = log.faults.first.map((fault) => `${fault.line}: ${fault.message}`);
    return { format: log.format, frames, faults: log.faults.count, messages, size: log.size, position: log.position };
  } finally {
    await log.close();
  }
}

const readers = new Map(
  await Promise.all(bytesFormats.map(async (format) => [format, await formats[format].load()] as const)),
);

/** The parser for the bytes of a log. @param begun its first bytes */
export function parserOf(format: BytesFormat, recording: Recording, begun: Uint8Array): LogParser {
  return (readers.get(format) as BytesReader).create(recording, headOf(begun));
}

const folder = mkdtempSync(join(runFolder(), 'logs-'));
let files = 0;

/** Writes the content to a new file and returns its path. */
export function fileOf(content: string | Uint8Array): string {
  const path = join(folder, `log${files++}`);
  writeFileSync(path, content);
  return path;
}

export function readText(content: string | Uint8Array, options?: LogOptions): Promise<Read> {
  return readLog(fileOf(content), options);
}

const fdLengths = [0, 1, 2, 3, 4, 5, 6, 7, 8, 12, 16, 20, 24, 32, 48, 64];

/** Frames that a log should be able to represent, in order, with times in whole microseconds. */
export function anyFrames(options: { fd: boolean; remote: boolean; sent: boolean }): fc.Arbitrary<Frame[]> {
  const id = fc.oneof(
    fc.integer({ min: 0, max: 0x7ff }),
    fc.integer({ min: 0x800, max: 0x1fff_ffff }).map((value) => (value | EXTENDED) >>> 0),
  );
  const frame = fc
    .record({
      gap: fc.integer({ min: 0, max: 5_000_000 }),
      id,
      channel: fc.integer({ min: 0, max: 3 }),
      kind: fc.constantFrom('classic', ...(options.fd ? ['fd'] : []), ...(options.remote ? ['remote'] : [])),
      code: fc.integer({ min: 0, max: 15 }),
      bits: fc.constantFrom(0, BIT_RATE_SWITCH, ERROR_STATE, BIT_RATE_SWITCH | ERROR_STATE),
      sent: fc.boolean(),
      bytes: fc.uint8Array({ minLength: 64, maxLength: 64 }),
    })
    .map(({ gap, id, channel, kind, code, bits, sent, bytes }) => {
      const length = kind === 'fd' ? (fdLengths[code] as number) : Math.min(8, code);
      const payload = kind === 'remote' ? new Uint8Array(length) : bytes.subarray(0, length);
      return {
        gap,
        id: kind === 'remote' ? (id | REMOTE) >>> 0 : id,
        bus: `can${channel}`,
        flags: (kind === 'fd' ? FD | bits : 0) | (sent && options.sent ? SENT : 0),
        length,
        data: Buffer.from(payload).toString('hex'),
      };
    });
  return fc.array(frame, { minLength: 1, maxLength: 30 }).map((list) => {
    let micro = 1_436_509_052_000_000;
    return list.map(({ gap, ...rest }) => {
      micro += gap;
      return { at: Math.floor(micro / 1000) + (micro % 1000) / 1000, ...rest };
    });
  });
}

/** Rounds times to whole microseconds, the resolution of most logs. */
export function inMicroseconds(frames: readonly Frame[]): Frame[] {
  return frames.map((frame) => ({ ...frame, at: Math.round(frame.at * 1000) }));
}
