/** Reads a generated table like any log, and compares the frames with those that were written. */
import { writeFileSync } from 'node:fs';
import { openLog } from '../../../../../adapters/can/log/index.ts';
import { EXTENDED, REMOTE, SENT } from '../../../../../agent/ports.ts';
import { VigieError } from '../../../../../protocol/errors.ts';
import { type GeneratedTable, generateTable, type TableFrame } from './generator.ts';

/** Tolerance for times that a table has only to a fraction of a microsecond. */
const TIME_TOLERANCE_MS = 0.0015;

export type Outcome =
  | { readonly kind: 'read' }
  | { readonly kind: 'refused'; readonly message: string }
  /** A frame that was not written, or a frame lost without a diagnostic. */
  | { readonly kind: 'wrong'; readonly message: string };

/** @param path of a file, which is overwritten */
export async function checkTable(seed: number, path: string): Promise<Outcome> {
  const table = generateTable(seed);
  writeFileSync(path, table.content);
  try {
    return compare(table, await read(path));
  } catch (error) {
    if (error instanceof VigieError && error.code === 'input.malformed')
      return { kind: 'refused', message: error.message };
    throw error;
  }
}

interface Read {
  readonly frames: readonly TableFrame[];
  readonly faults: number;
  readonly cut: number;
}

async function read(path: string): Promise<Read> {
  const log = await openLog(path);
  try {
    const frames: TableFrame[] = [];
    for await (const batch of log.batches()) {
      for (let i = 0; i < batch.count; i++) {
        const id = batch.id[i] as number;
        const from = batch.offset[i] as number;
        const remote = (id & REMOTE) !== 0;
        frames.push({
          at: batch.at[i] as number,
          id: id & 0x1fff_ffff,
          extended: (id & EXTENDED) !== 0,
          remote,
          sent: ((batch.flags[i] as number) & SENT) !== 0,
          data: remote
            ? ''
            : Buffer.from(batch.data.subarray(from, from + (batch.length[i] as number))).toString('hex'),
        });
      }
    }
    return { frames, faults: log.faults.count, cut: log.passedOver.get('last lines that are cut') ?? 0 };
  } finally {
    await log.close();
  }
}

function compare({ frames: written, damaged, ended }: GeneratedTable, { frames, faults, cut }: Read): Outcome {
  const wrong = (message: string): Outcome => ({ kind: 'wrong', message });
  for (const [i, frame] of frames.entries()) {
    const expected = written[i];
    if (expected === undefined || textOf(expected) !== textOf(frame)) {
      return wrong(
        `frame ${i + 1} is ${textOf(frame)}, written was ${expected === undefined ? 'none' : textOf(expected)}`,
      );
    }
    if (Math.abs((expected.at ?? 0) - (frame.at as number)) > TIME_TOLERANCE_MS) {
      return wrong(`frame ${i + 1} is at ${frame.at}, written was ${expected.at}`);
    }
  }
  if (frames.length + (ended ? 0 : cut) !== written.length)
    return wrong(`${frames.length} of ${written.length} frames were read`);
  return faults === damaged ? { kind: 'read' } : wrong(`${faults} lines are counted as lost, not ${damaged}`);
}

function textOf({ id, extended, remote, sent, data }: TableFrame): string {
  return `${id.toString(16)}${extended ? 'x' : ''}${remote ? 'r' : ''}${sent ? 't' : ''} ${data}`;
}
