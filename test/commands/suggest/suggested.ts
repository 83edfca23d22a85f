/** Suggestions for DBC text or files, in the form that the tests compare. */
import { readFileSync } from 'node:fs';
import { parse } from 'yaml';
import { type DbcMessage, parseDbc, type Signal } from '../../../adapters/can/dbc/index.ts';
import type { Observed } from '../../../commands/suggest/observed.ts';
import { profileText } from '../../../commands/suggest/profile-text.ts';
import { signalsOf } from '../../../commands/suggest/signals.ts';
import { type Suggestions, suggest } from '../../../commands/suggest/suggest.ts';

export interface WrittenSource {
  readonly signal: string;
  readonly bus?: string;
  readonly scale?: number;
  readonly offset?: number;
  readonly invalid?: readonly number[];
  readonly map?: Readonly<Record<string, unknown>>;
  readonly timeout?: string;
}

export interface Suggested {
  readonly suggestions: Suggestions;
  readonly text: string;
  /** By path: suggested lines, and lines commented out behind a question. */
  readonly lines: Readonly<Record<string, WrittenSource>>;
  readonly questions: Readonly<Record<string, string>>;
}

export function suggestedFor(
  files: readonly string[],
  seen?: (message: DbcMessage, signal: Signal) => Observed | undefined,
): Suggested {
  return suggested(
    files.map((file) => readFileSync(file)),
    files,
    seen,
  );
}

/** Suggestions for the signals of one message, written like after `SG_`. */
export function suggestedForText(
  text: string,
  seen?: (message: DbcMessage, signal: Signal) => Observed | undefined,
): Suggested {
  return suggested([new TextEncoder().encode(text)], ['car.dbc'], seen);
}

/** A DBC with one message of 8 bytes that has these signals. */
export function network(message: string, ...signals: readonly string[]): string {
  return `VERSION ""\n\nBU_: X\n\nBO_ 291 ${message}: 8 X\n${signals.map((signal) => ` SG_ ${signal} X\n`).join('')}`;
}

function suggested(
  contents: readonly Uint8Array[],
  files: readonly string[],
  seen?: (message: DbcMessage, signal: Signal) => Observed | undefined,
): Suggested {
  const described = contents.map((bytes, index) => ({
    messages: parseDbc(bytes, files[index] as string).database.messages,
  }));
  const suggestions = suggest(signalsOf(described, seen), seen !== undefined);
  const text = profileText('cars/mine.yaml', [{ name: 'car', dbc: files }], suggestions, files.join(', '));
  const { status, buses: _, profile: __, name: ___, constants: ____, ...sections } = parse(text);
  const channels = Object.entries(sections).flatMap(([section, members]) =>
    Object.entries(members as object).map(([member, source]) => [`${section}.${member}`, source]),
  );
  const questions = suggestions.lines.flatMap(({ path, question }) =>
    question === undefined ? [] : [[path, question]],
  );
  return {
    suggestions,
    text,
    lines: { ...status, ...Object.fromEntries(channels) },
    questions: Object.fromEntries(questions),
  };
}
