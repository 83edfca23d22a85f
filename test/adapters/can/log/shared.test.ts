import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { openLog } from '../../../../adapters/can/log/index.ts';
import { EXTENDED, FD } from '../../../../agent/ports.ts';
import { describeShared, sharedData } from '../../../shared.ts';
import { readLog } from './frames.ts';

const folder = join(sharedData, 'canlogs');
const read = (name: string) => readLog(join(folder, name));
const octets = Array.from({ length: 64 }, (_, i) => i.toString(16).padStart(2, '0')).join('');

describeShared('recorded logs', () => {
  it('every file reads to its end without a fault', async () => {
    const files = readdirSync(folder, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile());
    expect(files.length).toBeGreaterThan(20);
    for (const file of files) {
      const log = await readLog(join(file.parentPath, file.name));
      expect({ file: file.name, messages: log.messages }).toEqual({ file: file.name, messages: [] });
      expect(log.frames.length, file.name).toBeGreaterThan(0);
      expect(log.position, file.name).toBe(log.size);
    }
  });

  it('a real candump log', async () => {
    const log = await read('icsim/sample-can.log');
    expect(log.frames).toHaveLength(6158);
    expect(log.faults).toBe(0);
    expect(log.frames[0]).toEqual({
      at: 1_398_128_223_803.317,
      id: 0x166,
      bus: 'can0',
      flags: 0,
      length: 4,
      data: 'd0320009',
    });
  });

  it('the two exports of one capture give the same identifiers and payloads', async () => {
    const content = async (name: string) =>
      (await read(name)).frames.map(({ id, length, data }) => ({ id, length, data }));
    const candump = await content('savvycan/candump.log');
    expect(candump).toHaveLength(12_974);
    expect(await content('savvycan/GVRET_Log.csv')).toEqual(candump);
  });

  it('ASC, its gzip and the TRC converted from it agree', async () => {
    const asc = await read('python-can/test_CanMessage.asc');
    expect((await read('python-can/test_CanMessage.asc.gz')).frames).toEqual(asc.frames);
    const trc = await read('python-can/test_CanMessage.trc');
    expect(trc.frames.map((frame) => ({ ...frame, at: Math.round(frame.at) }))).toEqual(
      asc.frames.map((frame) => ({ ...frame, at: Math.round(frame.at) })),
    );
  });

  it('the versions of TRC agree as far as each can tell', async () => {
    const { frames } = await read('python-can/test_CanMessage_V2_1.trc');
    expect(frames.map(({ id }) => id).slice(-2)).toEqual([(0x100 | EXTENDED) >>> 0, 0x4000_0704]);
    for (const version of ['V1_1', 'V1_3', 'V2_0_BUS1']) {
      expect((await read(`python-can/test_CanMessage_${version}.trc`)).frames, version).toEqual(frames);
    }
    const oldest = (await read('python-can/test_CanMessage_V1_0_BUS1.trc')).frames;
    expect(oldest.map(({ id, data, at }) => [id, data, at])).toEqual(
      frames.map(({ id, data, at }) => [id, data, Math.trunc(at)]),
    );
  });

  it('BLF objects, field by field', async () => {
    const common = { at: 2_459_565_876_494.607, bus: 'can4368', id: (0x0444_4444 | EXTENDED) >>> 0 };
    for (const name of ['test_CanMessage.blf', 'test_CanMessage2.blf']) {
      const frame = { ...common, flags: 0, length: 8, data: '5566778899aabbcc' };
      expect((await read(`python-can/${name}`)).frames).toMatchObject([frame, frame].map(({ at: _, ...rest }) => rest));
    }
    const fd = (await read('python-can/test_CanFdMessage.blf')).frames;
    expect(fd).toHaveLength(2);
    expect(fd[0]).toMatchObject({ bus: 'can4368', flags: 7, length: 64, data: octets });
    const fd64 = (await read('python-can/test_CanFdMessage64.blf')).frames;
    expect(fd64[1]).toMatchObject({ bus: 'can16', length: 64, data: octets });
    const errors = (await read('python-can/test_CanErrorFrameExt.blf')).frames;
    expect(errors.map(({ id }) => id)).toEqual([0x2000_0080, 0x2000_0080]);
  });

  it('BLF payloads that the file leaves short are filled with zeros', async () => {
    const { frames } = await read('python-can/issue_1905.blf');
    expect(frames).toHaveLength(22);
    expect(frames[0]).toMatchObject({ id: 0x6a9, bus: 'can6', flags: FD | 2, length: 64 });
    expect(frames[0]?.data).toMatch(/^(ff){48}(00){16}$/);
  });

  it('ASC FD frames', async () => {
    const { frames } = await read('python-can/test_CanFdMessage64.asc');
    expect(frames.map(({ id, flags, length, data }) => [id, flags, length, data.slice(0, 8)])).toEqual([
      [0x4ee, FD | 4, 64, 'a1020304'],
      [(0x1c4d80a7 | EXTENDED) >>> 0, FD | 2, 64, 'b1020304'],
    ]);
  });

  it('what is no log is refused with the formats that are known', async () => {
    for (const name of ['ORIGIN.md', 'gnss/sl869.log', 'drives/drive1.csv', 'dbc/css/canmod-gps.dbc']) {
      const path = join(sharedData, name);
      await expect(openLog(path)).rejects.toMatchObject({ code: 'input.malformed', where: path });
    }
  });
});
