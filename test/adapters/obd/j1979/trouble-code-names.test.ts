import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { troubleCode } from '../../../../adapters/obd/index.ts';
import { namedTroubleCodes, troubleCodeName } from '../../../../adapters/obd/j1979/index.ts';
import { describeShared, sharedData } from '../../../shared.ts';

describe('names of trouble codes', () => {
  it('exist only for codes of the standard, not of manufacturers', () => {
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

/** Codes of SAE J2012-DA with a word of their description, for codes that have a name here. */
const saidByTheStandard: readonly (readonly [word: string, ours: RegExp, codes: string])[] = [
  [
    'low',
    /signal low|voltage low|circuit low$|too low$/,
    'P0031 P0037 P0051 P0057 P0102 P0107 P0112 P0117 P0122 P0131 P0137 P0143 P0151 P0157 P0163 P0182 P0192 P0197 P0222 P0227 P0299 P0327 P0332 P0337 P0342 P0347 P0420 P0430 P0452 P0462 P0502 P0506 P0522 P0524 P0562 P0707 P0712',
  ],
  [
    'high',
    /signal high|voltage high|circuit high$|too high$/,
    'P0032 P0038 P0052 P0058 P0103 P0108 P0113 P0118 P0123 P0132 P0138 P0144 P0152 P0158 P0164 P0183 P0193 P0198 P0223 P0228 P0234 P0328 P0333 P0338 P0343 P0348 P0453 P0463 P0507 P0523 P0563 P0708 P0713',
  ],
  [
    'intermittent',
    /intermittent/,
    'P0104 P0109 P0114 P0119 P0124 P0184 P0194 P0199 P0224 P0229 P0329 P0334 P0339 P0344 P0349 P0454 P0464 P0503 P0709 P0714 P0718 P0723 P0744 P0749 P0754 P0759 P0764',
  ],
  [
    'implausible',
    /implausible/,
    'P0101 P0106 P0111 P0116 P0121 P0181 P0191 P0196 P0221 P0226 P0326 P0331 P0336 P0341 P0346 P0404 P0451 P0461 P0501 P0521 P0706 P0711 P0716 P0721',
  ],
  ['no signal', /no signal/, 'P0717 P0722'],
  ['slow', /slow/, 'P0133 P0139 P0145 P0153 P0159 P0165'],
  ['no activity', /no activity/, 'P0134 P0140 P0146 P0154 P0160 P0166'],
  [
    'heater',
    /heater/,
    'P0030 P0031 P0032 P0036 P0037 P0038 P0050 P0051 P0052 P0056 P0057 P0058 P0135 P0141 P0147 P0155 P0161 P0167',
  ],
  ['lean', /lean/, 'P0171 P0174'],
  ['rich', /rich/, 'P0172 P0175'],
  ['stuck on', /stuck on/, 'P0742 P0747 P0752 P0757 P0762'],
  [
    'bank 1',
    /bank 1/,
    'P0010 P0011 P0012 P0030 P0031 P0032 P0036 P0037 P0038 P0130 P0131 P0132 P0133 P0134 P0135 P0136 P0137 P0138 P0139 P0140 P0141 P0142 P0143 P0144 P0145 P0146 P0147 P0170 P0171 P0172 P0340 P0341 P0342 P0343 P0344 P0420',
  ],
  [
    'bank 2',
    /bank 2/,
    'P0020 P0021 P0022 P0050 P0051 P0052 P0056 P0057 P0058 P0150 P0151 P0152 P0153 P0154 P0155 P0156 P0157 P0158 P0159 P0160 P0161 P0162 P0163 P0164 P0165 P0166 P0167 P0173 P0174 P0175 P0345 P0346 P0347 P0348 P0349 P0430',
  ],
  ['leak', /leak/, 'P0442 P0455 P0456'],
  ['misfire', /misfire/, 'P0300 P0301 P0302 P0303 P0304 P0305 P0306 P0307 P0308 P0309 P0310 P0311 P0312'],
];

describe('the fault in the description of SAE J2012', () => {
  it.each(saidByTheStandard)('%s: our names of the same codes agree', (_, ours, codes) => {
    const named = namedTroubleCodes.filter((code) => ours.test(troubleCodeName(code) as string));
    expect(named).toEqual(codes.split(' '));
  });
});

describeShared('lists of trouble codes', () => {
  it('every code with a name is in the foreign table', () => {
    const folder = join(sharedData, 'obd', 'dtc');
    const text = readdirSync(folder)
      .map((name) => readFileSync(join(folder, name), 'latin1'))
      .join('\n');
    expect(namedTroubleCodes.filter((code) => !text.includes(code))).toEqual([]);
  });

  it('our names report the same fault as the foreign table', () => {
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
