import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'vitest';
import { type Database, parseDbc } from '../../../adapters/can/dbc/index.ts';
import { shippedProfiles } from '../../../config/shipped.ts';

/** Buses of the profile, each with a DBC file. */
export const BUSES = ['inter-systems', 'infotainment'] as const;
export type Bus = (typeof BUSES)[number];

/** The DBC of a bus, which must have no diagnostics. */
export function description(bus: Bus): Database {
  const file = join(shippedProfiles, 'psa-aee2010', `${bus}.dbc`);
  const { database, diagnostics } = parseDbc(readFileSync(file), file);
  expect(diagnostics).toEqual([]);
  return database;
}

/** The signals of a DBC as `MESSAGE.Signal`. */
export const signalsOf = (database: Database): string[] =>
  database.messages.flatMap(({ symbol, signals }) => signals.map((signal) => `${symbol}.${signal.symbol}`));
