/** What people can ask of a car, in their words, and the body that it comes to. */

import { instantOf } from '../../protocol/calendar.ts';
import type { CommandBodyKind } from '../../protocol/command.ts';
import { formatDuration } from '../../protocol/duration.ts';
import type { VigieError } from '../../protocol/errors.ts';
import { weekdays } from '../../protocol/schema/monitor/schedule.ts';
import { bodyFault } from '../../protocol/schema/remote/rules.ts';
import { orderUsages } from './orders.ts';
import { type CommandRequest, type Details, wrong } from './request.ts';

interface Verb {
  /** As the help shows it. */
  readonly usage: string;
  /** Names of details that it knows. */
  readonly details?: readonly (keyof Details)[];
  /** Undefined when it cannot be meant. */
  read(words: readonly string[], details: Details): CommandRequest | undefined;
}

/** Two words, each with its body. */
function choice(kind: CommandBodyKind, bodies: Readonly<Record<string, object>>, otherwise?: string): Verb['read'] {
  return ([word = otherwise, ...more]) => {
    if (word === undefined || more.length > 0 || !Object.hasOwn(bodies, word)) return undefined;
    return { kind, body: bodies[word] as object };
  };
}

const verbs: Readonly<Record<string, Verb>> = {
  doors: {
    usage: 'doors lock|unlock',
    read: choice('Doors', { lock: { state: 'Locked' }, unlock: { state: 'Unlocked' } }),
  },
  lights: { usage: 'lights [on|off]', read: choice('Lights', { on: { on: true }, off: { on: false } }, 'on') },
  horn: {
    usage: 'horn [on|off]',
    read: choice('Horn', { on: { state: 'Activated' }, off: { state: 'Unactivated' } }, 'on'),
  },
  wakeup: { usage: 'wakeup', read: (words) => (words.length === 0 ? { kind: 'WakeUp', body: {} } : undefined) },
  charge: {
    usage:
      'charge [on|off|never] | --at TIME [--until TIME] [--days DAYS] [--slot N] | [--level 1-5] [--type partial|full]',
    details: ['at', 'until', 'days', 'slot', 'level', 'type'],
    read: charge,
  },
  precondition: {
    usage: 'precondition [on|off] | delete --slot 1-4 | --slot 1-4 --at TIME [--days DAYS] [--once]',
    details: ['at', 'days', 'slot', 'once'],
    read: precondition,
  },
  stolen: {
    usage: 'stolen on|off|track [--running SECONDS] [--shutdown SECONDS]',
    details: ['running', 'shutdown'],
    read: stolen,
  },
  immobilize: {
    usage: 'immobilize on|off',
    read: choice('Immobilization', { on: { activate: true }, off: { activate: false } }),
  },
  navigate: { usage: 'navigate LON,LAT…', read: navigate },
};

/** One line for each command, for help and error messages. */
export const usages: readonly string[] = Object.values(verbs).map(({ usage }) => usage);

/** What the words ask for. @throws VigieError `usage.wrong` with what is known, or which part cannot be meant */
export function requestOf(what: string, words: readonly string[], details: Details): CommandRequest {
  const verb = Object.hasOwn(verbs, what) ? verbs[what] : undefined;
  const said = [what, ...words].join(' ');
  if (verb === undefined) throw wrong(`cannot send "${said}"; known:\n  ${[...usages, ...orderUsages].join('\n  ')}`);
  for (const name of Object.keys(details) as (keyof Details)[]) {
    if (!verb.details?.includes(name)) throw wrong(`"${what}" has no --${name}: ${verb.usage}`);
  }
  const request = verb.read(words, details);
  if (request === undefined) throw wrong(`cannot send "${said}": ${verb.usage}`);
  const fault = bodyFault(request.kind, request.body);
  if (fault !== undefined) throw wrong(`cannot send "${said}": ${fault}`);
  return request;
}

