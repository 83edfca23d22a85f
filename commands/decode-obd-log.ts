/** `vigie decode --obd` for CAN logs: the conversations of a tester with control units. */
import { createReadStream } from 'node:fs';
import { type LogReader, openLog } from '../adapters/can/log/index.ts';
import { headerText, type ObdDecoder, type SignalSet } from '../adapters/obd/index.ts';
import { DiagnosticTraffic, isScanDump, Roles, readAnswer, type TrafficEvent } from '../adapters/obd/recorded/index.ts';
import { EXTENDED } from '../agent/ports.ts';
import { counted } from '../protocol/counted.ts';
import { defined } from '../protocol/defined.ts';
import { reportLog } from './log-summary.ts';
import { hexText, type ObdLine, obdText } from './obd-line.ts';
import { type Format, type Lines, progressBar } from './output.ts';

/** Number of bytes at the start of a file that show whether it is text. */
const HEAD_BYTES = 4096;

/** Returns true if the file contains lines of an adapter or of a scan instead of CAN frames. */
export async function isAnswerText(path: string): Promise<boolean> {
  if (path === '-') return false;
  let head = '';
  try {
    for await (const chunk of createReadStream(path, { end: HEAD_BYTES - 1, encoding: 'latin1' })) head += chunk;
  } catch {
    // The log reader reports a file that cannot be read.
    return false;
  }
  const first = head.split(/[\r\n]+/).find((line) => line.trim() !== '') ?? '';
  return first.startsWith('{"') || isScanDump(first);
}

interface Output {
  readonly decoder: ObdDecoder;
  readonly format: Format;
  readonly lines: Lines;
}

/**
 * Prints a line for each final answer, in the order of the log, and one for each unanswered request. Resolves with the
 * number of lines.
 * @param sets signal sets: the identifiers of their commands are added to the standard ones
 * @throws VigieError as {@link openLog}
 */
export async function decodeObdLog(
  path: string,
  sets: readonly SignalSet[],
  columns: string | undefined,
  { decoder, format, lines }: Output,
): Promise<number> {
  const log = await openLog(path, defined({ columns }));
  let printed = 0;
  const counts = { unanswered: 0, unrequested: 0 };
  const traffic = new DiagnosticTraffic(new Roles(sets), (event) => {
    const line = lineOf(event, decoder, log.buses);
    if (line.unanswered === true) counts.unanswered++;
    if (line.unrequested === true) counts.unrequested++;
    lines.line(format === 'ndjson' ? JSON.stringify(line) : obdText(line));
    printed++;
  });
  try {
    await readAll(log, traffic, lines);
  } finally {
    await log.close();
  }
  traffic.end();
  await lines.flush();
  reportLog(log, path);
  for (const text of summary(traffic, counts, printed)) process.stderr.write(`${path}: ${text}\n`);
  return printed;
}

async function readAll(log: LogReader, traffic: DiagnosticTraffic, lines: Lines): Promise<void> {
  const bar = await progressBar(log.size);
  let frames = 0;
  try {
    for await (const batch of log.batches()) {
      const { id, bus, at, data, offset, length } = batch;
      for (let i = 0; i < batch.count; i++) {
        const from = offset[i] as number;
        traffic.frame(
          id[i] as number,
          bus[i] as number,
          at[i] as number,
          data.subarray(from, from + (length[i] as number)),
        );
      }
      if (batch.count > 0) traffic.advance(at[batch.count - 1] as number);
      frames += batch.count;
      bar.update(log.position, frames);
      if (lines.full) await lines.flush();
    }
  } finally {
    bar.stop();
  }
}

function lineOf(event: TrafficEvent, decoder: ObdDecoder, buses: readonly string[]): ObdLine {
  const { request } = event;
  const asked = request === undefined ? {} : { to: nameOf(request.id), request: hexText(request.payload) };
  if (event.kind === 'unanswered') {
    const { at, bus } = event.request;
    const pending = event.pending.map((id) => `${nameOf(id)} said "response pending", and no answer followed`);
    const error = pending.length === 0 ? undefined : pending.join('; ');
    return { t: at, bus: buses[bus] as string, ...asked, unanswered: true, ...defined({ error }) };
  }
  const { at, bus, id, payload } = event.answer;
  const unit = nameOf(id);
  return {
    t: at,
    bus: buses[bus] as string,
    unit,
    ...asked,
    ...(request === undefined ? { unrequested: true } : {}),
    ...readAnswer(decoder, unit, payload, request?.payload),
  };
}

function nameOf(id: number): string {
  return id >= EXTENDED ? headerText((id & ~EXTENDED) >>> 0).padStart(8, '0') : headerText(id);
}

function summary(
  { lost, repeated, strays }: DiagnosticTraffic,
  { unanswered, unrequested }: { readonly unanswered: number; readonly unrequested: number },
  printed: number,
): readonly string[] {
  return [
    ...(printed === 0 ? ['it has no diagnostics on 7DF, 7E0 to 7EF, 18DB33F1, 18DAxxF1, 18DAF1xx'] : []),
    ...(unanswered === 0 ? [] : [`${counted(unanswered, 'request')} without an answer`]),
    ...(unrequested === 0 ? [] : [`${counted(unrequested, 'answer')} without a request`]),
    ...[...lost].map(([why, count]) => `${counted(count, 'message')} of several frames lost: ${why}`),
    ...(strays === 0 ? [] : [`${counted(strays, 'consecutive frame')} without a first frame`]),
    ...(repeated === 0 ? [] : [`${counted(repeated, 'repeated frame')} skipped`]),
  ];
}
