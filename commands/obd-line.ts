/** Lines of `vigie decode --obd` for answers whose control unit is known. */

import type { ObdDecoder } from '../adapters/obd/index.ts';
import { type AnswerContents, type DumpedExchange, readAnswer } from '../adapters/obd/recorded/index.ts';
import { hex } from '../protocol/hex.ts';
import { standardTexts, valueText } from './finding-text.ts';

/** An answer, or a request without an answer. */
export interface ObdLine extends AnswerContents {
  /** UTC ms of the answer's last frame, or of the unanswered request. */
  readonly t?: number;
  readonly bus?: string;
  /** Control unit, named by the identifier of its answers; undefined for an unanswered request. */
  readonly unit?: string | undefined;
  /** Identifier of the request. */
  readonly to?: string;
  /** The request in hexadecimal; undefined if it is not recorded. */
  readonly request?: string;
  /** True if the request is not in the recording. */
  readonly unrequested?: true;
  /** True if no final answer is in the recording. */
  readonly unanswered?: true;
}

/** Converts an exchange of a scan. */
export function dumpedLine(
  decoder: ObdDecoder,
  exchange: DumpedExchange | { readonly error: string },
): (ObdLine & { readonly to: string }) | { readonly error: string } {
  if (!('request' in exchange)) return exchange;
  const { to, unit, request, answer, error } = exchange;
  const line = { ...(unit === '' ? {} : { unit }), to, request: hexText(request) };
  if (answer === undefined) return { ...line, ...(error === undefined ? { unanswered: true } : { error }) };
  return { ...line, ...readAnswer(decoder, unit, answer, request) };
}

/** Formats bytes as upper-case hex without spaces. */
export function hexText(bytes: Uint8Array): string {
  return hex(bytes).toUpperCase();
}

/** Formats a line so that people can read it. */
export function obdText(line: ObdLine): string {
  const { t, bus, unit, to, request, commands = [], values = {}, refused, data, error } = line;
  const head = [
    ...(t === undefined ? [] : [(t / 1000).toFixed(6)]),
    ...(bus === undefined ? [] : [bus]),
    unit ?? to ?? '',
    request ?? '(no request)',
  ];
  const named = commands.filter((command) => !command.endsWith(request ?? '\0'));
  return [
    ...head,
    ...named,
    ...Object.entries(values).map(([signal, value]) => `${signal}=${valueText(value)}`),
    ...standardTexts(line),
    ...(refused === undefined ? [] : [`refused: ${refused.meaning} (0x${refused.code.toString(16).padStart(2, '0')})`]),
    ...(data === undefined ? [] : [`data ${data}`]),
    ...(line.unanswered === true ? ['no answer'] : []),
    ...(error === undefined ? [] : [`error: ${error}`]),
  ]
    .filter((part) => part !== '')
    .join(' ');
}
