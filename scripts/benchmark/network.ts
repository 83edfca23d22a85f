/** Network descriptions in the form in which the measured programs read them. */
import { readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { type Database, parseDbc, type Signal } from '../../adapters/can/dbc/index.ts';
import { bytesNeeded, runStart } from '../../adapters/can/dbc/layout.ts';
import type { WantedSignal } from '../../agent/ports.ts';
import { carried } from './traffic.ts';

/** Network of the bench car. */
export const benchNetwork: string = fileURLToPath(new URL('../../config/vehicles/bench/bench.dbc', import.meta.url));

export function readNetwork(file: string): Database {
  return parseDbc(readFileSync(file), file).database;
}

/** Returns every signal of the measured messages, in the order of the file. */
export function everySignal(database: Database): WantedSignal[] {
  return carried(database).flatMap(({ name, signals }) =>
    signals.map((signal) => ({ message: name, signal: signal.name })),
  );
}

const kinds = { unsigned: 0, signed: 1 } as const;

function kindOf({ type, length }: Signal): number {
  if (type !== 'float') return kinds[type];
  if (length === 16) throw new Error('the C reference has no 16-bit floats');
  return length === 32 ? 2 : 3;
}

/** Writes the tables that reference/table.h reads. The indexes of signals are those in {@link everySignal}. */
export function writeTables(database: Database, file: string): void {
  const messages = carried(database);
  const head: string[] = [];
  const rows: string[] = [];
  for (const { id, signals } of messages) {
    const selected = signals.some(({ selection }) => selection !== undefined);
    const plain = selected ? 255 : Math.max(...signals.map(bytesNeeded));
    head.push([id, rows.length, signals.length, plain].join(' '));
    for (const signal of signals) {
      const { byteOrder, length, factor, offset, selection } = signal;
      const range = selection?.ranges ?? [[0, 0]];
      if (range.length !== 1 || selection?.multiplexor.selection !== undefined) {
        throw new Error(`the C reference has no extended multiplexing: ${signal.name}`);
      }
      const [low, high] = range[0] as readonly [number, number];
      const shift = byteOrder === 'little' ? runStart(signal) : 64 - runStart(signal) - length;
      const parent = selection === undefined ? -1 : signals.indexOf(selection.multiplexor);
      const big = byteOrder === 'little' ? 0 : 1;
      const needs = bytesNeeded(signal);
      rows.push([rows.length, big, shift, length, kindOf(signal), needs, parent, low, high, factor, offset].join(' '));
    }
  }
  writeFileSync(file, `${head.length} ${rows.length}\n${[...head, ...rows].join('\n')}\n`);
}
