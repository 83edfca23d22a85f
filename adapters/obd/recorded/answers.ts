import { VigieError } from '../../../protocol/errors.ts';
import type { ObdDecoder } from '../decoder.ts';
import { hexOf } from '../hex.ts';
import { parameterLength } from '../j1979/lengths.ts';
import { readStandardAnswers, type StandardAnswers } from '../j1979/standard-answers.ts';
import { NEGATIVE, negativeResponseMeaning } from '../negative-response.ts';
import type { ObdValue } from '../signal-format.ts';

/** Contents of one final answer. */
export interface AnswerContents extends StandardAnswers {
  /** Commands of the signal sets that it answers. */
  readonly commands?: readonly string[];
  /** Values by signal identifier. */
  readonly values?: Readonly<Record<string, ObdValue>>;
  /** A negative answer, with its code, 0..255 (ISO 14229-1 Table A.1). */
  readonly refused?: { readonly service: number; readonly code: number; readonly meaning: string };
  /** The whole answer in hexadecimal, if no signal set describes all of it. */
  readonly data?: string;
  /** Reason why a described answer has no values. */
  readonly error?: string;
}

const CURRENT_DATA = 0x41;
const DATA_BY_IDENTIFIER = 0x22;

/**
 * Reads a final answer of a control unit. Values are returned only if the bytes can belong to nothing else.
 * @param unit header of its answers, e.g. `7E8`
 * @param request the request, if it is known
 */
export function readAnswer(
  decoder: ObdDecoder,
  unit: string,
  answer: Uint8Array,
  request: Uint8Array | undefined,
): AnswerContents {
  if (answer[0] === NEGATIVE) {
    const [, service = 0, code = 0] = answer;
    return { refused: { service, code, meaning: negativeResponseMeaning(code) } };
  }
  const data = hexOf(answer);
  if (request?.[0] === DATA_BY_IDENTIFIER && request.length > 3) {
    const count = Math.floor((request.length - 1) / 2);
    return { data, error: `the request names ${count} identifiers, and the answer does not say where each begins` };
  }
  const message = { header: unit, address: undefined, data: answer, complete: true };
  let standard: StandardAnswers;
  try {
    standard = readStandardAnswers([message]);
  } catch (error) {
    if (!(error instanceof VigieError)) throw error;
    return { data, error: error.message };
  }
  return { ...standard, ...valuesOf(decoder, unit, answer, Object.keys(standard).length > 0) };
}

function valuesOf(decoder: ObdDecoder, unit: string, answer: Uint8Array, described: boolean): AnswerContents {
  const commands: string[] = [];
  const values: Record<string, ObdValue> = Object.create(null);
  let isWhole = true;
  for (const part of partsOf(answer)) {
    try {
      const decoded = decoder.decodeMessage(unit, part);
      commands.push(decoded.command);
      for (const [signal, value] of Object.entries(decoded.values)) values[signal] ??= value;
    } catch (error) {
      if (!(error instanceof VigieError)) throw error;
      if (error.code !== 'input.unknown') return { data: hexOf(answer), error: error.message };
      isWhole = false;
    }
  }
  return {
    ...(commands.length === 0 ? {} : { commands, values }),
    ...(isWhole || described ? {} : { data: hexOf(answer) }),
  };
}

/**
 * Splits an answer of service 01 by its parameters (SAE J1979 §6.1.2.2). The known length of a parameter determines
 * the start of the next one; if the bytes do not fit, the answer stays whole.
 */
function partsOf(answer: Uint8Array): readonly Uint8Array[] {
  if (answer[0] !== CURRENT_DATA) return [answer];
  const parts: Uint8Array[] = [];
  for (let at = 1; at < answer.length; ) {
    const end = at + 1 + (parameterLength(answer[at] as number) ?? answer.length);
    if (end > answer.length) return [answer];
    parts.push(Uint8Array.of(CURRENT_DATA, ...answer.subarray(at, end)));
    at = end;
  }
  return parts;
}
