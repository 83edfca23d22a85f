/** Recordings of GNSS receivers, compressed or not. */
import { contentsOf } from '../adapters/can/log/contents.ts';
import { openLog } from '../adapters/can/log/index.ts';
import { type FixReader, isFixRecording, openFixLog, ubxPositions } from '../adapters/gnss/index.ts';
import { counted } from '../protocol/counted.ts';
import { VigieError } from '../protocol/errors.ts';
import { complain } from './output.ts';

/**
 * Returns true if the file, compressed or not, is a recording of a GNSS receiver or of gpsd, or an archive that
 * contains one. Always false for standard input, which cannot be read twice. Throws `input.unreadable`.
 */
export async function isFixLog(path: string): Promise<boolean> {
  if (path === '-') return false;
  try {
    for await (const { bytes } of contentsOf(path)) {
      if (await isFixRecording(bytes).catch(refuseMalformed)) return true;
    }
    return false;
  } catch (error) {
    return refuseMalformed(error);
  }
}

/** Same as {@link isFixLog}, but false for an archive that also contains bus logs, which have more data of the car. */
export async function isOnlyFixLog(path: string): Promise<boolean> {
  return (await isFixLog(path)) && !((await isArchive(path)) && (await hasFrames(path)));
}

async function isArchive(path: string): Promise<boolean> {
  for await (const { archived } of contentsOf(path)) return archived;
  return false;
}

async function hasFrames(path: string): Promise<boolean> {
  try {
    await (await openLog(path)).close();
    return true;
  } catch (error) {
    return refuseMalformed(error);
  }
}

/** Ignores malformed files: the code that opens them reports the error. */
function refuseMalformed(error: unknown): false {
  if (error instanceof VigieError && error.code === 'input.malformed') return false;
  throw error;
}

/**
 * Yields the recordings in a file in order. Writes a line to standard error for each other file of an archive. Throws
 * `input.unreadable`, `input.malformed`.
 */
export async function* fixLogsIn(path: string): AsyncGenerator<{ readonly name: string; readonly log: FixReader }> {
  let others = 0;
  for await (const { name, archived, bytes } of contentsOf(path)) {
    let log: FixReader;
    try {
      log = await openFixLog(bytes, name, Date.now());
    } catch (error) {
      if (!archived || !(error instanceof VigieError) || error.code !== 'input.malformed') throw error;
      if (others++ < OTHERS_NAMED) process.stderr.write(`${error.message}; it was left out\n`);
      continue;
    }
    yield { name, log };
  }
  const rest = others - OTHERS_NAMED;
  if (rest > 0) process.stderr.write(`${path}: ${counted(rest, 'other file was', 'other files were')} left out\n`);
}

/** Reports skipped parts of a recording on standard error. @param fixes number of fixes in the recording */
export function reportFixes(log: FixReader, name: string, fixes: number): void {
  if (fixes === 0) process.stderr.write(`vigie: ${name}: the log has no fix${insteadOf(log)}\n`);
  if (log.unproven > 0) {
    const why = 'nothing says whether they are valid, as NAV-SOL, NAV-STATUS or NAV-PVT would';
    process.stderr.write(`${name}: ${counted(log.unproven, 'position was', 'positions were')} left out: ${why}\n`);
  }
  if (log.faults.count > 0) {
    complain(log.faults.first);
    const broken = counted(log.faults.count, 'broken sentence or message was', 'broken sentences or messages were');
    process.stderr.write(`${name}: ${broken} left out\n`);
  }
}

/** Largest number of other files in an archive that are listed with their type. */
const OTHERS_NAMED = 3;

/** Largest number of kinds of messages that are listed. */
const NAMED = 6;

/** Returns a human-readable description of a recording that contains no fix. */
function insteadOf({ others }: FixReader): string {
  if (others.size === 0) return '';
  const kinds = [...others].sort(([, a], [, b]) => b - a).map(([name, count]) => `${name} (${count} times)`);
  const more = kinds.length > NAMED ? ` and ${counted(kinds.length - NAMED, 'other kind')}` : '';
  return `: it has ${kinds.slice(0, NAMED).join(', ')}${more}; a fix is in ${ubxPositions}, in sentences, and in SiRF message 2`;
}
