/** Reads the messages in a folder of records without changing it, also while an agent runs. */
import { basename, join } from 'node:path';
import type { OutboxEntry } from '../../agent/ports.ts';
import { type FileSystem, nodeFileSystem, type OpenFile, unreadable } from './files.ts';
import { listSegments, type SegmentFile } from './listing.ts';
import { findMessages, type MessageFile } from './message-search.ts';
import { headerLength, readHeader } from './segment.ts';

const NAME = /^(\d{8,})\.journal(?:\.\d{1,9}d\.\d{1,9}k\.kept)?$/;

/**
 * Yields all messages of a journal, waiting and acknowledged ones; a message that was moved comes more than once.
 * Damaged records are skipped. An agent that runs meanwhile may rename, reuse or remove files: the list is read again
 * before each piece, and content of another use of a file fails its check.
 * @throws VigieError `store.unreadable`, `store.failed` if the disk does not return it
 */
export function* readMessages(directory: string, files: FileSystem = nodeFileSystem): Generator<OutboxEntry> {
  const following: FileSystem = { ...files, open: (path) => openMoved(directory, path, files) };
  for (const entries of findMessages(
    following,
    () => filesIn(directory, files),
    () => true,
  ))
    yield* entries;
}

function filesIn(directory: string, files: FileSystem): readonly MessageFile[] {
  const found = namesIn(directory, files).map(({ number, path }): SegmentFile => {
    return { number, path, header: headerOf(path, files) };
  });
  const { segments, limits } = listSegments(found, []);
  return segments.map(({ number, path }) => ({ number, path, used: limits.get(number) ?? Number.POSITIVE_INFINITY }));
}

function namesIn(directory: string, files: FileSystem): readonly { readonly number: number; readonly path: string }[] {
  try {
    return files.list(directory).flatMap((name) => {
      const number = NAME.exec(name)?.[1];
      return number === undefined ? [] : [{ number: Number(number), path: join(directory, name) }];
    });
  } catch (cause) {
    throw unreadable(directory, cause);
  }
}

/** Opens a segment that was renamed since it was listed; an empty file if it was removed. */
function openMoved(directory: string, path: string, files: FileSystem): OpenFile {
  try {
    return files.open(path, 'read');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
    const number = Number(NAME.exec(basename(path))?.[1]);
    const moved = namesIn(directory, files).find((one) => one.number === number);
    return moved === undefined ? { ...nothing, path } : files.open(moved.path, 'read');
  }
}

const nothing = { size: () => 0, read: () => 0, close: () => undefined } as unknown as OpenFile;

/** Returns undefined for a file without a valid header, and for one that the agent has just renamed. */
function headerOf(path: string, files: FileSystem): ReturnType<typeof readHeader> {
  try {
    const file = files.open(path, 'read');
    try {
      const bytes = new Uint8Array(headerLength);
      return readHeader(bytes.subarray(0, file.read(bytes, 0)));
    } finally {
      file.close();
    }
  } catch {
    return undefined;
  }
}
