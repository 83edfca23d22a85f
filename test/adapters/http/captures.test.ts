/** Captures of a real agent, served over HTTP by a real server. */
import { expect, onTestFinished, test } from 'vitest';
import { captureViewOf } from '../../../assembly/capture-view.ts';
import { CRASH, drive, startCar } from '../../agent/captures/car.ts';
import { readText } from '../can/log/frames.ts';
import { startRig } from './rig.ts';

test('captures are listed, and one can be read as a candump log of its frames', async () => {
  const car = await startCar('  collision: { before: 1s, after: 1s }\n');
  onTestFinished(() => car.drop());
  const rig = await startRig({ captures: captureViewOf(car.records) });
  expect((await rig.get('/vigie/v1/captures')).json).toEqual({ captures: [] });
  await drive(car, 2);
  car.send([{ bus: 'can', id: CRASH, data: [1, 0, 0, 0, 0, 0, 0, 0] }]);
  await drive(car, 4);
  await car.pass(1_000);
  const { json } = await rig.get('/vigie/v1/captures');
  const [capture] = (json as { captures: { id: string; at: string; frames: number }[] }).captures;
  const at = Date.parse(capture?.at ?? '');
  expect(capture).toMatchObject({ cause: 'collision', complete: true });
  const around = car.lines.filter(({ sent }) => sent.at >= at - 1_000 && sent.at <= at + 1_000);
  expect(capture?.frames).toBe(around.length);
  const { status, headers, text } = await rig.get(`/vigie/v1/captures/${capture?.id}`);
  expect(status).toBe(200);
  expect(headers['content-type']).toContain('text/plain');
  expect(text).toBe(around.map(({ line }) => `${line}\n`).join(''));
  const answer = await fetch(`${rig.url}/vigie/v1/captures/${capture?.id}?format=mdf4`);
  expect(answer.headers.get('content-disposition')).toBe(`attachment; filename="${capture?.id}.mf4"`);
  const log = await readText(new Uint8Array(await answer.arrayBuffer()));
  expect(log.format).toBe('mdf4');
  const lines = log.frames.map(
    ({ id, data }) => `${id.toString(16).toUpperCase().padStart(3, '0')}#${data.toUpperCase()}`,
  );
  // MDF4 does not define the order of frames with equal times.
  expect(lines.sort()).toEqual(around.map(({ line }) => line.split(' ')[2]).sort());
});

test('an unknown capture, and other methods, are refused', async () => {
  const rig = await startRig({
    captures: { list: async () => [], log: async () => undefined, mdf4: async () => undefined },
  });
  expect((await rig.get('/vigie/v1/captures/ca-1')).status).toBe(404);
  expect((await rig.get('/vigie/v1/captures/ca-1?format=mdf4')).status).toBe(404);
  expect((await rig.get('/vigie/v1/captures/ca-1?format=blf')).status).toBe(400);
  expect((await rig.get('/vigie/v1/captures/ca-1?from=1')).status).toBe(400);
  expect((await rig.get('/vigie/v1/captures?limit=-1')).status).toBe(400);
  expect((await rig.send('DELETE', '/vigie/v1/captures/ca-1')).status).toBe(405);
});
