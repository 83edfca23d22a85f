/** Writes suggestions for the signals of DBC files, and of the logs that were read with them. */

import { existsSync, writeFileSync } from 'node:fs';
import { type BoundDatabase, type DbcMessage, MessageFinder } from '../../adapters/can/dbc/index.ts';
import type { Traffic } from '../../adapters/can/inspect/index.ts';
import { counted } from '../../protocol/counted.ts';
import { defined } from '../../protocol/defined.ts';
import { VigieError } from '../../protocol/errors.ts';
import { SuggestionObserver } from './observer.ts';
import { type ProfileBus, profileText } from './profile-text.ts';
import { type DescribedBus, signalsOf } from './signals.ts';
import { suggest } from './suggest.ts';

export { SuggestionObserver };

/** Name of the bus in a profile with only one. */
const ONLY = 'car';

interface LogsRead {
  readonly observer: SuggestionObserver;
  readonly traffic: Traffic;
}

/**
 * Writes the profile and returns a summary. If no signal fits any path, writes nothing and returns undefined.
 * @throws VigieError `usage.wrong` if the file exists or cannot be written
 */
export function writeSuggestions(
  file: string,
  databases: readonly BoundDatabase[],
  logs: LogsRead | undefined,
): string | undefined {
  const buses = busesOf(databases, logs?.observer);
  const [first] = buses;
  const periods = logs === undefined ? undefined : periodsOf(databases, logs.traffic);
  const described = buses.map(
    ({ name, messages }): DescribedBus => (buses.length > 1 ? { messages, bus: name } : { messages }),
  );
  const signals = signalsOf(described, (message, signal, bus) => {
    const source = buses.find(({ name }) => name === bus) ?? first;
    const observed = logs?.observer.observed(source?.inLog ?? '', message, signal);
    const period = periods?.get(`${source?.inLog} ${message.id}`);
    return observed === undefined || period === undefined ? observed : { ...observed, period };
  });
  const suggestions = suggest(signals, logs !== undefined && logs.observer.buses.length > 0);
  const { lines } = suggestions;
  if (lines.length === 0) return undefined;
  const names = databases.map(({ database }) => database.file);
  const text = profileText(file, buses, suggestions, `${names.join(', ')}${logs === undefined ? '' : ' and a log'}`);
  write(file, text);
  const questions = lines.filter(({ question }) => question !== undefined).length;
  const asked = questions === 0 ? '' : `; ${counted(questions, 'more line')} commented out with a question`;
  return `${file}: ${counted(lines.length - questions, 'path')} mapped${asked}`;
}

interface Bus extends ProfileBus {
  /** Name of the bus in the log; omitted without a log. */
  readonly inLog?: string;
  readonly messages: readonly DbcMessage[];
}

/** Returns the buses of the profile: those of the log if several of them have described frames. */
function busesOf(databases: readonly BoundDatabase[], observer: SuggestionObserver | undefined): Bus[] {
  const inLog = observer?.buses ?? [];
  const [only] = inLog;
  if (observer === undefined || inLog.length < 2) {
    const messages = databases.flatMap(({ database }) => database.messages);
    const dbc = databases.map(({ database }) => database.file);
    return [{ name: ONLY, dbc, messages, ...defined({ inLog: only }) }];
  }
  return inLog.map((bus) => {
    const described = databases.map(({ database }) => {
      const home = homeOf(database.messages, inLog, observer);
      const messages = database.messages.filter((message) => {
        return observer.has(bus, message) || (home === bus && !inLog.some((other) => observer.has(other, message)));
      });
      return { file: database.file, messages };
    });
    const used = described.filter(({ messages }) => messages.length > 0);
    const name = /^[A-Za-z][A-Za-z0-9_-]{0,63}$/.test(bus)
      ? bus
      : `bus${bus.replace(/[^A-Za-z0-9_-]+/g, '-')}`.slice(0, 64);
    return { name, inLog: bus, dbc: used.map(({ file }) => file), messages: used.flatMap(({ messages }) => messages) };
  });
}

/** Returns the bus with most messages of a file: messages that are missing in the log are most likely on this bus. */
function homeOf(
  messages: readonly DbcMessage[],
  buses: readonly string[],
  observer: SuggestionObserver,
): string | undefined {
  const count = (bus: string): number => messages.filter((message) => observer.has(bus, message)).length;
  return [...buses].sort((one, other) => count(other) - count(one))[0];
}

/** Returns the time between frames by bus and DBC identifier, ms. */
function periodsOf(databases: readonly BoundDatabase[], traffic: Traffic): Map<string, number> {
  const finder = new MessageFinder(databases);
  const periods = new Map<string, number>();
  for (const bus of traffic.buses) {
    for (const { id, intervals } of bus.messages) {
      const message = finder.find(bus.name, id);
      const { median } = intervals;
      if (message !== undefined && median !== undefined) periods.set(`${bus.name} ${message.id}`, median);
    }
  }
  return periods;
}

/** @throws VigieError `usage.wrong` if the file exists: an edited profile must not be replaced */
export function refuseExisting(file: string): void {
  if (existsSync(file)) throw new VigieError('usage.wrong', `${file} exists: name another file, or remove it`);
}

function write(file: string, text: string): void {
  try {
    writeFileSync(file, text, { flag: 'wx' });
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    if (code === 'EEXIST') refuseExisting(file);
    const reason = code === 'ENOENT' ? 'there is no such folder' : message;
    throw new VigieError('usage.wrong', `${file} cannot be written: ${reason}`, { cause: error });
  }
}