function charge(words: readonly string[], details: Details): CommandRequest | undefined {
  const { at, until, days, slot, level, type } = details;
  const kind = 'ElectricBatteryChargingRequest';
  const [word, ...more] = words;
  if (more.length > 0) return undefined;
  if (word !== undefined || Object.keys(details).length === 0) {
    if (Object.keys(details).length > 0) throw alone('charge', word, details);
    // No program at all is how the interface says that none is wanted any more.
    if (word === 'never') return { kind, body: { schedule: { programs: [] } } };
    return choice(kind, { on: { immediate: true }, off: { immediate: false } }, 'on')(words, {});
  }
  const preferences = {
    ...(level === undefined ? {} : { level: oneOf('level', `Level${level}`, 'Level', ['1', '2', '3', '4', '5']) }),
    ...(type === undefined ? {} : { type: capital(oneOf('type', type, '', ['partial', 'full'])) }),
  };
  const plan = at === undefined ? undefined : chargePlan(at, until, days, slot);
  if (plan === undefined && (until ?? days ?? slot) !== undefined) throw wrong('--until, --days and --slot need --at');
  const preferred = Object.keys(preferences).length > 0;
  return { kind, body: { ...(plan === undefined ? {} : { schedule: plan }), ...(preferred ? { preferences } : {}) } };
}

/** Once at a time, or a program when it ends, repeats or has a place. */
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

function precondition(words: readonly string[], details: Details): CommandRequest | undefined {
  const { at, days, slot, once } = details;
  const kind = 'ThermalPreconditioning';
  const air = (airConditioning: object): CommandRequest => ({ kind, body: { airConditioning } });
  const [word, ...more] = words;
  if (more.length > 0) return undefined;
  if (word === 'delete') {
    if (slot === undefined || (at ?? days ?? once) !== undefined)
      throw wrong('"precondition delete" needs --slot, alone');
    return air({ programs: [{ slot: whole('slot', slot, 1, 4), actionsType: 'Delete' }] });
  }
  if (Object.keys(details).length === 0) {
    return choice(
      kind,
      { on: { airConditioning: { immediate: true } }, off: { airConditioning: { immediate: false } } },
      'on',
    )(words, {});
  }
  if (word !== undefined) throw alone('precondition', word, details);
  if (slot === undefined || at === undefined) throw wrong('a program needs --slot and --at');
  const program = {
    slot: whole('slot', slot, 1, 4),
    enabled: true,
    start: timeOfDay('at', at),
    ...(once === true ? { recurrence: 'None' } : {}),
    occurence: { day: days === undefined ? [...weekdays] : daysOf(days) },
    actionsType: 'Set',
  };
  return air({ programs: [program] });
}

function stolen(words: readonly string[], { running, shutdown }: Details): CommandRequest | undefined {
  const kind = 'Stolen';
  if (words.length === 1 && words[0] === 'track') {
    const period = {
      ...(running === undefined ? {} : { running: whole('running', running, 5, 86_400) }),
      ...(shutdown === undefined ? {} : { shutdown: whole('shutdown', shutdown, 60, 86_400) }),
    };
    return { kind, body: { trackingPeriod: period } };
  }
  if ((running ?? shutdown) !== undefined) throw wrong('--running and --shutdown belong to "stolen track"');
  return choice(kind, { on: { stolen: true }, off: { stolen: false } })(words, {});
}

function navigate(words: readonly string[]): CommandRequest | undefined {
  if (words.length === 0 || words.length > 10) return undefined;
  const positions = words.map((word) => {
    const coordinates = word.split(',').map((part) => (part.trim() === '' ? Number.NaN : Number(part)));
    const [longitude = Number.NaN, latitude = Number.NaN] = coordinates;
    const sound = coordinates.length === 2 && Math.abs(longitude) <= 180 && Math.abs(latitude) <= 90;
    if (!sound) throw wrong(`"${word}" is no place: longitude, a comma, latitude, in degrees, such as 2.35,48.85`);
    return { type: 'Point', coordinates };
  });
  return { kind: 'Navigation', body: { positions } };
}

/** A word for now, and details of later. */
function alone(what: string, word: string | undefined, details: Details): VigieError {
  const names = Object.keys(details).map((name) => `--${name}`);
  return wrong(`"${what} ${word}" is for now and has no ${names.join(', ')}; leave ${word} out for a plan`);
}

/** `23:30` as the interface writes it. */
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
