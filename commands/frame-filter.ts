/** Options of `decode` and `inspect` that select frames. */

import type { Command } from 'commander';
import type { BoundDatabase } from '../adapters/can/dbc/index.ts';
import { type DbcMessage, messageNamed, type Signal, signalNamed } from '../adapters/can/dbc/index.ts';
import {
  FrameFilter,
  type IdentifierRange,
  identifierRange,
  type Moment,
} from '../adapters/can/inspect/frame-filter.ts';
import { defined } from '../protocol/defined.ts';
import { VigieError } from '../protocol/errors.ts';
import { suggestion } from '../protocol/nearest.ts';

export interface FilterOptions {
  readonly ids?: string;
  readonly messages?: string;
  readonly signals?: string;
  readonly from?: string;
  readonly to?: string;
  readonly changes?: boolean;
}

/** Selected messages with their selected signals. */
export type Chosen = ReadonlyMap<DbcMessage, readonly Signal[]>;

export function withFilters(command: Command): Command {
  return command
    .option('--ids <list>', 'only these identifiers, e.g. 1A0,300-3FF,18FEEE00: up to 3 digits are 11 bits, more 29')
    .option('--messages <list>', 'only these messages of the DBC, e.g. ENGINE,BRAKES')
    .option('--signals <list>', 'only these signals of the DBC, e.g. ENGINE.Speed,Door')
    .option('--from <time>', 'only frames from this time on: seconds after the first frame of a log, or an ISO time')
    .option('--to <time>', 'only frames up to this time, as --from')
    .option('--changes', 'only frames that differ from the one before of their identifier');
}

/** Returns the names of the options that were given, as written on the command line. */
export function usedFilters(options: FilterOptions): string[] {
  const names = ['ids', 'messages', 'signals', 'from', 'to', 'changes'] as const;
  return names.filter((name) => options[name] !== undefined).map((name) => `--${name}`);
}

/**
 * @returns the messages and signals that `--messages` and `--signals` select; undefined without these options
 * @throws VigieError `usage.wrong` for a name that occurs in no database
 */
export function chosenOf(
  { messages, signals }: FilterOptions,
  databases: readonly BoundDatabase[],
): Chosen | undefined {
  if (messages === undefined && signals === undefined) return undefined;
  if (databases.length === 0) {
    throw new VigieError('usage.wrong', `--${messages === undefined ? 'signals' : 'messages'} needs --dbc FILE`);
  }
  const named = messages === undefined ? allMessages(databases) : messagesNamed(messages, databases);
  if (signals === undefined) return new Map(named.map((message) => [message, message.signals]));
  const chosen = new Map<DbcMessage, Signal[]>();
  for (const name of namesIn(signals)) {
    const found = named.flatMap((message) => {
      const signal = signalIn(message, name);
      return signal === undefined ? [] : [{ message, signal }];
    });
    if (found.length === 0) {
      const known = named.flatMap((message) => message.signals.map((signal) => `${message.name}.${signal.name}`));
      throw unknownName('signal', name, [...known, ...known.map((one) => one.slice(one.indexOf('.') + 1))]);
    }
    for (const { message, signal } of found) {
      const others = chosen.get(message) ?? [];
      if (!others.includes(signal)) chosen.set(message, [...others, signal]);
    }
  }
  return chosen;
}

/**
 * Returns a filter for frames; undefined if no option requires one.
 * @param compared for `--changes`: the whole payload, or only the signals in the databases
 * @throws VigieError `usage.wrong` for invalid options
 */
export function filterOf(
  options: FilterOptions,
  databases: readonly BoundDatabase[],
  compared: 'payload' | 'known',
): FrameFilter | undefined {
  if (usedFilters(options).length === 0) return undefined;
  const { ids, from, to, changes } = options;
  const chosen = chosenOf(options, databases);
  return new FrameFilter(
    {
      ...(ids === undefined ? {} : { identifiers: namesIn(ids).map(rangeOf) }),
      ...defined({ chosen }),
      ...(from === undefined ? {} : { from: momentOf(from, '--from') }),
      ...(to === undefined ? {} : { to: momentOf(to, '--to') }),
      ...(changes === true ? { changes: compared } : {}),
    },
    databases,
  );
}

function allMessages(databases: readonly BoundDatabase[]): DbcMessage[] {
  return databases.flatMap(({ database }) => database.messages);
}

function messagesNamed(list: string, databases: readonly BoundDatabase[]): DbcMessage[] {
  return namesIn(list).flatMap((name) => {
    const found = databases.flatMap(({ database }) => messageNamed(database, name) ?? []);
    if (found.length === 0) {
      throw unknownName(
        'message',
        name,
        allMessages(databases).map((message) => message.name),
      );
    }
    return found;
  });
}

/** Finds `Signal` or `MESSAGE.Signal` in this message. The names themselves may contain dots. */
function signalIn(message: DbcMessage, name: string): Signal | undefined {
  const prefix = [message.name, message.symbol].find((one) => name.startsWith(`${one}.`));
  const own = prefix === undefined ? undefined : signalNamed(message, name.slice(prefix.length + 1));
  return own ?? signalNamed(message, name);
}

function namesIn(list: string): string[] {
  const names = list
    .split(',')
    .map((name) => name.trim())
    .filter((name) => name !== '');
  if (names.length === 0) throw new VigieError('usage.wrong', `'${list}' names nothing: give a list such as A,B`);
  return names;
}

function rangeOf(text: string): IdentifierRange {
  const range = identifierRange(text);
  if (range !== undefined) return range;
  throw new VigieError(
    'usage.wrong',
    `--ids: '${text}' is not an identifier or range: give hexadecimal digits, up to 3 for 11 bits (000 to 7FF), more for 29`,
  );
}

function momentOf(text: string, option: string): Moment {
  if (/^\d+(\.\d+)?$/.test(text)) return { at: Number(text) * 1000, relative: true };
  const at = /^\d{4}-\d\d-\d\d/.test(text) ? Date.parse(text) : Number.NaN;
  if (!Number.isNaN(at)) return { at, relative: false };
  throw new VigieError(
    'usage.wrong',
    `${option}: '${text}' is not a time: give seconds after the first frame, or an ISO time such as 2026-01-31T08:30:00Z`,
  );
}

function unknownName(what: string, name: string, known: readonly string[]): VigieError {
  const hint = suggestion(name, known);
  return new VigieError('usage.wrong', `no DBC has a ${what} ${name}${hint === undefined ? '' : `: ${hint}`}`);
}
