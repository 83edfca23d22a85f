import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import type { Log, LogEvent } from '../../protocol/log-events.ts';
import { logEvents } from '../../protocol/log-events.ts';
import { logAdvice } from '../../scripts/log-advice.ts';

const ROOMS = ['adapters', 'agent', 'assembly', 'commands', 'config', 'hub'];
const root = join(import.meta.dirname, '../..');

/** The source of all directories that log. */
function source(): string {
  const files = ROOMS.flatMap((room) =>
    readdirSync(join(root, room), { recursive: true, encoding: 'utf8' }).map((file) => join(root, room, file)),
  ).filter((file) => file.endsWith('.ts'));
  return files.map((file) => readFileSync(file, 'utf8')).join('\n');
}

test('the program logs every event of the table', () => {
  const text = source();
  expect(text.length).toBeGreaterThan(100_000);
  expect(Object.keys(logEvents).filter((event) => !text.includes(`'${event}'`))).toEqual([]);
});

test('event codes contain dots, and no event has a member twice', () => {
  const wrong = Object.entries(logEvents).filter(
    ([event, [, , ...members]]) =>
      !/^[a-z][a-zA-Z0-9]*(\.[a-z][a-zA-Z0-9]*)+$/.test(event) || new Set(members).size < members.length,
  );
  expect(wrong).toEqual([]);
});

test('each event has a unique message, a short sentence without a full stop', () => {
  const sentences = Object.values(logEvents).map(([, sentence]) => sentence);
  expect(sentences.filter((sentence, i) => sentences.indexOf(sentence) !== i)).toEqual([]);
  expect(sentences.filter((sentence) => !/^[A-Z`].*[^.]$/.test(sentence) || sentence.length > 80)).toEqual([]);
});

test('the advice for operators refers to events of the table', () => {
  const strangers = Object.keys(logAdvice).filter((event) => !(event in logEvents));
  expect(strangers).toEqual([]);
});

test('a log accepts only events of the table, at their level, with their members', () => {
  const taken: LogEvent[] = [];
  const take = (event: LogEvent): void => void taken.push(event);
  const log: Log = { info: take, warn: take, error: take };
  log.warn('link.down', { reason: 'a test', waiting: 1 });
  // @ts-expect-error: only events of the table.
  log.warn('the link is down');
  // @ts-expect-error: an event has one level.
  log.info('link.down');
  // @ts-expect-error: only members of the table.
  log.warn('link.down', { because: 'a test' });
  expect(taken).toHaveLength(4);
});
