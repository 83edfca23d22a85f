/** Formats suggestions as a profile in which each line has its reason. */
import { basename, dirname, relative, sep } from 'node:path';
import { writeDuration } from '../../config/quantities.ts';
import { channelByPath } from '../../protocol/channels.ts';
import { slotByPath } from '../../protocol/slots.ts';
import { rounded } from './number.ts';
import { nameOf, type Suggestion, type Suggestions } from './suggest.ts';

export interface ProfileBus {
  readonly name: string;
  /** Paths of its DBC files. */
  readonly dbc: readonly string[];
}

const WIDTH = 110;
const VALIDITY =
  'Lines that do not name a signal for their validity have none: their values count from the first frame on.';
/** A value is stale after this number of its message's periods. The second constant is the shortest such time in ms. */
const PERIODS = 10;
const SHORTEST = 2000;
/** Longest plausible period of a message in ms. */
const LONGEST = 3_600_000;

/** Kinds of energy of a car that has such paths. They are constants, because no signal carries them. */
const kinds = { Fuel: 'FossilEnergy', Electric: 'ElectricEnergy' } as const;

/** @param file path of the profile to write; paths of DBC files are relative to it */
export function profileText(
  file: string,
  buses: readonly ProfileBus[],
  { lines, missing }: Suggestions,
  from: string,
): string {
  const several = buses.length > 1;
  const status = lines.filter(({ path }) => !channelByPath.has(path));
  const channels = lines.filter(({ path }) => channelByPath.has(path));
  const active = status.filter(({ question }) => question === undefined);
  const facts = constants(active);
  const known = new Set(facts.map(({ path }) => path));
  const text = [
    ...comment('', `A first profile, suggested from ${from}. Each line has its reason; compare it with your car.`),
    ...(lines.some(({ facts }) => facts.observed !== undefined) ? comment('', VALIDITY) : []),
    ...openQuestions(lines),
    'profile: 1',
    `name: ${profileName(file)}`,
    'buses:',
    ...buses.map((bus) => `  - { name: ${bus.name}, dbc: [${dbcFiles(file, bus)}] }`),
    ...constantLines(facts),
    active.length === 0 ? 'status: {}' : 'status:',
    ...status.flatMap((line) => entry(line, line.path, several)),
    ...sections(channels, several),
    ...notFound(missing.filter((path) => !known.has(path))),
  ];
  return `${text.join('\n')}\n`;
}

function openQuestions(lines: readonly Suggestion[]): string[] {
  const count = lines.filter(({ question }) => question !== undefined).length;
  if (count === 0) return [];
  const are = count === 1 ? 'line is' : 'lines are';
  return comment('', `${count} ${are} commented out: answer the question, fill in what has a ?, then remove the #.`);
}

function dbcFiles(file: string, { dbc }: ProfileBus): string {
  return dbc.map((path) => scalar(pathFrom(file, path))).join(', ');
}

interface Constant {
  readonly path: string;
  readonly value: string;
}

function constants(active: readonly Suggestion[]): Constant[] {
  return Object.entries(kinds)
    .filter(([kind]) => active.some(({ path }) => path.startsWith(`energies.${kind}.`)))
    .map(([kind, value]) => ({ path: `energies.${kind}.subType`, value }));
}

function constantLines(facts: readonly Constant[]): string[] {
  if (facts.length === 0) return [];
  const why = comment('  ', 'No signal says it; change it for a car that runs on hydrogen.');
  return ['constants:', ...why, ...facts.map(({ path, value }) => `  ${path}: ${value}`)];
}

/** Returns the sections for channels, which are next to `status`. */
function sections(channels: readonly Suggestion[], several: boolean): string[] {
  const names = [...new Set(channels.map(({ path }) => path.slice(0, path.indexOf('.'))))];
  return names.flatMap((name) => {
    const members = channels.filter(({ path }) => path.startsWith(`${name}.`));
    const empty = members.every(({ question }) => question !== undefined);
    const lines = members.flatMap((line) => entry(line, line.path.slice(name.length + 1), several));
    return [`${empty ? '# ' : ''}${name}:`, ...lines];
  });
}

