/** `vigie inspect --suggest`, from files to a profile that `check` accepts and `replay` plays. */
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { parse } from 'yaml';
import { vigie } from '../../rig/bench.ts';
import { network } from './suggested.ts';

const folder = mkdtempSync(join(tmpdir(), 'vigie-suggest-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));
const at = (name: string): string => join(folder, name);

const motion = at('motion.dbc');
const body = at('body.dbc');
writeFileSync(
  motion,
  network('MOTION', 'Speed : 7|16@0+ (0.01,0) [0|300] "km/h"', 'EngineSpeed : 23|16@0+ (0.25,0) [0|8000] "rpm"'),
);
writeFileSync(
  body,
  network(
    'BODY',
    'DoorFL : 0|1@1+ (1,0) [0|1] ""',
    'Key : 17|2@1+ (1,0) [0|3] ""',
    'OutsideTemp : 24|8@1+ (1,0) [0|255] ""',
  ).replace('BO_ 291', 'BO_ 292'),
);

/** A candump log with a frame every half second, on one bus or on one bus per message. */
function log(name: string, buses: readonly [string, string]): string {
  const lines = [...Array(40).keys()].map((half) => {
    const [bus, id] = half % 2 === 0 ? [buses[0], '123'] : [buses[1], '124'];
    const speed = half < 4 ? 'FFFFFFFF' : `${(half * 100).toString(16).padStart(4, '0')}0C80`;
    const data = half % 2 === 0 ? speed : `0${half > 20 ? 1 : 0}00${half > 10 ? '06' : '00'}${half < 10 ? 'FF' : '5F'}`;
    return `(${(1_700_000_000 + half / 2).toFixed(6)}) ${bus} ${id}#${data}`;
  });
  const file = at(name);
  writeFileSync(file, `${lines.join('\n')}\n`);
  return file;
}

test('--suggest with a log writes a profile that passes check, and replay refuses no value', async () => {
  const file = at('my-car.yaml');
  const drive = log('drive.log', ['can0', 'can0']);
  const { status, stdout, stderr } = await vigie('inspect', drive, '--dbc', motion, body, '--suggest', file);
  expect({ status, stdout }, stderr).toEqual({ status: 0, stdout: '' });
  expect(stderr).toContain(`${file}: 3 paths mapped; 2 more lines commented out with a question`);
  const text = readFileSync(file, 'utf8');
  expect(parse(text)).toMatchObject({
    name: 'my-car',
    buses: [{ name: 'car', dbc: ['body.dbc', 'motion.dbc'] }],
    status: {
      'kinetic.speed': { signal: 'MOTION.Speed', invalid: [0xffff], timeout: '10s' },
      'engines.Thermic.speed': { signal: 'MOTION.EngineSpeed', invalid: [0xffff], timeout: '10s' },
      'doorsState.opening.Driver.state': { signal: 'BODY.DoorFL', map: { 0: 'Closed', 1: 'Open' }, timeout: '10s' },
    },
  });
  expect(text).toContain('# ignition.type: { signal: BODY.Key, map: { 0: ?, 3: ? }, timeout: 10s }');
  expect(text).toContain('  # environment.air.temp: { signal: BODY.OutsideTemp, scale: ?, offset: ?, invalid: [0xFF]');
  expect(text).toMatch(/# not found: kinetic\.acceleration, /);
  expect(await vigie('check', '--profile', file)).toMatchObject({ status: 0, stderr: 'no errors, 0 findings\n' });
  expect((await vigie('replay', drive, '--profile', file)).stderr).toContain('readings refused: 0');
});

test('a log with two described buses gives a profile with both, each with the DBC of its messages', async () => {
  const file = at('two.yaml');
  const { stderr } = await vigie('inspect', log('two.log', ['can0', 'can1']), '--dbc', motion, body, '--suggest', file);
  expect(stderr).toContain('3 paths mapped');
  const { buses, status } = parse(readFileSync(file, 'utf8'));
  expect(buses).toEqual([
    { name: 'can0', dbc: ['motion.dbc'] },
    { name: 'can1', dbc: ['body.dbc'] },
  ]);
  expect(status['kinetic.speed']).toMatchObject({ signal: 'MOTION.Speed', bus: 'can0' });
  expect(status['doorsState.opening.Driver.state']).toMatchObject({ signal: 'BODY.DoorFL', bus: 'can1' });
  expect(await vigie('check', '--profile', file)).toMatchObject({ status: 0, stderr: 'no errors, 0 findings\n' });
});

test('--suggest without a log uses only the DBC', async () => {
  const file = at('without-log.yaml');
  const { status, stderr } = await vigie('inspect', '--dbc', motion, '--suggest', file);
  expect(status, stderr).toBe(0);
  expect(parse(readFileSync(file, 'utf8')).status['kinetic.speed']).toEqual({
    signal: 'MOTION.Speed',
    invalid: [0xffff],
  });
});

test('--suggest warns if no frame of the log is in the DBC, and not for a matching log', async () => {
  const file = at('wrong-bus.yaml');
  const other = at('other.log');
  writeFileSync(other, '(1700000000.000000) can0 300#0102\n(1700000000.500000) can0 300#0103\n');
  const wrong = await vigie('inspect', other, '--dbc', motion, body, '--suggest', file);
  expect(wrong).toMatchObject({ status: 0, stdout: '' });
  expect(wrong.stderr).toContain(
    `vigie: ${other}: no frame of it is in ${motion}, ${body}: is it the right car, and the right bus? ` +
      `${file} follows from the DBC alone; suggest again with a log of this car and bus\n`,
  );
  const drive = log('right.log', ['can0', 'can0']);
  const right = await vigie('inspect', drive, '--dbc', motion, body, '--suggest', at('right-bus.yaml'));
  expect(right.stderr).not.toContain('is it the right car');
});

test('--suggest warns of a log without frames and names the filters', async () => {
  const drive = log('filtered.log', ['can0', 'can0']);
  const file = at('filtered.yaml');
  const { stderr } = await vigie('inspect', drive, '--ids', '7FF', '--dbc', motion, '--suggest', file);
  expect(stderr).toContain(`vigie: ${drive}: no frame is left by --ids: ${file} follows from the DBC alone`);
});

test('--suggest does not overwrite a file', async () => {
  const file = at('worked-on.yaml');
  writeFileSync(file, 'mine');
  const { status, stderr } = await vigie('inspect', '--dbc', motion, '--suggest', file);
  expect(status).toBe(2);
  expect(stderr).toContain(`${file} exists: name another file, or remove it`);
  expect(readFileSync(file, 'utf8')).toBe('mine');
});

test('--suggest without --dbc is refused', async () => {
  const { status, stderr } = await vigie('inspect', '--suggest', at('none.yaml'));
  expect(status).toBe(2);
  expect(stderr).toContain('--suggest needs --dbc FILE');
});

test('--suggest reports a missing target directory', async () => {
  const { status, stderr } = await vigie('inspect', '--dbc', motion, '--suggest', at('nowhere/mine.yaml'));
  expect(status).toBe(2);
  expect(stderr).toContain('cannot be written: there is no such folder');
});

test('--suggest writes nothing and fails if no signal fits a path', async () => {
  const file = at('empty.yaml');
  const dbc = at('other.dbc');
  writeFileSync(dbc, network('RADAR', 'TargetDistance : 0|8@1+ (1,0) [0|255] "m"'));
  const { status, stderr } = await vigie('inspect', '--dbc', dbc, '--suggest', file);
  expect(status).toBe(1);
  expect(stderr).toContain('no signal of the DBC fits a path');
  expect(existsSync(file)).toBe(false);
});
