/** The vehicle of evcc in docs/exits.md: each of its topics exists, and takes or has what evcc expects there. */
import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { parse } from 'yaml';
import { combinedTopics } from '../../../adapters/exits/combined.ts';
import { CommandTopics } from '../../../adapters/exits/commands.ts';
import { slotByPath } from '../../../protocol/slots.ts';
import { MemoryLog } from '../../rig/log.ts';

interface Topic {
  readonly source: string;
  readonly topic: string;
  readonly payload?: string;
}

const page = readFileSync(new URL('../../../docs/exits.md', import.meta.url), 'utf8');
const [, block = ''] = /^## evcc$[\s\S]*?```yaml\n([\s\S]*?)```/m.exec(page) ?? [];
const [vehicle = {}] = (parse(block) as { readonly vehicles: readonly Readonly<Record<string, unknown>>[] }).vehicles;
const topics = Object.entries(vehicle).filter((entry): entry is [string, Topic] => typeof entry[1] === 'object');
const PREFIX = 'vigie/plain/VIN/';

/** Returns the command that a message starts, or the reason for its refusal. */
function commandOf(verb: string, text: string): string {
  let result = '';
  const commands = new CommandTopics({
    may: () => true,
    submit: async (order) => {
      result = `${order.type} ${order.word}`;
    },
    refused: (_, reason) => {
      result = `refused: ${reason}`;
    },
    log: new MemoryLog(),
  });
  commands.take(verb, text, false);
  return result;
}

test('each topic that evcc reads is a topic of a path or of several paths', () => {
  const read = topics.filter(([, { payload }]) => payload === undefined);
  const names = read.map(([name, { topic }]) => [name, topic.slice(PREFIX.length).replaceAll('/', '.')] as const);
  const known = new Set([...slotByPath.keys(), ...combinedTopics.map(({ name }) => name)]);
  expect(names.filter(([, path]) => !known.has(path))).toEqual([]);
  expect(Object.fromEntries(names)).toMatchObject({ soc: 'energies.Electric.level', status: 'charging' });
  for (const [name, unit] of [
    ['soc', '%'],
    ['range', 'km'],
    ['odometer', 'km'],
  ] as const) {
    expect(slotByPath.get(Object.fromEntries(names)[name] ?? '')?.unit).toBe(unit);
  }
});

test.each(topics.filter(([, { payload }]) => payload !== undefined))(
  '%s starts a command',
  (name, { topic, payload = '' }) => {
    const verb = topic.slice(`${PREFIX}set/`.length);
    // evcc replaces the parameter by true or false.
    const texts = payload === `\${${name}}` ? ['true', 'false'] : [payload];
    const started = texts.map((text) => commandOf(verb, text));
    expect(started.filter((one) => one === '' || one.startsWith('refused'))).toEqual([]);
    expect(new Set(started).size).toBe(texts.length);
  },
);
