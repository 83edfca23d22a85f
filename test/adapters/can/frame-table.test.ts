import { expect, test } from 'vitest';
import { changedSince, FrameTable } from '../../../adapters/can/frame-table.ts';
import { ERROR, EXTENDED, REMOTE } from '../../../agent/ports.ts';
import { hex } from '../../../protocol/hex.ts';
import { batchOf, bytes } from './dbc/frames.ts';

const BUSES = ['body', 'drive'];

function tableOf(...frames: Parameters<typeof batchOf>[0]): FrameTable {
  const table = new FrameTable();
  table.take(batchOf(frames), BUSES);
  return table;
}

test('frames are counted for each bus, and separately for 11-bit and 29-bit identifiers', () => {
  const data = bytes('01');
  const table = tableOf(
    { id: 0x0a8, data },
    { id: 0x0a8, data, bus: 1 },
    { id: (0x0a8 | EXTENDED) >>> 0, data },
    { id: 0x0a8, data },
  );
  expect(table.entries.map(({ bus, id, count }) => [bus, id, count])).toEqual([
    ['body', 0x0a8, 2],
    ['drive', 0x0a8, 1],
    ['body', 0x8000_00a8, 1],
  ]);
});

test('a bit counts as changed even if it later returns to its first value', () => {
  const table = tableOf({ id: 1, data: bytes('0000') });
  const [entry] = table.entries as [(typeof table.entries)[0]];
  const seen = table.frames;
  expect(hex(changedSince(entry, 0))).toBe('0000');
  table.take(batchOf([{ id: 1, data: bytes('8100') }]), BUSES);
  table.take(batchOf([{ id: 1, data: bytes('0100') }]), BUSES);
  expect(hex(changedSince(entry, seen))).toBe('8100');
  expect(hex(changedSince(entry, seen + 1))).toBe('8000');
  expect(hex(changedSince(entry, table.frames))).toBe('0000');
});

test('bits that a longer payload adds do not count as changed', () => {
  const table = tableOf({ id: 1, data: bytes('00') }, { id: 1, data: bytes('01') });
  const long = new Uint8Array(64).fill(0xff);
  table.take(batchOf([{ id: 1, data: long }]), BUSES);
  const [entry] = table.entries as [(typeof table.entries)[0]];
  expect([entry.length, hex(entry.data)]).toEqual([64, 'ff'.repeat(64)]);
  expect(hex(changedSince(entry, 1))).toBe(`ff${'00'.repeat(63)}`);
});

test('the period follows the time between frames', () => {
  const frame = (at: number) => ({ id: 1, data: bytes('00'), at });
  const table = tableOf(frame(1_000), frame(1_020), frame(1_040));
  expect(table.entries[0]?.period).toBe(20);
  table.take(batchOf([frame(1_100)]), BUSES);
  expect(table.entries[0]?.period).toBe(25);
});

test('error and remote frames carry no payload and are not listed', () => {
  const data = bytes('00');
  expect(tableOf({ id: (1 | ERROR) >>> 0, data }, { id: (1 | REMOTE) >>> 0, data }).entries).toEqual([]);
});

test('a bus with too many identifiers is listed in part, and the table reports that', () => {
  const data = bytes('00');
  const table = new FrameTable();
  for (let id = 0; id <= 4096; id++) table.take(batchOf([{ id: (id | EXTENDED) >>> 0, data }]), BUSES);
  expect([table.entries.length, table.full]).toEqual([4096, true]);
  table.clear();
  expect([table.entries.length, table.full, table.generation]).toEqual([0, false, 1]);
});
