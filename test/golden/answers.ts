/**
 * Recorded and generated answers of control units with their expected values. Our own collection has answers to every
 * command of the shipped signal set and of `obd/features.json`, printed in the formats of several adapters; the
 * optional shared one has answers of real cars.
 */
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parse } from 'yaml';
import { parseSignalSet, type SignalSet } from '../../adapters/obd/index.ts';
import { shippedProfiles } from '../../config/shipped.ts';
import { sharedData } from '../shared.ts';
import { chance } from './naive-frames.ts';
import { printed } from './naive-isotp.ts';
import { commandsOf, lengthOf, type NaiveCommand, naiveField } from './naive-obd.ts';

export type Expected = number | string | boolean | null;

export interface Answer {
  readonly year: number;
  /** Name of the command in the collection. */
  readonly command: string;
  readonly response: string;
  readonly expected: Readonly<Record<string, Expected>>;
}

export interface Car {
  readonly name: string;
  /** The standard set and the set of the car. */
  readonly sets: readonly SignalSet[];
  readonly answers: () => Iterable<Answer>;
}

const years = [2016, 2018, 2019, 2020, 2024];

const standard = ['sae-j1979.json', 'sae-j1979-09.json'].map((name) => join(shippedProfiles, 'generic-obd2', name));
const own = [
  ...standard.map((file) => ({ name: 'standard', file })),
  { name: 'features', file: fileURLToPath(new URL('obd/features.json', import.meta.url)) },
];

const setOf = (file: string): SignalSet => parseSignalSet(readFileSync(file, 'utf8'), file);

/** Cars whose answers the naive encoder generates. */
export function ownCars(): readonly Car[] {
  return own.map(({ name, file }) => ({
    name,
    sets: [...new Set([...standard, file])].map(setOf),
    answers: () => answersTo(commandsOf(readFileSync(file, 'utf8'))),
  }));
}

function* answersTo(commands: readonly NaiveCommand[]): Iterable<Answer> {
  const next = chance(commands.length);
  for (const command of commands) {
    const length = lengthOf(command);
    const fill = (byte: number): number[] => Array.from({ length }, () => byte);
    const payloads = [fill(0), fill(0xff), fill(0x55), fill(0x80), fill(0x01)];
    while (payloads.length < 10) payloads.push(Array.from({ length }, next));
    for (const [index, data] of payloads.entries()) {
      const year = years[index % years.length] as number;
      if (!holds(command, year)) continue;
      yield {
        year,
        command: nameOf(command),
        response: responseOf(command, data, index),
        expected: Object.fromEntries(command.signals.map(({ id, fmt }) => [id, naiveField(fmt, data)])),
      };
    }
  }
}

function holds({ filter }: NaiveCommand, year: number): boolean {
  if (filter === undefined) return true;
  const { from, to, years: listed } = filter;
  if (listed?.includes(year)) return true;
  return (from !== undefined && year >= from) || (to !== undefined && year <= to);
}

function nameOf({ hdr, rax, cmd }: NaiveCommand): string {
  return [hdr, ...(rax === undefined ? [] : [rax]), Object.entries(cmd).flat().join('')].join('.');
}

/** Formats: compact as with ATS0, with spaces, after the echo of the request, or as the last answer of a session. */
function responseOf(command: NaiveCommand, data: readonly number[], index: number): string {
  const { hdr, rax = '7E8', eax, cmd } = command;
  const [service = '', parameter = ''] = Object.entries(cmd)[0] ?? [];
  const request = service + parameter;
  const bytes = (request.match(/../g) ?? []).map((pair) => Number.parseInt(pair, 16));
  const payload = [(bytes[0] as number) + 0x40, ...bytes.slice(1), ...data];
  // ISO 15765-4: a unit addressed by 18DA10F1 answers with 18DAF110.
  const header = hdr.startsWith('DA') ? `18DA${rax}` : rax;
  const address = eax === undefined ? undefined : Number.parseInt(eax, 16);
  const text = printed(payload, {
    header,
    address,
    spaces: index % 2 === 1,
    filler: [undefined, 0x00, 0xaa, 0x55, 0xcc][index % 5],
  });
  if (index % 4 === 1) return `${request}\n${text}`;
  return index % 4 === 2 ? `> ${hdr}.0100\nNO DATA\n> ${hdr}.${request}\n${text}` : text;
}

/** Cars of the shared collection; only available with {@link sharedData}. */
export function sharedCars(): readonly Car[] {
  const folder = join(sharedData, 'obd');
  const set = (name: string): SignalSet => setOf(join(folder, name, 'signalsets', 'v3', 'default.json'));
  return readdirSync(folder)
    .filter((name) => existsSync(join(folder, name, 'tests', 'test_cases')))
    .map((name) => ({
      name,
      sets: [set('SAEJ1979'), set(name)],
      answers: () => recorded(join(folder, name, 'tests', 'test_cases')),
    }));
}

/** Reads one file for each command and model year. */
function* recorded(folder: string): Iterable<Answer> {
  for (const year of readdirSync(folder)) {
    const commands = join(folder, year, 'commands');
    if (!existsSync(commands)) continue;
    for (const file of readdirSync(commands)) {
      const { command_id, test_cases } = parse(readFileSync(join(commands, file), 'utf8')) as {
        command_id: string;
        test_cases: { response: string; expected_values: Answer['expected'] }[];
      };
      for (const { response, expected_values } of test_cases) {
        yield { year: Number(year), command: command_id, response, expected: expected_values };
      }
    }
  }
}
