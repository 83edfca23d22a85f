import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { parseDbc } from '../../../../adapters/can/dbc/index.ts';
import { describeShared, sharedData } from '../../../shared.ts';

const words = fc.constantFrom(
  'BO_',
  'SG_',
  'CM_',
  'VAL_',
  'BA_',
  'BA_DEF_',
  'BA_DEF_DEF_',
  'SG_MUL_VAL_',
  'SIG_VALTYPE_',
  'NS_',
  'BU_',
  'EV_',
  'VERSION',
  'VAL_TABLE_',
  'BO_TX_BU_',
  'SIG_GROUP_',
  '\n',
  '\r\n',
  ' ',
  ' ',
  ' ',
  '"',
  '\\"',
  ';',
  ':',
  ',',
  '|',
  '@',
  '1+',
  '0-',
  '(1,0)',
  '[0|0]',
  '""',
  'M',
  'm0',
  'm1M',
  '1',
  '2147483649',
  '-3.5e9',
  '0x1F',
  'Name',
  'ENUM',
  '//',
  '0-3',
  'constructor',
  '__proto__',
  'NaN',
  '1e999',
  '99999999999999999999',
);

/** Checks that the result is consistent: no reference to an omitted object, and valid line numbers. */
function check(bytes: Uint8Array): void {
  const { database, diagnostics } = parseDbc(bytes, 'any.dbc');
  for (const message of database.messages) {
    for (const signal of message.signals) {
      expect(signal.length).toBeGreaterThanOrEqual(1);
      expect(signal.length).toBeLessThanOrEqual(64);
      if (signal.selection) expect(message.signals).toContain(signal.selection.multiplexor);
    }
  }
  for (const { line, message } of diagnostics) {
    expect(line).toBeGreaterThanOrEqual(0);
    expect(message).not.toBe('');
  }
}

test('any bytes load or cause a diagnostic', () => {
  fc.assert(fc.property(fc.uint8Array({ maxLength: 400 }), check), { numRuns: 500 });
});

test('any sequence of tokens of the format loads', () => {
  const source = fc.array(words, { maxLength: 120 }).map((list) => new TextEncoder().encode(list.join('')));
  const spaced = fc.array(words, { maxLength: 120 }).map((list) => new TextEncoder().encode(list.join(' ')));
  fc.assert(fc.property(fc.oneof(source, spaced), check), { numRuns: 2000 });
});

test.each([
  ['comments without an end', 'CM_ "x"\n'],
  ['comments on one line', 'CM_ "x" '],
  ['statements that are skipped', 'FILTER 1; '],
  ['escaped quotes', 'VERSION "\\"'],
  ['unknown words', 'what '],
  ['blanks', '\n \t '],
  ['quotes', '"'],
  ['signals', ' SG_ S : 0|8@1+ (1,0) [0|0] "" A\n'],
  ['symbols', 'NS_ :\n\tA\n'],
])('parsing time is proportional to the size: a megabyte of %s', (_, piece) => {
  // With quadratic time this would take hours and fail by the time limit of the test.
  check(new TextEncoder().encode(`BO_ 1 M: 8 A\n${piece.repeat(Math.ceil(1e6 / piece.length))};"`));
});

function survivesDamage(path: string): void {
  const whole = readFileSync(path);
  const damage = fc.array(fc.tuple(fc.nat(whole.length - 1), fc.nat(40), fc.uint8Array({ maxLength: 6 })), {
    minLength: 1,
    maxLength: 8,
  });
  fc.assert(
    fc.property(damage, (cuts) => {
      let bytes = Uint8Array.from(whole);
      for (const [at, remove, insert] of cuts) {
        const from = Math.min(at, bytes.length);
        bytes = Uint8Array.from([...bytes.subarray(0, from), ...insert, ...bytes.subarray(from + remove)]);
      }
      check(bytes);
    }),
    { numRuns: 150 },
  );
}

test.each(['long-names.dbc', 'multiplexed-cascaded.dbc', 'unusual.dbc'])('damaged files load: %s', (name) => {
  survivesDamage(fileURLToPath(new URL(`../../../golden/dbc/${name}`, import.meta.url)));
});

describeShared('damaged files beside the project load', () => {
  test.each(['cantools/foobar.dbc', 'cantools/multiplex_2.dbc', 'css/gnss.dbc'])('%s', (name) => {
    survivesDamage(join(sharedData, 'dbc', name));
  });
});
