import { createInterface } from 'node:readline';
import type { Readable } from 'node:stream';
import type { DecodedExchange, ObdDecoder, ObdExchange } from '../adapters/obd/index.ts';
import { readStandardAnswers, type StandardAnswers } from '../adapters/obd/j1979/index.ts';
import { isScanDump, ScanDump } from '../adapters/obd/recorded/index.ts';
import { counted } from '../protocol/counted.ts';
import { defined } from '../protocol/defined.ts';
import { attempt, VigieError } from '../protocol/errors.ts';
import { standardTexts, valueText } from './finding-text.ts';
import { dumpedLine, type ObdLine, obdText } from './obd-line.ts';
import type { Format, Lines } from './output.ts';

/** Text that contains answers. */
export interface AnswerText {
  readonly stream: Readable;
  /** Name of the text for users. */
  readonly name: string;
}

/**
 * `vigie decode --obd` for text: decodes answers of an ELM327-class adapter, one `{command?, response}` per line, and
 * lines of a scan (see `ScanDump`). Prints `{command, values}` or `{error}` for each line in the same order, with
 * `{vin}` and `{faults}` if the answer contains them. Resolves with the number of lines that could be decoded.
 */
export async function decodeAnswers(
  decoder: ObdDecoder,
  { stream, name }: AnswerText,
  format: Format,
  lines: Lines,
): Promise<number> {
  const input = createInterface({ input: stream, crlfDelay: Number.POSITIVE_INFINITY });
  const dump = new ScanDump();
  let number = 0;
  let answers = 0;
  let failed = 0;
  const print = (outcome: AnswerLine): void => {
    answers++;
    if ('error' in outcome) failed++;
    lines.line(format === 'ndjson' ? JSON.stringify(outcome) : textOf(outcome));
  };
  for await (const line of input) {
    number++;
    if (dump.continues || isScanDump(line)) {
      for (const exchange of dump.line(line)) print(dumpedLine(decoder, exchange));
    } else if (line.trim() !== '') print(decoded(decoder, line, `${name}:${number}`));
    if (lines.full) await lines.flush();
  }
  for (const exchange of dump.end()) print(dumpedLine(decoder, exchange));
  await lines.flush();
  if (dump.assumed > 0) {
    const what = `${counted(dump.assumed, 'line')} of a scan without its service`;
    process.stderr.write(`${name}: ${what} read as service 22, the scanner's default\n`);
  }
  if (answers === 0) process.stderr.write(`vigie: ${name} has no line\n`);
  else if (failed === answers) {
    process.stderr.write(`vigie: cannot decode ${name}: ${counted(answers, 'line')} failed\n`);
  }
  return answers - failed;
}

type Decoded = Partial<DecodedExchange> & StandardAnswers;
/** A line of a scan contains its control unit and its request, or only an error. */
type AnswerLine = Outcome | (ObdLine & { readonly to: string });
type Outcome = Decoded | { readonly error: string };

function decoded(decoder: ObdDecoder, line: string, where: string): Outcome {
  try {
    const asked = exchange(line, where);
    const values = attempt(() => decoder.decode(asked));
    const standard = attempt(() => readStandardAnswers(decoder.messages(asked.response), asked.command));
    const found = standard instanceof VigieError ? {} : standard;
    if (!(values instanceof VigieError)) return { ...values, ...found };
    // An error in a standard answer is more informative than an unknown signal.
    if (standard instanceof VigieError) throw standard;
    if (Object.keys(found).length === 0) throw values;
    return { ...defined({ command: asked.command }), ...found };
  } catch (error) {
    if (error instanceof VigieError) return { error: error.message };
    throw error;
  }
}

function exchange(line: string, where: string): ObdExchange {
  let value: unknown;
  try {
    value = JSON.parse(line);
  } catch (cause) {
    throw new VigieError('input.malformed', 'not JSON; write {"command": "010D", "response": "7E8 03 41 0D 00"}', {
      where,
      cause,
    });
  }
  if (typeof value !== 'object' || value === null)
    throw new VigieError('input.malformed', 'must be an object', { where });
  const { command, response } = value as { command?: unknown; response?: unknown };
  if (typeof response !== 'string') {
    throw new VigieError('input.malformed', '"response" must be the text that the adapter printed', { where });
  }
  if (command === undefined || command === null) return { response };
  if (typeof command !== 'string') {
    throw new VigieError('input.malformed', '"command" must be text such as 010D or 7E0.7E8.2101', { where });
  }
  return { command, response };
}

function textOf(outcome: AnswerLine): string {
  if ('to' in outcome) return obdText(outcome);
  if ('error' in outcome) return `error: ${outcome.error}`;
  const { command, values = {}, incomplete = [] } = outcome;
  return [
    ...(command === undefined ? [] : [command]),
    ...Object.entries(values).map(([signal, value]) => `${signal}=${valueText(value)}`),
    ...standardTexts(outcome),
    ...incomplete.map((what) => `(incomplete: ${what})`),
  ].join(' ');
}
