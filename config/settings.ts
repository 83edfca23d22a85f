/** Reads the numbers of `protocol/settings.ts` from files that people write: converts units and applies defaults. */
import type { TOptional, TUnsafe } from 'typebox';
import * as Type from 'typebox';
import type { NumberSetting, SettingGroup, Settings } from '../protocol/settings.ts';
import { duration, number, size } from './fields.ts';
import { type Findings, pointer } from './findings.ts';
import { readDuration, readSize } from './quantities.ts';

/** Returns the schema fields of a group of settings. Each is optional. */
export function members<G extends SettingGroup>(group: G): { [K in keyof G]: TOptional<TUnsafe<number | string>> } {
  return Object.fromEntries(
    Object.entries(group).map(([name, setting]) => [name, Type.Optional(formOf(setting))]),
  ) as never;
}

function formOf({ kind, about, form }: NumberSetting): TUnsafe<number | string> {
  if (kind === 'time') return duration(about);
  return kind === 'size' ? size(about, form) : (number(about, form) as TUnsafe<number | string>);
}

/**
 * Returns the values of a group in the section at `at`, whose form has been checked. Uses `defaults` for omitted
 * fields, and for all fields of a section with faults.
 */
export function readSettings<G extends SettingGroup>(
  group: G,
  written: { readonly [K in keyof G]?: number | string } | undefined,
  at: string,
  findings: Findings,
  defaults: { readonly [K in keyof G]?: number } = {},
): Settings<G> {
  const sound = findings.sound(at) ? written : undefined;
  const values = Object.entries(group).map(([name, setting]) => {
    const given = sound?.[name];
    if (given === undefined) return [name, defaults[name] ?? setting.default];
    const value = read(setting, given);
    checkRange(setting, value, at + pointer(name), findings);
    return [name, value];
  });
  return Object.fromEntries(values) as Settings<G>;
}

function read({ kind, whole }: NumberSetting, written: number | string): number {
  if (kind === 'time') return readDuration(written);
  if (kind === 'size') return readSize(written);
  return whole ? Math.floor(Number(written)) : Number(written);
}

function checkRange({ range }: NumberSetting, value: number, at: string, findings: Findings): void {
  if (range === undefined) return;
  const { least = value, most = value, step = 1, fault, fix } = range;
  if (value < least || value > most || (range.step !== undefined && value % step !== 0)) findings.error(at, fault, fix);
}
