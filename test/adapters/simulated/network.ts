import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import type { DbcMessage, Signal } from '../../../adapters/can/dbc/index.ts';
import { DbcCodec, parseDbc } from '../../../adapters/can/dbc/index.ts';

const folder = new URL('../../../config/vehicles/bench/', import.meta.url);

const loaded = parseDbc(readFileSync(fileURLToPath(new URL('bench.dbc', folder))), 'bench.dbc');

/** The bench car's DBC, the diagnostics of its loader, and its codec. */
export const { database, diagnostics } = loaded;
export const codec: DbcCodec = new DbcCodec([{ database }]);

/** Text of the bench car's profile. */
export const profileText: string = readFileSync(fileURLToPath(new URL('profile.yaml', folder)), 'utf8');

/** Returns the message with this name. Throws if there is none. */
export function messageOf(name: string): DbcMessage {
  const message = database.messages.find((one) => one.name === name);
  if (message === undefined) throw new Error(`no message ${name}`);
  return message;
}

/** Returns the signal with this name. Throws if there is none. */
export function signalOf(message: string, name: string): Signal {
  const signal = messageOf(message).signals.find((one) => one.name === name);
  if (signal === undefined) throw new Error(`no signal ${message}.${name}`);
  return signal;
}

/** Returns whether the physical value means "not available". */
export function absent(signal: Signal, value: number): boolean {
  if (signal.type === 'float') return Number.isNaN(value);
  const raw = Math.round((value - signal.offset) / signal.factor);
  return rawValues(signal, 'SNA').includes(raw);
}

/** Raw values with the name `name` in the signal's value table. */
export function rawValues(signal: Signal, name: string): number[] {
  return [...(signal.choices ?? new Map())].filter(([, text]) => text === name).map(([raw]) => Number(raw));
}
