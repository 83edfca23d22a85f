/** Recordings of receivers, packed or not. */
import { contentsOf } from '../adapters/can/log/contents.ts';
import { openLog } from '../adapters/can/log/index.ts';
import { type FixReader, isFixRecording, openFixLog, ubxPositions } from '../adapters/gnss/index.ts';
import { counted } from '../protocol/counted.ts';
import { VigieError } from '../protocol/errors.ts';
import { complain } from './output.ts';

/**
 * True for a recording of a receiver or of gpsd, by its content, packed too, and for an archive with one; never for standard
 * input, which cannot be read twice. Throws `input.unreadable`.
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

/** As {@link isFixLog}, but false for an archive with logs of a bus: they say more of a car than where it was. */
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

/** The opener reports the faults of a file. */
function refuseMalformed(error: unknown): false {
  if (error instanceof VigieError && error.code === 'input.malformed') return false;
  throw error;
}

/**
 * The recordings in a file, one after the other; of other files in an archive a line goes to standard error.
 * Throws `input.unreadable`, `input.malformed`.
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

/** Writes to standard error what was left out of a recording. @param fixes how many it had */
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

/** Files of an archive that are named with what they are. */
const OTHERS_NAMED = 3;

/** Kinds of messages that are named. */
const NAMED = 6;

/** Contents of a recording without a fix, for people. */
function insteadOf({ others }: FixReader): string {
  if (others.size === 0) return '';
  const kinds = [...others].sort(([, a], [, b]) => b - a).map(([name, count]) => `${name} (${count} times)`);
  const more = kinds.length > NAMED ? ` and ${counted(kinds.length - NAMED, 'other kind')}` : '';
  return `: it has ${kinds.slice(0, NAMED).join(', ')}${more}; a fix is in ${ubxPositions}, in sentences, and in SiRF message 2`;
}
