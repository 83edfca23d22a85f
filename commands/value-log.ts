/** Tables of values (CSV of phones and data loggers) for `decode` and `replay`. */
import { InvalidArgumentError, Option } from 'commander';
import { openValueLog, type ValueLog, ValueReadings } from '../adapters/can/log/values/index.ts';
import { counted } from '../protocol/counted.ts';
import { reportLog } from './log-summary.ts';
import { type Format, type Lines, progressBar } from './output.ts';
import type { FixPlay } from './replay-fixes.ts';

/** Rows after which what was published is written. */
const ROWS = 256;

/** `--time-zone` of commands that read tables of values. */
export function timeZoneOption(): Option {
  return new Option('--time-zone <name>', 'zone of local times in tables of values (default: UTC)').argParser(
    (name) => {
      try {
        new Intl.DateTimeFormat('en-US', { timeZone: name });
      } catch {
        throw new InvalidArgumentError('write a name such as Europe/Paris.');
      }
      return name;
    },
  );
}

/** Prints a line per row, {t, values: {name: number}}; resolves with their number. Throws as `openValueLog` does. */
export async function decodeValues(
  path: string,
  zone: string | undefined,
  format: Format,
  lines: Lines,
): Promise<number> {
  const log = await openValueLog(path, zone === undefined ? {} : { zone });
  const bar = await progressBar(log.size);
  try {
    for await (const { at, values } of log.rows()) {
      const given = log.columns.flatMap(({ signal, unit }, place) => {
        const value = values[place];
        return value === undefined ? [] : [{ signal, unit, value }];
      });
      lines.line(
        format === 'ndjson'
          ? JSON.stringify({ t: at, values: Object.fromEntries(given.map(({ signal, value }) => [signal, value])) })
          : [
              new Date(at).toISOString(),
              ...given.map(({ signal, unit, value }) => `${signal}=${value}${unit === undefined ? '' : ` ${unit}`}`),
            ].join(' '),
      );
      if (lines.full) await lines.flush();
      bar.update(log.position, log.frames);
    }
  } finally {
    bar.stop();
    await log.close();
  }
  report(log, path);
  return log.frames;
}

/** Plays the rows through the readings that are wanted; resolves with their number. Throws as `openValueLog` does. */
export async function replayValues(path: string, play: FixPlay, zone: string | undefined): Promise<number> {
  const { wanted } = play.agent;
  const log = await openValueLog(path, zone === undefined ? {} : { zone });
  const readings = new ValueReadings(wanted, log.columns, play.agent.sink());
  const bar = await progressBar(log.size);
  let last = Number.NEGATIVE_INFINITY;
  let backwards = 0;
  try {
    for await (const row of log.rows()) {
      if (row.at < last) backwards++;
      last = row.at;
      await play.advance(row.at);
      readings.deliver({ ...row, at: Math.max(row.at, play.clock.now()) });
      if (log.frames % ROWS === 0) await play.played();
      bar.update(log.position, log.frames);
    }
    await play.played();
  } finally {
    bar.stop();
    await log.close();
  }
  if (backwards > 0)
    process.stderr.write(`${path}: time jumps back ${counted(backwards, 'time')}; order rows by time\n`);
  report(log, path);
  if (!readings.any) {
    const names = log.columns.map(({ signal }) => `VALUES.${signal}`).join(', ');
    process.stderr.write(`${path}: the profile names none of the columns; they are ${names}\n`);
  }
  return log.frames;
}

function report(log: ValueLog, path: string): void {
  reportLog(log, path, 'row');
  for (const assumption of log.assumptions) process.stderr.write(`${path}: ${assumption}\n`);
}
