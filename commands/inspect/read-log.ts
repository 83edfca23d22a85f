import type { FrameFilter } from '../../adapters/can/inspect/index.ts';
import { openLog } from '../../adapters/can/log/index.ts';
import type { FrameBatch } from '../../agent/ports.ts';
import { defined } from '../../protocol/defined.ts';
import { reportLog } from '../log-summary.ts';
import { type Lines, progressBar } from '../output.ts';

/** Receives frames while logs are read. */
export interface FrameConsumer {
  /** @param buses names of the log's buses; {@link FrameBatch.bus} is an index into them */
  add(batch: FrameBatch, buses: readonly string[]): void;
  /** Called between logs: the next frames belong to another log. */
  endLog?(): void;
}

interface ReadOptions {
  readonly columns?: string | undefined;
  readonly filter: FrameFilter | undefined;
  /** Output lines. Flushed while the log is read, in case consumers write to them. */
  readonly lines: Lines;
}

/** Passes the frames of a log to consumers, and reports skipped parts on standard error. */
export async function readLog(
  path: string,
  { columns, filter, lines }: ReadOptions,
  consumers: readonly FrameConsumer[],
): Promise<void> {
  const log = await openLog(path, defined({ columns }));
  const bar = await progressBar(log.size, false);
  try {
    for await (const batch of log.batches()) {
      filter?.apply(batch, log.buses);
      for (const consumer of consumers) consumer.add(batch, log.buses);
      bar.update(log.position, log.frames);
      if (lines.full) await lines.flush();
    }
  } finally {
    bar.stop();
    await log.close();
  }
  filter?.endLog();
  for (const consumer of consumers) consumer.endLog?.();
  if (log.frames === 0) process.stderr.write(`vigie: ${path}: the log has no frame\n`);
  reportLog(log, path);
}
