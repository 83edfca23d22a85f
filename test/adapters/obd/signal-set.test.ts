import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { parseSignalSet } from '../../../adapters/obd/index.ts';
import { lineOf, lineOfSyntaxError } from '../../../adapters/obd/json-place.ts';
import { includesYear } from '../../../adapters/obd/model-years.ts';
import { setOf } from './sets.ts';

const ONE = `{ "diagnosticLevel": "03", "commands": [
  { "hdr": "750", "rax": "758", "eax": "2a", "tst": "2A", "fcm1": true, "cmd": {"21": "30"}, "freq": 5,
    "dbg": true, "din": "03", "filter": {"from": 2016, "to": 2013, "years": [2015]}, "dbgfilter": {"to": 2013},
    "signals": [
      {"id": "A", "path": "Tires", "colour": "red", "fmt": {"len": 8, "max": 4, "omax": 3, "unit": "bars"}, "name": "A"},
      {"id": "B", "colour": "blue", "fmt": {"len": 8}}
    ]}
]}`;

describe('a signal set', () => {
  it('is parsed with all its members', () => {
    const set = parseSignalSet(ONE, 'car.json');
    expect(set.more).toEqual({ diagnosticLevel: '03' });
    expect(set.commands[0]).toMatchObject({
      id: '750.758.2130|e=2A,ta=2A,fc=1,f=2016-;-2013;2015',
      receive: ['758'],
      extendedAddress: '2A',
      flowControl: true,
      debug: true,
      period: 5,
      years: { from: 2016, to: 2013, years: [2015] },
      debugYears: { to: 2013 },
      more: { din: '03' },
    });
    expect(set.commands[0]?.signals.map(({ id, more }) => [id, more])).toEqual([
      ['A', { path: 'Tires', colour: 'red' }],
      ['B', { colour: 'blue' }],
    ]);
  });

  it('with unknown members is accepted, and each name is reported once', () => {
    const { diagnostics } = parseSignalSet(ONE, 'car.json');
    expect(diagnostics).toHaveLength(1);
    expect(diagnostics[0]).toMatchObject({ file: 'car.json', line: 5, severity: 'warning' });
    expect(diagnostics[0]?.message).toMatch(/"colour" .*a signal, 2 times/);
  });

  it('with very many unknown members reports some and the number of the others', () => {
    const members = Object.fromEntries(Array.from({ length: 20_000 }, (_, i) => [`member${i}`, i]));
    const { diagnostics, more } = parseSignalSet(JSON.stringify({ commands: [], ...members }, null, 1), 'car.json');
    expect(Object.keys(more)).toHaveLength(20_000);
    expect(diagnostics).toHaveLength(51);
    expect(diagnostics[50]?.message).toMatch(/there are further unknown members, 19950 times/);
  });

  it.each([
    [{ hdr: '7E0' }, undefined],
    [{ hdr: '7E0', rax: '7e8' }, ['7E8']],
    [{ hdr: 'DAC7', rax: 'c7' }, ['DAF1C7']],
    [{ hdr: 'DA28', rax: '28', pri: '1C', tst: 'F9' }, ['DAF128', 'DAF928']],
    [{ hdr: 'EF21', rax: 'EFF921', pri: '18' }, ['EFF921']],
    [{ hdr: 'DA40', rax: '1CDAF940' }, ['DAF940']],
  ])('has the address %o of its answers', (address, receive) => {
    expect(setOf({ ...address, cmd: { '22': 'F190' } }).commands[0]?.receive).toEqual(receive);
  });

  it.each([
    ['', 'car.json:1: not JSON'],
    ['{\n"commands": [\n}', 'car.json:3: not JSON'],
    ['{\n"commands": [}\n\n]', 'car.json:2: not JSON'],
    ['{\n"commands":\n[1,\n]}', 'car.json:4: not JSON'],
    ['{\n"a": "x\ny"}', 'car.json:2: not JSON'],
    ['{}\n{}', 'car.json:2: not JSON'],
    ['{"a": 1,\n"b": 01}', 'car.json:2: not JSON'],
    ['{"a": 1,\n"b" 1}', 'car.json:2: not JSON'],
    ['[]', 'car.json:1: the file must be an object'],
    ['{\n}', 'car.json:1: the file must have "commands"'],
    ['{"commands": [\n{},\n7]}', 'car.json:3: commands[1] must be an object'],
    ['{"commands": [\n{"hdr": "7E0", "freq": 1}]}', 'car.json:2: commands[0] has no "cmd"'],
    ['{"commands": [\n{"hdr": "7E0",\n"cmd": {"22": "F1"}}]}', 'car.json:2: commands[0] must have "signals"'],
    ['{"commands": [\n{"hdr": "XYZ"}]}', 'car.json:2: commands[0].hdr must be'],
    ['{"commands": [\n{"hdr": "7E0",\n"cmd": {"22": "F"}}]}', 'car.json:3: commands[0].cmd parameter F'],
    ['{"commands": [\n{"hdr": "7E0",\n"cmd": {"62": "F1"}}]}', 'car.json:3: commands[0].cmd 62 is the identifier'],
  ])('that is broken is refused with the place: %j', (text, message) => {
    expect(() => parseSignalSet(text, 'car.json')).toThrow(message);
  });

  it.each([
    [{}, 'has no "len"'],
    [{ len: 0 }, 'len 0 is not'],
    [{ len: 1.5 }, 'len 1.5 is not'],
    [{ len: 8, bix: -1 }, 'bix -1 is not'],
    [{ len: 8, bix: 1e9 }, 'beyond the longest'],
    [{ len: 8, div: 0 }, 'div is 0'],
    [{ len: '8' }, 'fmt.len must be a number'],
    [{ len: 8, map: { A: 'x' } }, '"A" is not a raw value'],
    [{ len: 8, map: { 1: {} } }, 'raw value 1 has no "value"'],
  ])('with a broken format is refused with the reason: %o', (fmt, message) => {
    expect(() => setOf({ cmd: { '22': 'F190' }, signals: [{ id: 'S', fmt }] })).toThrow(message);
  });
});

