/** Log lines: format for the journal, hidden secrets, and limits. */
import { expect, test } from 'vitest';
import {
  LINES,
  RateLimitedLog,
  redacted,
  redactedText,
  structuredLog,
  WINDOW,
} from '../../../adapters/logging/index.ts';
import { type LogEvent, type LogSink, logEvents } from '../../../protocol/log-events.ts';
import { MemoryLog } from '../../rig/log.ts';

function lines(level: 'info' | 'warn' = 'info', priorities = false) {
  const written: string[] = [];
  const log = structuredLog(
    { write: (text) => written.push(text) },
    { level, priorities, now: () => 1_700_000_000_000 },
  );
  return { log, written };
}

test('each event is one line of JSON with level, time and fields', () => {
  const { log, written } = lines();
  log.warn('link.down', { reason: 'a line\nand "another"', waiting: 3, suppressed: undefined });
  expect(written).toHaveLength(1);
  expect(written[0]?.endsWith('\n')).toBe(true);
  expect(written[0]?.trimEnd()).not.toContain('\n');
  expect(JSON.parse(written[0] as string)).toEqual({
    level: 'warn',
    at: 1_700_000_000_000,
    event: 'link.down',
    message: logEvents['link.down'][1],
    reason: 'a line\nand "another"',
    waiting: 3,
  });
});

test('events below the level are not logged', () => {
  const { log, written } = lines('warn');
  log.info('watchdog.moving');
  log.error('watchdog.stuck');
  expect(written.map((line) => JSON.parse(line).event)).toEqual(['watchdog.stuck']);
});

test('lines for the journal have its priorities', () => {
  const { log, written } = lines('info', true);
  log.info('link.up');
  log.warn('link.down');
  log.error('link.handler');
  expect(written.map((line) => line.slice(0, 3))).toEqual(['<6>', '<4>', '<3>']);
  expect(JSON.parse((written[1] as string).slice(3)).event).toBe('link.down');
});

test('a field cannot replace a member of the line with the same name', () => {
  const { log, written } = lines();
  const fields = { state: 'awake', level: 3, event: 'x', at: 'home', message: 'y' };
  log.info('power.changed', fields);
  const line = JSON.parse(written[0] as string);
  const message = logEvents['power.changed'][1];
  expect(line).toMatchObject({ level: 'info', event: 'power.changed', message });
  expect(line).toMatchObject({ level_: 3, event_: 'x', at_: 'home', message_: 'y' });
});

test('secrets are hidden by the name of their member', () => {
  const fields = {
    password: 'hunter2',
    user: 'car',
    nested: { apiKey: 'k', list: [{ refreshToken: 't' }], keyId: 'shown' },
    secrets: { a: 'b' },
    token: 7,
  };
  const text = JSON.stringify(redacted(fields));
  for (const secret of ['hunter2', '"k"', '"t"', '"b"']) expect(text).not.toContain(secret);
  expect(text).toContain('car');
  expect(text).toContain('shown');
  expect(fields.password).toBe('hunter2');
});

test.each([
  ['mqtts://car:hunter2@broker.example:8883/x failed', 'hunter2', 'broker.example'],
  ['Authorization: Bearer abcdefghijklmnop', 'abcdefghijklmnop', 'Bearer'],
  ['-----BEGIN PRIVATE KEY-----\nMIGH\n-----END PRIVATE KEY----- tail', 'MIGH', 'tail'],
  ['-----BEGIN EC PRIVATE KEY-----\nMIGH', 'MIGH', '['],
  ['got eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiJ4In0.c2ln today', 'c2ln', 'today'],
  ['GET /x?access_token=abcd1234&y=1', 'abcd1234', 'y=1'],
])('secrets are hidden by their form: %s', (text, secret, rest) => {
  expect(redactedText(text)).not.toContain(secret);
  expect(redactedText(text)).toContain(rest);
  const { log, written } = lines();
  log.error('http.failed', { error: text, cause: new Error(text), stack: [{ text }] });
  expect(written[0]).not.toContain(secret);
});

test('large values are truncated', () => {
  expect(redactedText('x'.repeat(100_000)).length).toBeLessThan(5_000);
  const circle: Record<string, unknown> = {};
  circle['self'] = circle;
  expect(JSON.stringify(redacted({ circle, bytes: new Uint8Array(9), big: 10n }))).toContain('9 bytes');
});

test('a frequent event is suppressed, counted, and the count is logged', () => {
  let now = 0;
  const memory = new MemoryLog();
  const log = new RateLimitedLog(memory, () => now);
  for (let i = 0; i < 100; i++) log.warn('clock.set', { by: i });
  log.info('link.up');
  expect(memory.lines.map(({ event }) => event)).toEqual([...Array(LINES).fill('clock.set'), 'link.up']);
  now = WINDOW;
  log.info('link.up');
  const told = memory.lines.find(({ fields }) => fields?.['suppressed'] !== undefined);
  expect(told).toEqual({ level: 'warn', event: 'clock.set', fields: { suppressed: 100 - LINES } });
  // The event can then be logged again.
  log.warn('clock.set', { by: 100 });
  expect(memory.lines.at(-1)?.fields).toEqual({ by: 100 });
});

test('the suppressed lines are counted at the end, even if other events came between', () => {
  const memory = new MemoryLog();
  const log = new RateLimitedLog(memory, () => 0);
  for (let i = 0; i < LINES + 3; i++) log.error('agent.defect');
  for (const [event, [level]] of Object.entries(logEvents)) (log as LogSink)[level](event as LogEvent);
  for (let i = 0; i < LINES + 2; i++) log.error('link.handler');
  log.flush();
  const suppressed = memory.lines.filter(({ fields }) => fields?.['suppressed'] !== undefined);
  expect(suppressed.map(({ event, fields }) => [event, fields?.['suppressed']])).toEqual([
    ['agent.defect', 4],
    ['link.handler', 3],
  ]);
});
