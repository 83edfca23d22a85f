import { createInterface } from 'node:readline';
import { type DecodedExchange, ObdDecoder, type ObdExchange } from '../adapters/obd/index.ts';
import { readStandardAnswers, type StandardAnswers } from '../adapters/obd/j1979/index.ts';
import { counted } from '../protocol/counted.ts';
import { defined } from '../protocol/defined.ts';
import { VigieError } from '../protocol/errors.ts';
import { standardTexts, valueText } from './finding-text.ts';
import type { Format, Lines } from './output.ts';
import { loadSignalSet, standardSets } from './signal-sets.ts';

/**
 * `vigie decode --obd`: decodes answers of an ELM327-class adapter on standard input, one `{command?, response}` per
 * line, with signal sets (default: those of the standard). Prints `{command, values}` or `{error}` for each line in
 * the same order, with `{vin}` and `{faults}` if the answer has them. Resolves with the number of lines that could be
 * decoded.
 * @throws VigieError `input.unreadable` or `input.malformed` for a signal set, with file and line.
 */
export async function decodeObd(signalSetPaths: string[], format: Format, lines: Lines): Promise<number> {
  const decoder = new ObdDecoder((signalSetPaths.length === 0 ? standardSets : signalSetPaths).map(loadSignalSet));
  const input = createInterface({ input: process.stdin, crlfDelay: Number.POSITIVE_INFINITY });
  let number = 0;
  let answers = 0;
  let failed = 0;
  for await (const line of input) {
    number++;
    if (line.trim() === '') continue;
    const outcome = decoded(decoder, line, number);
    answers++;
    if ('error' in outcome) failed++;
    lines.line(format === 'ndjson' ? JSON.stringify(outcome) : text(outcome));
    if (lines.full) await lines.flush();
  }
  await lines.flush();
  if (answers === 0) process.stderr.write('vigie: standard input has no line\n');
  else if (failed === answers) {
    process.stderr.write(`vigie: cannot decode standard input: ${counted(answers, 'line')} failed\n`);
  }
  return answers - failed;
}

type Decoded = Partial<DecodedExchange> & StandardAnswers;
type Outcome = Decoded | { readonly error: string };

function decoded(decoder: ObdDecoder, line: string, number: number): Outcome {
  try {
    const asked = exchange(line, number);
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

function attempt<T>(read: () => T): T | VigieError {
  try {
    return read();
  } catch (error) {
    if (error instanceof VigieError) return error;
    throw error;
  }
}

function exchange(line: string, number: number): ObdExchange {
  const where = `standard input:${number}`;
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

function text(outcome: Outcome): string {
  if ('error' in outcome) return `error: ${outcome.error}`;
  const { command, values = {}, incomplete = [] } = outcome;
  return [
    ...(command === undefined ? [] : [command]),
    ...Object.entries(values).map(([signal, value]) => `${signal}=${valueText(value)}`),
    ...standardTexts(outcome),
    ...incomplete.map((what) => `(incomplete: ${what})`),
  ].join(' ');
}
