/** When the simulated week counts as flat. */
import { expect, test, vi } from 'vitest';
import { disobeyed, growth, type WeekMemory } from '../../scripts/scenarios/week.ts';

const MIB = 2 ** 20;
const day = (heap: number, external = MIB): WeekMemory => ({ heap, external, private: 80 * MIB, disk: 0 });

test('a week is flat if memory in the last line is no higher than in the second, whatever the first was', () => {
  vi.spyOn(console, 'log').mockReturnValue();
  expect(growth([day(9 * MIB), day(20 * MIB), day(20.2 * MIB), day(20.1 * MIB)])).toEqual([]);
  vi.restoreAllMocks();
});

test('a week in which heap or buffers grow in each line is not flat', () => {
  vi.spyOn(console, 'log').mockReturnValue();
  const heap = [1, 2, 3, 4, 5, 6, 7].map((n) => day(20 * MIB + n * 0.1 * MIB));
  const buffers = [1, 2, 3, 4, 5, 6, 7].map((n) => day(20 * MIB, n * 0.1 * MIB));
  expect(growth(heap)).toEqual(['the memory is not flat']);
  expect(growth(buffers)).toEqual(['the memory is not flat']);
  vi.restoreAllMocks();
});

test('two lines are too few for a verdict', () => {
  expect(growth([day(MIB), day(MIB)])).toHaveLength(1);
});

test('a week in which the car has not carried out a command is a failure', () => {
  const good = new Map([
    ['Success', 40],
    ['AlreadyDone', 16],
  ]);
  expect(disobeyed(good)).toEqual([]);
  expect(disobeyed(new Map([...good, ['Failed the car did not show it', 3]]))).toEqual([
    '3 of the commands ended as Failed the car did not show it',
  ]);
});
