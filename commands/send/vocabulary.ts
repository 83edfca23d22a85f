/** Parses command-line words for commands to a car, and returns the body of the command. */

import { instantOf } from '../../protocol/calendar.ts';
import { defined } from '../../protocol/defined.ts';
import { formatDuration } from '../../protocol/duration.ts';
import type { VigieError } from '../../protocol/errors.ts';
import { nearest } from '../../protocol/nearest.ts';
import type { RemoteWords } from '../../protocol/remote/kind.ts';
import { type RemoteType, remoteKinds } from '../../protocol/remote/table.ts';
import { weekdays } from '../../protocol/schema/monitor/schedule.ts';
import { orderUsages } from './orders.ts';
import { type Details, type SendRequest, wrong } from './request.ts';

/** Parser for commands that are not a single word of the kind's `bodies`. */
interface Reader {
  /** Names of the options that the command accepts. */
  readonly details?: readonly (keyof Details)[];
  /** Returns the body; undefined for invalid words. */
  read(words: readonly string[], details: Details): object | undefined;
}

const readers: Partial<Record<RemoteType, Reader>> = {
  ElectricBatteryChargingRequest: { details: ['at', 'until', 'days', 'slot', 'level', 'type'], read: charge },
  ThermalPreconditioning: { details: ['at', 'days', 'slot', 'once'], read: precondition },
  Stolen: { details: ['running', 'shutdown'], read: stolen },
  Navigation: { read: navigate },
};

/** One line for each command, for help and error messages. */
export const usages: readonly string[] = remoteKinds.map(({ words }) => words.usage);

/** Returns the command for the words. @throws VigieError `usage.wrong` with the valid commands, or the invalid part */
export function requestOf(what: string, words: readonly string[], details: Details): SendRequest {
  const kind = remoteKinds.find(({ words: { verb } }) => verb === what);
  const said = [what, ...words].join(' ');
  if (kind === undefined) {
    const meant = meantUsage([what, ...words]);
    const advice = meant === undefined ? '; known:' : `; did you mean "${meant}"? Known are:`;
    throw wrong(`cannot send "${said}"${advice}\n  ${[...usages, ...orderUsages].join('\n  ')}`);
  }
  const { type, words: known } = kind;
  const reader = readers[type];
  for (const name of Object.keys(details) as (keyof Details)[]) {
    if (!reader?.details?.includes(name)) throw wrong(`"${what}" has no --${name}: ${known.usage}`);
  }
  const plain = Object.keys(details).length === 0 ? oneWord(known, words) : undefined;
  const body = plain ?? reader?.read(words, details);
  if (body === undefined) throw wrong(`cannot send "${said}": ${known.usage}`);
  const fault = kind.fault?.(body);
  if (fault !== undefined) throw wrong(`cannot send "${said}": ${fault}`);
  return { kind: type, body };
}

/** Returns the usage of the command that best matches the words in any order: `lock door` for `doors lock`. */
function meantUsage(said: readonly string[]): string | undefined {
  for (const word of said) {
    const [verb] = nearest(
      word,
      remoteKinds.map(({ words: { verb: known } }) => known),
      1,
    );
    const kind = remoteKinds.find(({ words: { verb: known } }) => known === verb);
    if (kind === undefined) continue;
    const rest = said.find((one) => one !== word && Object.hasOwn(kind.words.bodies, one));
    return rest === undefined ? kind.words.usage : `${kind.words.verb} ${rest}`;
  }
  return undefined;
}

function oneWord({ bodies, alone }: RemoteWords, [word, ...more]: readonly string[]): object | undefined {
  if (more.length > 0) return undefined;
  if (word === undefined) return alone;
  return Object.hasOwn(bodies, word) ? bodies[word] : undefined;
}

function charge([word, ...more]: readonly string[], details: Details): object | undefined {
  const { at, until, days, slot, level, type } = details;
  if (more.length > 0 || Object.keys(details).length === 0) return undefined;
  if (word !== undefined) throw together('charge', word, details);
  const preferences = {
    ...(level === undefined ? {} : { level: oneOf('level', `Level${level}`, 'Level', ['1', '2', '3', '4', '5']) }),
    ...(type === undefined ? {} : { type: capital(oneOf('type', type, '', ['partial', 'full'])) }),
  };
  const plan = at === undefined ? undefined : chargePlan(at, until, days, slot);
  if (plan === undefined && (until ?? days ?? slot) !== undefined) throw wrong('--until, --days and --slot need --at');
  const preferred = Object.keys(preferences).length > 0;
  return { ...defined({ schedule: plan }), ...(preferred ? { preferences } : {}) };
}