describe('model years', () => {
  it.each([
    [{ from: 2016 }, [2016, 2020], [2015]],
    [{ to: 2018 }, [1990, 2018], [2019]],
    [{ from: 2015, to: 2018 }, [2015, 2018], [2014, 2019]],
    [{ from: 2016, to: 2013 }, [2010, 2013, 2016], [2014, 2015]],
    [{ years: [2014] }, [2014], [2013]],
    [{ from: 2020, years: [2014] }, [2014, 2021], [2019]],
    [{}, [], [2014]],
  ])('%o', (filter, inside, outside) => {
    expect(inside.filter((year) => !includesYear(filter, year))).toEqual([]);
    expect(outside.filter((year) => includesYear(filter, year))).toEqual([]);
  });
});

describe('the line of a position in JSON', () => {
  const text = '{"a": {"x": 1,\n"b": 2},\n"b": [1,\n[2, {"c": "}"}],\n{"c":\n3}]}';
  it.each([
    [['a'], 1],
    [['a', 'b'], 2],
    [['b'], 3],
    [['b', 1, 1, 'c'], 4],
    [['b', 2, 'c'], 6],
    [['b', 2, 'absent'], 5],
  ])('%j', (path, line) => {
    expect(lineOf(text, path)).toBe(line);
  });

  it('is the first or last line if the document is nested too deeply for the stack', () => {
    const deep = `${'['.repeat(100_000)}\n${']'.repeat(100_000)}`;
    expect(lineOf(deep, [0, 0])).toBe(1);
    expect(lineOfSyntaxError(deep)).toBe(2);
  });
});

it('the line of a syntax error is found in any broken JSON', () => {
  const lines = ['{', '"a": [', '1,', '{"b": "x"}', '],', '"c": -1.5e3', '}'];
  fc.assert(
    fc.property(fc.nat({ max: 6 }), fc.constantFrom('!', '}}', ']]', '1 1', '"', ':,'), (at, wrong) => {
      const text = lines.toSpliced(at, 1, wrong).join('\n');
      expect(() => JSON.parse(text)).toThrow();
      const line = lineOfSyntaxError(text);
      expect(line).toBeGreaterThan(at);
      expect(line).toBeLessThanOrEqual(lines.length);
    }),
  );
});