function entry(line: Suggestion, key: string, several: boolean): string[] {
  const { question, reason, rivals, note } = line;
  const why = [
    reason,
    ...(question === undefined ? [] : [question]),
    ...(note === undefined ? [] : [note]),
    ...(rivals.length === 0 ? [] : [`${rivals.join(', ')} also ${rivals.length === 1 ? 'fits' : 'fit'}`]),
  ];
  const text = why.map((one) => one.charAt(0).toUpperCase() + one.slice(1)).reduce(joined);
  const written = `${key}: { ${members(line, several).join(', ')} }`;
  return [...comment('  ', text), question === undefined ? `  ${written}` : `  # ${written}`];
}

/** Joins sentences with a full stop; after a question mark, without one. */
function joined(text: string, next: string): string {
  return `${text}${text.endsWith('?') ? '' : '.'} ${next}`;
}

function members({ path, facts, conversion, invalid, map, blanks }: Suggestion, several: boolean): string[] {
  const { scale, offset } = conversion ?? { scale: 1, offset: 0 };
  // Cars send less often than their descriptions say, and descriptions may contain any number.
  const periods = [facts.message.cycleTime, facts.observed?.period].filter(
    (one) => one !== undefined && one <= LONGEST,
  );
  const period = periods.length === 0 ? undefined : Math.max(...(periods as number[]));
  const pairs = [...(map ?? [])].map(([raw, value]) => `${raw}: ${isSet(path) ? `[${value}]` : value}`);
  return [
    `signal: ${scalar(nameOf(facts))}`,
    ...(several && facts.bus !== undefined ? [`bus: ${facts.bus}`] : []),
    ...(blanks === undefined ? [] : [blanks]),
    ...(scale === 1 ? [] : [`scale: ${rounded(scale)}`]),
    ...(offset === 0 ? [] : [`offset: ${rounded(offset)}`]),
    ...(invalid.length === 0 ? [] : [`invalid: [${invalid.map(rawText).join(', ')}]`]),
    ...(pairs.length === 0 ? [] : [`map: { ${pairs.join(', ')} }`]),
    ...(period === undefined ? [] : [`timeout: ${staleAfter(period)}`]),
  ];
}

function isSet(path: string): boolean {
  return slotByPath.get(path)?.kind === 'set';
}

function staleAfter(period: number): string {
  const seconds = Math.ceil(Math.max(PERIODS * period, SHORTEST) / 1000);
  return writeDuration(seconds < 120 ? seconds * 1000 : Math.ceil(seconds / 60) * 60_000);
}

function notFound(missing: readonly string[]): string[] {
  return missing.length === 0 ? [] : comment('', `not found: ${missing.join(', ')}`);
}

/** Returns the lines of a comment. */
function comment(indent: string, text: string): string[] {
  const lines: string[] = [];
  let line = '';
  for (const word of text.split(/[\s\p{Cc}]+/u)) {
    if (line !== '' && indent.length + line.length + word.length + 3 > WIDTH) {
      lines.push(line);
      line = '';
    }
    line += line === '' ? word : ` ${word}`;
  }
  return [...lines, line].map((one) => `${indent}# ${one}`);
}

/** Formats a raw value. A large one is hexadecimal, since codes usually have almost all bits set. */
function rawText(value: number): string {
  return value > 15 ? `0x${value.toString(16).toUpperCase()}` : String(value);
}

function scalar(text: string): string {
  return /^[A-Za-z_.][A-Za-z0-9_./-]*$/.test(text) ? text : JSON.stringify(text);
}

/** Returns a path relative to the folder of the profile. */
function pathFrom(file: string, path: string): string {
  return relative(dirname(file), path).split(sep).join('/');
}

/** Returns a name for the profile: mine for `mine/profile.yaml`, my-car for `my-car.yaml`. */
function profileName(file: string): string {
  const name = basename(file).replace(/\.ya?ml$/i, '');
  const chosen = name === 'profile' ? basename(dirname(file)) : name;
  const fit = chosen
    .replace(/[^A-Za-z0-9_-]+/g, '-')
    .replace(/^[^A-Za-z]+/, '')
    .slice(0, 64);
  return fit === '' ? 'car' : fit;
}
