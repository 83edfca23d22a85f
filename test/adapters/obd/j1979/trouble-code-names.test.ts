import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { troubleCode } from '../../../../adapters/obd/index.ts';
import { namedTroubleCodes, troubleCodeName } from '../../../../adapters/obd/j1979/index.ts';
import { describeShared, sharedData } from '../../../shared.ts';

describe('names of trouble codes', () => {
  it('are those of the standard, not of makers', () => {
    for (const code of namedTroubleCodes) {
      const digits = Number.parseInt(code.slice(1), 16);
      const high = (code.startsWith('U') ? 0xc0 : 0) | (digits >> 8);
      expect(troubleCode(high, digits & 0xff)).toMatchObject({ code, definedBy: 'standard' });
    }
    expect(namedTroubleCodes.length).toBeGreaterThan(250);
  });

  it.each([
    ['P0301', 'misfire: in cylinder 1'],
    ['P0212', 'injector of cylinder 12: circuit'],
    ['P0117', 'coolant temperature sensor 1: signal low'],
    ['P0174', 'fuel mixture, bank 2: too lean'],
    ['P0420', 'catalyst, bank 1: efficiency too low'],
    ['P0562-1C', 'supply voltage: too low'],
    ['U0100', 'no communication with the engine control unit'],
    ['P1234', undefined],
  ])('%s', (code, name) => {
    expect(troubleCodeName(code)).toBe(name);
  });
});

describeShared('lists of trouble codes', () => {
  it('know every code that has a name', () => {
    const folder = join(sharedData, 'obd', 'dtc');
    const text = readdirSync(folder)
      .map((name) => readFileSync(join(folder, name), 'latin1'))
      .join('\n');
    expect(namedTroubleCodes.filter((code) => !text.includes(code))).toEqual([]);
  });

  it('say the same of what is wrong', () => {
    const text = readFileSync(join(sharedData, 'obd', 'dtc', 'wal33d-p_codes.txt'), 'latin1');
    const theirs = new Map(
      [...text.matchAll(/^(P\w{4})\s*-\s*(.*)$/gm)].map(([, code = '', name = '']) => [code, name]),
    );
    const words: readonly (readonly [ours: RegExp, theirs: RegExp])[] = [
      [/signal low|voltage low|circuit low$/, /Low/],
      [/signal high|voltage high|circuit high$/, /High/],
      [/intermittent/, /Intermittent/],
      [/implausible/, /Range\/Perfor/],
      [/no signal/, /No Signal/],
      [/slow/, /Slow/],
      [/no activity/, /No Activity/],
      [/heater circuit$/, /Heater/],
      [/lean/, /Lean/],
      [/rich/, /Rich/],
      [/stuck on/, /Stuck On/],
      [/bank 1/, /Bank 1|^(?!.*Bank 2)/],
      [/bank 2/, /Bank 2/],
      [/leak/, /Leak/],
      [/misfire: in cylinder/, /Cylinder \d+ Misfire/],
    ];
    const differ = namedTroubleCodes.filter((code) => {
      const name = theirs.get(code);
      const own = troubleCodeName(code) as string;
      return name !== undefined && words.some(([ours, other]) => ours.test(own) && !other.test(name));
    });
    expect(differ.map((code) => `${code} ${troubleCodeName(code)} | ${theirs.get(code)}`)).toEqual([]);
  });
});
