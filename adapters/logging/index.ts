/** Log of the agent for a terminal or for the journal, without secrets and at a limited rate. */
import { fstatSync } from 'node:fs';
import { RateLimitedLog } from './rate.ts';
import { type Level, StreamLog } from './stream.ts';
import { structuredLog } from './structured.ts';

export { LINES, RateLimitedLog, WINDOW } from './rate.ts';
export { redacted, redactedText } from './redact.ts';
export { structuredLog } from './structured.ts';

type Environment = Readonly<Record<string, string | undefined>>;

/** Returns the log of a service, written to a stream of the process. Call `flush` before the process ends. */
export function openServiceLog(stream: NodeJS.WriteStream, level: Level, environment: Environment): RateLimitedLog {
  const log =
    stream.isTTY === true
      ? new StreamLog(stream, level)
      : structuredLog(stream, { level, priorities: isJournal(stream, environment) });
  return new RateLimitedLog(log, () => performance.now());
}

/** Returns true if the stream is the journal's: `JOURNAL_STREAM` contains its device and inode (systemd.exec(5)). */
function isJournal(stream: NodeJS.WriteStream, environment: Environment): boolean {
  const given = environment['JOURNAL_STREAM'];
  const { fd } = stream as { fd?: number };
  if (given === undefined || fd === undefined) return false;
  const { dev, ino } = fstatSync(fd);
  return given === `${dev}:${ino}`;
}
