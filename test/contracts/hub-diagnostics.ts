/**
 * Fault codes and captures of a car at a hub, on any database, equal those that the car serves itself. Real cars read
 * and recorded them, and the hub received their messages.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { captureViewOf } from '../../assembly/capture-view.ts';
import { type Hub, type HubOptions, startHub } from '../../hub/start/hub.ts';
import { type Rig, startRig } from '../adapters/http/rig.ts';
import { type CaptureCar, CRASH, drive, startCar } from '../agent/captures/car.ts';
import { EVERY, type FaultCar, startFaultCar } from '../agent/faults/car.ts';
import { VIN } from '../agent/remotes/rig.ts';
import { Observer } from '../rig/car.ts';
import { VirtualClock } from '../rig/clock.ts';
import { MemoryLog } from '../rig/log.ts';

const START = Date.UTC(2026, 0, 1, 12);
const READ = 8_000;
/** Another car, which sends the captures. */
const OTHER = 'VF3VGEHVB00000002';
const UNKNOWN = 'VF3VGEHVB00000009';

/** `database` returns the options that choose the database. */
export function hubDiagnosticsContract(name: string, database: () => Promise<Pick<HubOptions, 'database'>>): void {
  describe(`fault codes and captures of a hub on ${name}`, () => {
    const data = mkdtempSync(join(tmpdir(), 'vigie-hub-diagnostics-'));
    let hub: Hub;
    let faults: FaultCar;
    let captures: CaptureCar;
    const clock = new VirtualClock(START);
    /** Interfaces of the cars themselves, for one test. */
    const ofFaults = (): Promise<Rig> => startRig({ faults: faults.view, clock });
    const ofCaptures = (): Promise<Rig> => startRig({ captures: captureViewOf(captures.records), clock });

    beforeAll(async () => {
      hub = await startHub({ data, ...(await database()), port: 0, http: 0, clock, log: new MemoryLog() });
      const engine: Record<string, string> = {
        '0101': '4101 81 00 00 00',
        '03': '43 03 0143 0301 0420',
        '07': '47 01 C100',
        '0A': '4A 00',
        '020200': '4202 00 0143',
        '020000': '4200 00 40 08 00 00',
        '020D00': '420D 00 32',
        '19020D': '5902FF 0A0B9209',
        '19040A0B92FF': '59040A0B9209 01 01 F40D 32',
      };
      faults = await startFaultCar({ units: { 2024: engine }, uds: { 2024: 'Engine' }, at: START });
      await faults.pass(READ);
      Object.assign(engine, { '07': '4700', '03': '43 02 0143 0301', '19020D': '5902FF 0A0B9208' });
      await faults.pass(EVERY + READ);
      captures = await startCar('  collision: { before: 1s, after: 1s }\n  command: { before: 1s, after: 1s }\n');
      await drive(captures, 1);
      captures.send([{ bus: 'can', id: CRASH, data: [1, 0, 0, 0, 0, 0, 0, 0] }]);
      await drive(captures, 3);
      const taken = captures.order({ name: 'wheels' });
      await drive(captures, 3);
      await taken;
      await captures.pass(1_000);
      const observer = await Observer.connect(hub.broker, 4);
      const renamed = captures.sent.map(({ topic, payload }) => ({ topic: topic.replace(VIN, OTHER), payload }));
      for (const { topic, payload } of [...faults.sent, ...renamed]) await observer.send(topic, Buffer.from(payload));
      await observer.close();
    }, 120_000);

    afterAll(async () => {
      await hub.stop();
      await faults.drop();
      await captures.drop();
      rmSync(data, { recursive: true, force: true });
    });

    /** Only the car knows when it last read an unchanged code, so this time is removed. */
    const asSent = (answer: unknown): unknown => {
      const { faults: listed, more } = answer as { faults: { active: boolean; lastSeenAt: string }[]; more: boolean };
      const shown = listed.map(({ lastSeenAt, ...rest }) => (rest.active ? rest : { ...rest, lastSeenAt }));
      return { faults: shown, more };
    };
    const ask = (path: string): Promise<Response> => fetch(`${hub.interface.url}/vigie/v1${path}`);
    const json = async (path: string): Promise<unknown> => (await ask(path)).json();
    const ofCar = `/vehicles/${VIN}/faults`;
    const ofOther = `/vehicles/${OTHER}/captures`;

    test('the hub lists the same fault codes as the car, for every filter', async () => {
      const car = await ofFaults();
      for (const query of ['', '?active=false', '?limit=1', '?limit=2&active=false']) {
        const { json: own } = await car.get(`/vigie/v1/faults${query}`);
        expect(asSent(await json(`${ofCar}${query}`))).toEqual(asSent(own));
      }
      const { faults: gone } = (await json(`${ofCar}?active=false`)) as { faults: { code: string }[] };
      expect(gone.map(({ code }) => code).sort()).toEqual(['P0420', 'U0100']);
    });

    test('a code that is still reported is listed as the car last sent it', async () => {
      const { faults: active } = (await json(`${ofCar}?active=true`)) as { faults: { code: string }[] };
      expect(active.map(({ code }) => code).sort()).toEqual(['P0143', 'P0301', 'P0A0B-92']);
      expect(active.find(({ code }) => code === 'P0A0B-92')).toMatchObject({
        status: ['Stored'],
        unitName: 'Engine',
        snapshot: '0101F40D32',
        freezeFrame: [{ name: 'VehicleSpeed', value: 50, unit: 'kilometersPerHour' }],
      });
    });

    test('fault codes of all cars state the VIN of each, and a car without codes has none', async () => {
      const { faults: own, more } = (await json(ofCar)) as { faults: object[]; more: boolean };
      expect(await json('/faults')).toEqual({ faults: own.map((one) => ({ vin: VIN, ...one })), more });
      expect(await json(`/vehicles/${OTHER}/faults`)).toEqual({ faults: [], more: false });
    });

    test('the hub lists the same captures as the car, with the same frames in both formats', async () => {
      const car = await ofCaptures();
      const { json: own } = await car.get('/vigie/v1/captures');
      const listed = (own as { captures: { id: string; cause: string }[] }).captures;
      expect(listed.map(({ cause }) => cause)).toEqual(['collision', 'command']);
      expect(await json(ofOther)).toEqual(own);
      for (const { id } of listed) {
        const { text } = await car.get(`/vigie/v1/captures/${id}`);
        expect(text.length).toBeGreaterThan(1_000);
        expect(await (await ask(`${ofOther}/${id}`)).text()).toBe(text);
        const answer = await ask(`${ofOther}/${id}?format=mdf4`);
        expect(answer.headers.get('content-disposition')).toBe(`attachment; filename="${id}.mf4"`);
        const same = await fetch(`${car.url}/vigie/v1/captures/${id}?format=mdf4`);
        expect(new Uint8Array(await answer.arrayBuffer())).toEqual(new Uint8Array(await same.arrayBuffer()));
      }
    });

    test('an unknown fault code or capture is not found, and an invalid request is refused as by the car', async () => {
      expect((await ask(`/vehicles/${UNKNOWN}/faults`)).status).toBe(404);
      expect((await ask(`/vehicles/${UNKNOWN}/captures`)).status).toBe(404);
      expect((await ask(`${ofOther}/c0ffee`)).status).toBe(404);
      const car = await ofFaults();
      for (const query of ['active=perhaps', 'limit=0', 'limit=1001', 'most=1']) {
        expect([query, (await ask(`${ofCar}?${query}`)).status]).toEqual([query, 400]);
        expect([query, (await car.get(`/vigie/v1/faults?${query}`)).status]).toEqual([query, 400]);
      }
      expect((await ask(`${ofOther}/c0ffee?format=blf`)).status).toBe(400);
    });
  });
}
