/** Tests the matcher used by the message tests with cases derived by hand from RFC 8610. */
import { describe, expect, test } from 'vitest';
import { matchCddl } from './matcher.ts';
import { parseCddl } from './parser.ts';

const faults = (cddl: string, hex: string): string[] =>
  matchCddl(`r = ${cddl}\n`, 'r', new Uint8Array(Buffer.from(hex, 'hex')));

describe('matches', () => {
  test.each([
    ['uint', '1864'],
    ['nint', '20'],
    ['int', '20'],
    ['float', 'f93c00'],
    ['number', 'f93c00'],
    ['number', '01'],
    ['bool', 'f4'],
    ['true', 'f5'],
    ['nil', 'f6'],
    ['any', 'f7'],
    ['tstr', '60'],
    ['bytes', '4101'],
    ['5', '05'],
    ['-5', '24'],
    ['0x1F', '181f'],
    ['"a"', '6161'],
    ['1.5', 'f93e00'],
    ['0..10', '0a'],
    ['-2..-1', '21'],
    ['0...10', '09'],
    ['0.0..1.0', 'f93c00'],
    ['int .ge 5', '05'],
    ['int .le -1', '20'],
    ['float .lt 0.5', 'f90000'],
    ['tstr .size (0..2)', '62c3bc'],
    ['bstr .size 3', '43010203'],
    ['bstr .cbor [uint]', '428101'],
    ['uint / tstr', '6161'],
    ['(uint / tstr)', '01'],
    ['&( a: 0, b: 1 )', '01'],
    ['&( "2D": 0, b: 1, )', '00'],
    ['[]', '80'],
    ['[uint, tstr]', '82016161'],
    ['[uint, ? tstr]', '8101'],
    ['[* uint]', '80'],
    ['[* uint]', '820102'],
    ['[+ uint]', '8101'],
    ['[1*2 uint]', '820102'],
    ['[2* uint]', '820102'],
    ['[*2 uint]', '820102'],
    ['[* uint, uint]', '820102'],
    ['[* uint, 7]', '820107'],
    ['[* uint, tstr // tstr]', '8161 61'.replace(' ', '')],
    ['[name: tstr, age: uint]', '82616101'],
    ['{}', 'a0'],
    ['{ 1 => uint }', 'a10105'],
    ['{ ? 1 => uint, 2 => tstr }', 'a1026161'],
    ['{ 1: uint, }', 'a10105'],
    ['{ a: uint }', 'a1616105'],
    ['{ "a b": uint }', 'a16361206205'],
    ['{ 1 => uint, * uint => any }', 'a201050902'],
    ['{ 1 => uint // 2 => uint }', 'a10205'],
    ['{ (1 => uint, 2 => uint) }', 'a201050206'],
    ['#6.18([uint])', 'd28101'],
    ['s\ns = uint ; a comment\n', '05'],
  ])('%s: %s', (cddl, hex) => {
    expect(faults(cddl, hex)).toEqual([]);
  });
});

describe('does not match', () => {
  test.each([
    ['uint', '20', /^r: -1 is not uint$/],
    ['int', 'f93c00', /float 1 is not/],
    ['float', '01', /^r: 1 is not float$/],
    ['bool', 'f6', /simple 22/],
    ['tstr', '40', /^r: h'' is not tstr$/],
    ['5', '06', /^r: 6 is not 5$/],
    ['"a"', '6162', /"b" is not a/],
    ['0..10', '0b', /11 is not within 0\.\.10/],
    ['0..10', '20', /-1 is not within/],
    ['0...10', '0a', /10 is not within/],
    ['0..10', 'f93c00', /float 1 is not within/],
    ['0.0..1.0', '01', /1 is not within/],
    ['int .ge 5', '04', /4 is not \.ge 5/],
    ['int .le -1', '00', /0 is not \.le -1/],
    ['int .ge 5', '6161', /./],
    ['tstr .size (0..2)', '63616263', /\.size: 3 is not within/],
    ['tstr .size (0..2)', '63e282ac', /\.size: 3 is not within/],
    ['bstr .cbor [uint]', '428120', /\.cbor\[0\]: -1 is not uint/],
    ['bstr .cbor [uint]', '4181', /\.cbor: not a data item/],
    ['bstr .cbor [uint]', '8101', /is not bstr/],
    ['uint / tstr', '20', /none of 2 choices/],
    ['&( a: 0, b: 1 )', '02', /2 is not a member/],
    ['[]', '8101', /one too many/],
    ['[uint, tstr]', '8101', /ends before entry 1/],
    ['[uint, ? tstr]', '820102', /2 is not tstr|one too many/],
    ['[* uint]', '820120', /r\[1\]: -1 is not uint/],
    ['[+ uint]', '80', /ends before entry 0/],
    ['[1*2 uint]', '83010203', /one too many/],
    ['[*2 uint]', '83010203', /one too many/],
    ['[uint]', 'a0', /a map is not an array/],
    ['{ 1 => uint }', '80', /an? array is not a map/],
    ['{ 1 => uint }', 'a0', /key 1 is missing/],
    ['{ 1 => uint }', 'a10120', /r\.1: -1 is not uint/],
    ['{ ? 1 => uint }', 'a10205', /key 2 is not allowed/],
    ['{ ? 1 => uint }', 'a201050105', /key 1 is not allowed \(again\)/],
    ['{ 1 => { 2 => [* uint] } }', 'a101a1028120', /r\.1\.2\[0\]: -1 is not uint/],
    ['#6.18(uint)', 'd301', /is not tag 18/],
    ['uint', '0101', /not a data item/],
    ['uint', '18', /not a data item/],
  ])('%s: %s', (cddl, hex, message) => {
    expect(faults(cddl, hex).join('\n')).toMatch(message);
  });
});

describe('the parser of CDDL', () => {
  test.each([
    ['a =', /expected a type/],
    ['= uint', /expected a rule name/],
    ['a = { 1 => }', /expected a type/],
    ['a = { 1 => uint', /found the end/],
    ['a = [uint}', /expected "]"/],
    ['a = uint\na = tstr', /rule a twice/],
    ['a = 0..tstr', /two numbers of one kind/],
    ['a = 0..1.5', /two numbers of one kind/],
    ['a = uint .foo 3', /control operator/],
    ['a = "x', /unexpected "\\""/],
    ['a = %', /2?:?.*unexpected "%"/],
    ['a-= uint', /unexpected "-"/],
    ['a = uint ; comment without line end', /unexpected ";"/],
    ['a = 01', /expected a rule name/],
  ])('%s', (cddl, message) => {
    expect(() => parseCddl(cddl)).toThrow(message);
  });

  test('refuses an unknown rule', () => {
    expect(() => faults('[* missing]', '80')).toThrow(/no rule missing/);
    expect(() => faults('{ 1 => toString }', 'a0')).toThrow(/no rule toString/);
  });
});
