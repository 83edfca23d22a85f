/** State and test of exits over HTTP, at a real server. */
import { expect, test } from 'vitest';
import type { Gate } from '../../../adapters/http/access/credentials.ts';
import type { ServedExit } from '../../../adapters/http/exits.ts';
import { VigieError } from '../../../protocol/errors.ts';
import type { ExitReport } from '../../../protocol/interface/own/exits.ts';
import { VirtualClock } from '../../rig/clock.ts';
import { startRig } from './rig.ts';

const report: ExitReport = {
  ...{ name: 'influx', kind: 'influx', state: 'waiting' },
  ...{ waiting: 3, lost: 0, refused: 1, error: 'InfluxDB is away', succeededAt: 5 },
};
const exit = (test: ServedExit['test'] = async () => undefined): ServedExit => ({ report: () => report, test });
const gateOf = (...scopes: readonly string[]): Gate => ({
  challenge: 'Bearer',
  admit: () => ({ name: 'reader', scopes: new Set(scopes) }),
});
const TEST = '/vigie/v1/exits/influx/test';

test('exits are listed with their state, and a car without exits has an empty list', async () => {
  expect((await (await startRig({ exits: [exit()] })).get('/vigie/v1/exits')).json).toEqual({ exits: [report] });
  expect((await (await startRig({ exits: [] })).get('/vigie/v1/exits')).json).toEqual({ exits: [] });
});

test('a test of an exit returns whether the receiver took the message, or the reason why not', async () => {
  const rig = await startRig({ exits: [exit()] });
  expect((await rig.send('POST', TEST)).json).toEqual({ succeeded: true, ms: expect.any(Number) });
  const away = async () => {
    throw new VigieError('link.lost', 'InfluxDB is away');
  };
  const other = await startRig({ exits: [exit(away)] });
  expect((await other.send('POST', TEST)).json).toMatchObject({ succeeded: false, reason: 'InfluxDB is away' });
});

test('a test that gets no answer fails after its time limit', async () => {
  const clock = new VirtualClock();
  let begun: () => void = () => undefined;
  const began = new Promise<void>((resolve) => {
    begun = resolve;
  });
  const hanging = exit(() => {
    begun();
    return new Promise(() => undefined);
  });
  const rig = await startRig({ exits: [hanging], clock });
  const answer = rig.send('POST', TEST);
  await began;
  await new Promise((resolve) => setImmediate(resolve));
  clock.advance(35_000);
  expect((await answer).json).toEqual({ succeeded: false, ms: 35_000, reason: 'no answer within 35 s' });
});

test('an unknown exit, parameters and other methods are refused', async () => {
  const rig = await startRig({ exits: [exit()] });
  expect((await rig.send('POST', '/vigie/v1/exits/abrp/test')).status).toBe(404);
  expect((await rig.send('POST', `${TEST}?now=1`)).status).toBe(400);
  expect((await rig.get(TEST)).status).toBe(405);
});

test('reading needs data:telemetry, and a test needs exits:test', async () => {
  const statuses = async (...scopes: readonly string[]) => {
    const rig = await startRig({ exits: [exit()], gates: { user: gateOf(...scopes) } });
    return [(await rig.get('/vigie/v1/exits')).status, (await rig.send('POST', TEST)).status];
  };
  expect(await statuses('data:telemetry')).toEqual([200, 403]);
  expect(await statuses('data:position')).toEqual([403, 403]);
  expect(await statuses('exits:test')).toEqual([403, 200]);
});