/** Returns a single charge, or a program if there is an end, a repetition or a slot. */
function chargePlan(at: string, until?: string, days?: string, slot?: string): object {
  if (until === undefined && days === undefined && slot === undefined) {
    return { nextDelayedTime: instantOf(at) === undefined ? timeOfDay('at', at) : at };
  }
  const program = {
    start: timeOfDay('at', at),
    enabled: true,
    ...(until === undefined ? {} : { end: timeOfDay('until', until) }),
    ...(days === undefined ? {} : { occurence: { day: daysOf(days) } }),
    ...(slot === undefined ? {} : { slot: whole('slot', slot, 1, 4) }),
  };
  return { programs: [program] };
}

function precondition([word, ...more]: readonly string[], details: Details): object | undefined {
  const { at, days, slot, once } = details;
  if (more.length > 0) return undefined;
  if (word === 'delete') {
    if (slot === undefined || (at ?? days ?? once) !== undefined)
      throw wrong('"precondition delete" needs --slot, alone');
    return { airConditioning: { programs: [{ slot: whole('slot', slot, 1, 4), actionsType: 'Delete' }] } };
  }
  if (Object.keys(details).length === 0) return undefined;
  if (word !== undefined) throw together('precondition', word, details);
  if (slot === undefined || at === undefined) throw wrong('a program needs --slot and --at');
  const program = {
    slot: whole('slot', slot, 1, 4),
    enabled: true,
    start: timeOfDay('at', at),
    ...(once === true ? { recurrence: 'None' } : {}),
    occurence: { day: days === undefined ? [...weekdays] : daysOf(days) },
    actionsType: 'Set',
  };
  return { airConditioning: { programs: [program] } };
}

function stolen(words: readonly string[], { running, shutdown }: Details): object | undefined {
  if (words.length === 1 && words[0] === 'track') {
    const period = {
      ...(running === undefined ? {} : { running: whole('running', running, 5, 86_400) }),
      ...(shutdown === undefined ? {} : { shutdown: whole('shutdown', shutdown, 60, 86_400) }),
    };
    return { trackingPeriod: period };
  }
  if ((running ?? shutdown) !== undefined) throw wrong('--running and --shutdown belong to "stolen track"');
  return undefined;
}

function navigate(words: readonly string[]): object | undefined {
  if (words.length === 0 || words.length > 10) return undefined;
  const positions = words.map((word) => {
    const coordinates = word.split(',').map((part) => (part.trim() === '' ? Number.NaN : Number(part)));
    const [longitude = Number.NaN, latitude = Number.NaN] = coordinates;
    const sound = coordinates.length === 2 && Math.abs(longitude) <= 180 && Math.abs(latitude) <= 90;
    if (!sound) throw wrong(`"${word}" is not a place: longitude, a comma, latitude, in degrees, such as 2.35,48.85`);
    return { type: 'Point', coordinates };
  });
  return { positions };
}

/** Returns the error for a word that takes effect now, given together with options that apply later. */
function together(what: string, word: string, details: Details): VigieError {
  const names = Object.keys(details).map((name) => `--${name}`);
  return wrong(`"${what} ${word}" is for now and has no ${names.join(', ')}; leave ${word} out for a plan`);
}

/** Returns a time such as `23:30` in the format of the interface. */
function timeOfDay(option: string, text: string): string {
  const [, hours, minutes] = /^([01]?\d|2[0-3]):([0-5]\d)$/.exec(text) ?? [];
  if (hours === undefined) throw wrong(`--${option} must be a time of day such as 23:30, is ${text}`);
  return formatDuration(Number(hours) * 3600 + Number(minutes) * 60);
}

function daysOf(text: string): string[] {
  return text.split(',').map((day) => oneOf('days', capital(day.trim()), '', weekdays));
}

function oneOf(option: string, text: string, prefix: string, known: readonly string[]): string {
  if (known.some((name) => prefix + name === text)) return text;
  throw wrong(`--${option} must be ${known.join(', ')}, is ${text.slice(prefix.length)}`);
}

function whole(option: string, text: string, least: number, most: number): number {
  const number = Number(text);
  if (/^\d+$/.test(text) && number >= least && number <= most) return number;
  throw wrong(`--${option} must be a whole number of ${least} to ${most}, is ${text}`);
}

function capital(text: string): string {
  return text.slice(0, 1).toUpperCase() + text.slice(1).toLowerCase();
}
