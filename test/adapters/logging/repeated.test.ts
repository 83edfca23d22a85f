/** A fault that lasts is logged a few times only. */
import { expect, test } from 'vitest';
import { RepeatedFaultLog } from '../../../adapters/logging/repeated.ts';
import { MemoryLog } from '../../rig/log.ts';

test('a fault that lasts is logged once and then at powers of two, with the number of lines left out', () => {
  const memory = new MemoryLog();
  const log = new RepeatedFaultLog(memory, () => 0);
  for (let count = 0; count < 3_000; count++) log.error('hub.store.failed', { messages: 1, error: `try ${count}` });
  expect(memory.lines).toHaveLength(12);
  expect(memory.lines.at(-1)?.fields).toEqual({ messages: 1, error: 'try 2047', suppressed: 1_023 });
});

test('faults of different cars are different, and a fault that comes back after ten minutes begins again', () => {
  const memory = new MemoryLog();
  let now = 0;
  const log = new RepeatedFaultLog(memory, () => now);
  const refuse = (vin: string) => log.warn('hub.car.refused', { vin, reason: 'was removed' });
  for (let count = 0; count < 3; count++) ['A', 'B'].forEach(refuse);
  expect(memory.lines.map(({ fields }) => fields?.['vin'])).toEqual(['A', 'B', 'A', 'B']);
  now += 600_000;
  refuse('A');
  expect(memory.lines.at(-1)?.fields).toEqual({ vin: 'A', reason: 'was removed' });
});

test('requests that fail have one fault for each operation, and events of the level info are all logged', () => {
  const memory = new MemoryLog();
  const log = new RepeatedFaultLog(memory, () => 0);
  for (let id = 0; id < 8; id++) log.error('http.failed', { id, operation: 'fleet.fleets.list', error: 'away' });
  for (let id = 0; id < 8; id++) log.info('http.request', { id });
  const levels = memory.lines.map(({ level }) => level);
  expect([levels.filter((level) => level === 'error').length, levels.length]).toEqual([4, 12]);
});
