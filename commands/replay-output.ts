/** Writes the messages of a replay to standard output, or to a CBOR file. */
import { closeSync, openSync, writeSync } from 'node:fs';
import { VigieError } from '../protocol/errors.ts';
import { type Format, Lines } from './output.ts';
import { MessageReader } from './received.ts';

export interface ReplayOutput {
  write(topic: string, payload: Uint8Array): void;
  readonly full: boolean;
  flush(): Promise<void>;
  close(): void;
}

export function printer(format: Format): ReplayOutput {
  const lines = new Lines();
  const reader = new MessageReader();
  return {
    write: (topic, payload) => {
      const line = reader.line(topic, payload);
      lines.line(format === 'ndjson' ? JSON.stringify(line) : `${topic} #${line.seq} ${JSON.stringify(line.body)}`);
    },
    get full() {
      return lines.full;
    },
    flush: () => lines.flush(),
    close: () => undefined,
  };
}

/** Size in bytes of messages that are written together. */
const GATHERED = 64 * 1024;

export function cborWriter(file: string): ReplayOutput {
  let descriptor: number;
  try {
    descriptor = openSync(file, 'w');
  } catch (error) {
    throw new VigieError('input.unreadable', `cannot be written: ${(error as Error).message}`, {
      where: file,
      cause: error,
    });
  }
  const room = new Uint8Array(GATHERED);
  let gathered = 0;
  // Kept for `flush`. The link itself must not fail: the outbox would wait for a retry, whose time a log never reaches.
  let fault: VigieError | undefined;
  const write = (bytes: Uint8Array): void => {
    if (fault !== undefined) return;
    try {
      for (let from = 0; from < bytes.length; ) from += writeSync(descriptor, bytes, from);
    } catch (error) {
      fault = new VigieError('store.failed', `cannot be written on: ${(error as Error).message}`, {
        where: file,
        cause: error,
      });
    }
  };
  const empty = (): void => {
    write(room.subarray(0, gathered));
    gathered = 0;
  };
  return {
    write: (_topic, payload) => {
      if (gathered + payload.length > room.length) empty();
      if (payload.length > room.length) {
        write(payload);
        return;
      }
      room.set(payload, gathered);
      gathered += payload.length;
    },
    get full() {
      return fault !== undefined;
    },
    flush: async () => {
      empty();
      if (fault !== undefined) throw fault;
    },
    close: () => {
      // Writes the messages that remain if a log ended early.
      empty();
      closeSync(descriptor);
    },
  };
}
