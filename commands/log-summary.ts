/** Summary of a log: numbers of lines or frames that were read and that were skipped, with reasons. */
import type { LogReader } from '../adapters/can/log/index.ts';
import { counted } from '../protocol/counted.ts';
import { formatDiagnostic } from '../protocol/diagnostic.ts';

/** Largest number of reasons that are listed, most frequent first. */
const REASONS = 3;
/** Largest share of skipped frames with which a log counts as read. */
const TOLERATED = 0.01;

/** Help of the option `--columns`. */
export const COLUMNS_HELP =
  'how to read a table, whatever names its columns have, e.g. time,id,dlc,data,bus or time(us),-,id,d0; - is passed over';

type Read = Pick<LogReader, 'frames' | 'faults' | 'leftOut' | 'passedOver' | 'parts'> & { readonly format: string };

/** Returns human-readable lines; one line if nothing was skipped. @param noun unit of the log's contents */
export function summaryOf(log: Read, path: string, noun = 'frame'): readonly string[] {
  const { frames, faults, leftOut, passedOver, format, parts = [] } = log;
  const share = faults.count === 0 ? '' : ` (${percent(faults.count / (frames + faults.count))})`;
  const read = `${path}: ${counted(frames, noun)} read as ${format}, ${faults.count.toLocaleString('en')} left out${share}`;
  const others = [...passedOver].map(([kind, count]) => `${count.toLocaleString('en')} ${kind}`);
  const reasons = [...leftOut]
    .sort((a, b) => b.count - a.count)
    .slice(0, REASONS)
    .map(({ count, example }) => `  ${count.toLocaleString('en')} × ${formatDiagnostic(example)}`);
  const more = leftOut.length > REASONS ? [`  and ${counted(leftOut.length - REASONS, 'other reason')}`] : [];
  const whole = others.length === 0 ? read : `${read}; not counted: ${others.join(', ')}`;
  return [whole, ...reasons, ...more, ...(faults.count === 0 ? [] : parts.map(lineOf))];
}

function lineOf({ name, read, count, why }: NonNullable<LogReader['parts']>[number]): string {
  const of = count === undefined ? '' : ` of ${count.toLocaleString('en')}`;
  const reason = why === undefined ? '' : `: ${why}`;
  return `  ${name}: ${read.toLocaleString('en')}${of} records read${reason}`;
}

/** Returns true if so much of the log is missing that programs must not treat it as complete. */
export function isIncomplete({ frames, faults }: Read): boolean {
  return frames === 0 || faults.count > TOLERATED * (frames + faults.count);
}

/**
 * Writes the summary to standard error; for a complete log, only if that is a terminal. An incomplete log sets the exit
 * status to 1.
 */
export function reportLog(log: Read, path: string, noun = 'frame'): void {
  const whole = log.frames > 0 && log.faults.count === 0 && log.passedOver.size === 0;
  if (whole && !process.stderr.isTTY) return;
  process.stderr.write(`${summaryOf(log, path, noun).join('\n')}\n`);
  if (isIncomplete(log)) process.exitCode = 1;
}

function percent(share: number): string {
  const value = share * 100;
  return `${value < 0.01 ? '< 0.01' : value.toFixed(value < 1 ? 2 : 1)} %`;
}
