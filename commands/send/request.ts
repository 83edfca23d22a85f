import { readDuration } from '../../config/quantities.ts';
import type { CommandBodyKind } from '../../protocol/command.ts';
import { type Diagnostic, formatDiagnostic } from '../../protocol/diagnostic.ts';
import { VigieError } from '../../protocol/errors.ts';

/** A command to send: its kind and its body. */
export interface SendRequest {
  readonly kind: CommandBodyKind;
  readonly body: object;
}

/** Options of a command. */
export interface Details {
  /** Time of day such as 23:30, or a date-time with its offset. */
  readonly at?: string;
  readonly until?: string;
  /** Days such as Mon,Tue. */
  readonly days?: string;
  readonly slot?: string;
  readonly once?: boolean;
  readonly level?: string;
  readonly type?: string;
  /** Time between positions in s. */
  readonly running?: string;
  readonly shutdown?: string;
  /** Name of a monitor, callback or key. */
  readonly id?: string;
  /** Side of the API to which a callback belongs: fleet or user. */
  readonly side?: string;
  /** Time between readings, such as 100ms. */
  readonly interval?: string;
  /** Condition on a path of Status, such as kinetic.speed>=10. */
  readonly while?: string;
  /** Durations before and after a capture, such as 10s. */
  readonly before?: string;
  readonly after?: string;
  /** Names of buses, and CAN identifiers in hexadecimal, separated by commas. */
  readonly buses?: string;
  readonly identifiers?: string;
  /** Kinds of command, separated by commas. */
  readonly kinds?: string;
}

/** Returns the error for invalid words. The message lists the valid ones. */
export function wrong(message: string): VigieError {
  return new VigieError('usage.wrong', message);
}

/** Returns the error for a file that cannot be sent, with its faults. */
export function faulty(file: string, diagnostics: readonly Diagnostic[]): VigieError {
  const errors = diagnostics.filter(({ severity }) => severity === 'error');
  return new VigieError('configuration.wrong', `it was not sent:\n  ${errors.map(formatDiagnostic).join('\n  ')}`, {
    where: file,
  });
}

/** Format of a duration greater than zero. */
export const duration = /^(?=.*[1-9])\d{1,7}(\.\d{1,3})?(ms|s|m|h|d)$/;

/** Parses a duration such as 100ms, or 0, to milliseconds. @throws VigieError `usage.wrong` */
export function timeOf(text: string, what: string): number {
  if (text === '0') return 0;
  if (duration.test(text)) return readDuration(text);
  throw wrong(`${what} must be a time such as 100ms, 5s or 2m, or 0, is ${text}`);
}

/** Checks a name that the sender chooses. @throws VigieError `usage.wrong` */
export function named(name: string): string {
  if (/^[A-Za-z0-9_-]{1,64}$/.test(name)) return name;
  throw wrong(`"${name}" is not a name: 1 to 64 letters, digits, - and _`);
}
