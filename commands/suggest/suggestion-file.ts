/** Writes suggestions for the signals of DBC files, using the logs that were read with these files. */

import { existsSync, writeFileSync } from 'node:fs';
import { type BoundDatabase, type DbcMessage, MessageFinder } from '../../adapters/can/dbc/index.ts';
import type { Coverage, Traffic } from '../../adapters/can/inspect/index.ts';
import { counted } from '../../protocol/counted.ts';
import { defined } from '../../protocol/defined.ts';
import { VigieError } from '../../protocol/errors.ts';
import { chooseDatabases } from './choose-databases.ts';
import { SuggestionObserver } from './observer.ts';
import { type ProfileBus, profileText } from './profile-text.ts';
import { type DescribedBus, signalsOf } from './signals.ts';
import { suggest } from './suggest.ts';

export { SuggestionObserver };

/** Name of the bus in a profile that has only one. */
const ONLY = 'car';

interface LogsRead {
  readonly observer: SuggestionObserver;
  readonly traffic: Traffic;
}

/** Result of {@link writeSuggestions}. */
interface Written {
  /** Undefined if no signal fits any path, so that nothing was written. */
  readonly summary?: string;
  /** Warnings about DBC files that probably describe another car. */
  readonly warnings: readonly string[];
}

/**
 * Writes the profile, unless no signal fits any path.
 * @throws VigieError `usage.wrong` if the file exists or cannot be written
 */
export function writeSuggestions(file: string, given: readonly BoundDatabase[], logs: LogsRead | undefined): Written {
  const choice = logs === undefined ? undefined : chooseDatabases(given, logs.traffic);
  const databases = choice?.used ?? given;
  logs?.observer.use(databases);
  const summary = writeFor(file, databases, logs);
  const isUsed = ({ database }: Coverage): boolean => databases.some((bound) => bound.database === database);
  const warnings = (choice?.wrong ?? []).map((coverage) => warningOf(coverage, !isUsed(coverage)));
  return { ...defined({ summary }), warnings };
}

function warningOf({ database, fitting, frames }: Coverage, isLeftOut: boolean): string {
  const share = frames === 0 ? 0 : Math.floor((100 * fitting) / frames);
  const left = isLeftOut ? ', and its signals are left out' : '';
  return `${database.file} fits ${share} % of the frames: it is probably of another car or bus${left}`;
}

function writeFor(file: string, databases: readonly BoundDatabase[], logs: LogsRead | undefined): string | undefined {
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
  const used = new Set(lines.map(({ facts }) => facts.message));
  const needed = databases.filter(({ database }) => database.messages.some((message) => used.has(message)));
  const files = new Set(needed.map(({ database }) => database.file));
  const listed = buses.map((bus) => ({ ...bus, dbc: bus.dbc.filter((path) => logs === undefined || files.has(path)) }));
  const text = profileText(file, listed, suggestions, `${names.join(', ')}${logs === undefined ? '' : ' and a log'}`);
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

/** Returns the bus with most messages of a file: its messages that the log lacks are most likely on this bus. */
function homeOf(
  messages: readonly DbcMessage[],
  buses: readonly string[],
  observer: SuggestionObserver,
): string | undefined {
  const count = (bus: string): number => messages.filter((message) => observer.has(bus, message)).length;
  return [...buses].sort((one, other) => count(other) - count(one))[0];
}

/** Returns the time in ms between frames, by bus and DBC identifier. */
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
