/**
 * Custom signals of a car at a hub, on any database, equal those that the car serves itself. A real agent recorded them
 * under two profiles, and the hub received its messages.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Hub, type HubOptions, startHub } from '../../hub/start/hub.ts';
import { encodeMessage } from '../../protocol/cbor/message.ts';
import { type Rig, startRig } from '../adapters/http/rig.ts';
import { RecordedDisk } from '../adapters/store/recorded-disk.ts';
import { VIN } from '../agent/remotes/rig.ts';
import { custom, type Published, type Run, run, text } from '../agent/signals/car.ts';
import { payloadOf } from '../hub/messages.ts';
import { Observer } from '../rig/car.ts';
import { VirtualClock } from '../rig/clock.ts';
import { MemoryLog } from '../rig/log.ts';

const START = Date.UTC(2026, 0, 1, 12);
const UNKNOWN = 'VF3VGEHVB00000009';
/** Another car whose telemetry arrives before its catalog, from a start that did not know the time. */
const LATE = 'VF3VGEHVB00000002';
const BEHIND = Date.UTC(2026, 0, 1, 11) - 5_000;

const voltage = (more: object) => custom('Vehicle.Battery.Voltage', more);
const state = custom('Vehicle.State', { kind: 'enumeration', names: [{ count: 0, name: 'Off' }] });
const door = custom('Vehicle.Door.IsOpen', { kind: 'flag' });
const place = custom('Vehicle.Place', { position: true });
const silent = custom('Vehicle.Silent', { unit: 'Nm', resolution: 0.5 });
const gone = custom('Vehicle.Gone', { unit: 's' });
/** More names than fit in one catalog message. */
const names = Array.from({ length: 300 }, (_, i) => ({ count: i + 1, name: `${i} ${'n'.repeat(250)}` }));

interface Answered {
  readonly name: string;
  readonly value?: unknown;
  readonly readings: readonly { readonly at: string; readonly value: unknown; readonly unit?: string }[];
}

/** `database` returns the options that choose the database. */
export function hubSignalsContract(name: string, database: () => Promise<Pick<HubOptions, 'database'>>): void {
  describe(`custom signals of a hub on ${name}`, () => {
    const data = mkdtempSync(join(tmpdir(), 'vigie-hub-signals-'));
    const clock = new VirtualClock(START);
    let hub: Hub;
    let car: Run;
    /** Interface of the car itself, for one test. */
    const ofCar = (): Promise<Rig> => startRig({ signals: car.agent.signals!.view, clock: car.clock });

    beforeAll(async () => {
      hub = await startHub({ data, ...(await database()), port: 0, http: 0, clock, log: new MemoryLog() });
      const earlier = await run([gone, voltage({ resolution: 500, unit: 'mV' }), state], { at: START });
      for (let i = 1; i <= 3; i++) {
        earlier.give({ 'Vehicle.Battery.Voltage': i, 'Vehicle.Gone': i });
        await earlier.pass(1_000);
      }
      await earlier.pass(10_000);
      await earlier.drop();
      const disk = new RecordedDisk(earlier.disk.after(earlier.disk.moments, (most) => most));
      const long = custom('Vehicle.Long', { kind: 'enumeration', names });
      const now = [place, silent, door, voltage({ resolution: 0.1, unit: 'V' }), state, long];
      const texts = [text('Vehicle.Part')];
      car = await run(now, { disk, at: earlier.clock.now(), boot: 2, texts });
      car.say({ 'Vehicle.Part': 'A' });
      for (let i = 1; i <= 200; i++) {
        car.give({
          'Vehicle.Battery.Voltage': 100 + i,
          'Vehicle.State': i % 2,
          'Vehicle.Door.IsOpen': i % 2,
          'Vehicle.Place': i,
          'Vehicle.Long': 7,
        });
        if (i === 60) car.say({ 'Vehicle.Part': 'B' });
        await car.pass(1_000);
      }
      await car.pass(70_000);
      clock.advance(car.clock.now() - clock.now());
      const observer = await Observer.connect(hub.broker, 4);
      const sent = [...earlier.published, ...car.published];
      const bytes = ({ message }: Published, more = {}) => Buffer.from(encodeMessage({ ...message, ...more }));
      for (const one of sent) await observer.send(one.topic, bytes(one));
      // The same telemetry from a start without the time, newest first. Its catalog and the clock correction follow.
      const untimed = earlier.published.flatMap((one) => {
        const { topic, message } = one;
        if (message.kind !== 'telemetry' && message.kind !== 'catalog') return [];
        const { body, at } = message;
        const shifted = message.kind === 'telemetry' ? { ...body, start: message.body.start - BEHIND } : body;
        // The catalog is so much later that the hub must search forwards for it.
        const later = message.kind === 'catalog' ? 600_000 : 0;
        const again = { ...message, at: at - BEHIND + later, clock: 'none', body: shifted } as typeof message;
        return [{ topic: topic.replace(VIN, LATE), message: again, moment: 0 }];
      });
      for (const one of untimed.toReversed()) await observer.send(one.topic, bytes(one));
      const hello = { version: '1', protocol: 1, boot: 1, profile: 'bench', startedAt: 0, behind: BEHIND };
      const at = { seq: 900, boot: 1, at: START };
      await observer.send(`vigie/1/${LATE}/up/hello`, Buffer.from(payloadOf('hello', hello, at)));
      await observer.close();
    }, 120_000);

    afterAll(async () => {
      await hub.stop();
      await car.drop();
      rmSync(data, { recursive: true, force: true });
    });

    const url = (path: string, vin = VIN): string => `${hub.interface.url}/vigie/v1/vehicles/${vin}/signals${path}`;
    const json = async (path: string, vin?: string): Promise<Answered & { readonly signals: readonly Answered[] }> =>
      (await fetch(url(path, vin))).json() as never;
    const at = (ms: number): string => new Date(START + ms).toISOString();
    const whole = `from=${at(0)}&to=${at(600_000)}`;

    test('signals and values equal those of the car, including signals of its earlier profile', async () => {
      const own = (await (await ofCar()).get('/vigie/v1/signals')).json as {
        signals: (Answered & { stale?: boolean })[];
      };
      const { signals } = await json('');
      expect(signals.map((one) => one.name)).toEqual([...own.signals.map((one) => one.name), 'Vehicle.Gone'].sort());
      for (const { name: of } of own.signals) {
        const shown = signals.find((one) => one.name === of);
        const { stale, changedAt, ...rest } = own.signals.find((one) => one.name === of) as never as Record<
          string,
          unknown
        >;
        const { at: when, ...ours } = shown as never as Record<string, unknown>;
        expect(ours).toEqual(rest);
        // The newest reading has this value, or repeats it.
        expect([of, (when ?? '') >= (changedAt ?? '')]).toEqual([of, true]);
        expect(await json(`/${of}`)).toEqual(shown);
      }
      expect(signals.find((one) => one.name === 'Vehicle.Gone')).toEqual({
        name: 'Vehicle.Gone',
        kind: 'quantity',
        unit: 's',
        resolution: 1,
        value: 3,
        at: at(2_000),
      });
      expect(signals.find((one) => one.name === 'Vehicle.Silent')).not.toHaveProperty('value');
      expect(signals.find((one) => one.name === 'Vehicle.Long')?.value).toBe(names[6]?.name);
    });

    test('the history of each signal equals that of the car, for every period and limit', async () => {
      const rig = await ofCar();
      const queries = [whole, `${whole}&limit=7`, `from=${at(15_500)}&to=${at(40_000)}`, `to=${at(90_000)}&limit=60`];
      for (const of of ['Vehicle.State', 'Vehicle.Door.IsOpen', 'Vehicle.Place', 'Vehicle.Part', 'Vehicle.Silent']) {
        for (const query of queries) {
          const own = (await rig.get(`/vigie/v1/signals/${of}/history?${query}`)).json;
          expect([of, query, await json(`/${of}/history?${query}`)]).toEqual([of, query, own]);
        }
      }
      const { readings } = await json(`/Vehicle.State/history?${whole}`);
      expect(readings.length).toBeGreaterThanOrEqual(200);
      // The default period is the last hour.
      expect((await json('/Vehicle.Place/history')).readings).toHaveLength(
        (await json(`/Vehicle.Place/history?${whole}`)).readings.length,
      );
    });

    test('readings recorded under an earlier profile state their own unit', async () => {
      const { readings, ...head } = await json(`/Vehicle.Battery.Voltage/history?${whole}`);
      expect(head).toEqual({ name: 'Vehicle.Battery.Voltage', unit: 'V', more: false });
      expect(readings.slice(0, 4).map(({ value, unit }) => [value, unit])).toEqual([
        ...[500, 1000, 1500].map((value) => [value, 'mV']),
        [10.1, undefined],
      ]);
      const early = await json(`/Vehicle.Battery.Voltage/history?from=${at(0)}&to=${at(5_000)}`);
      expect(early).toMatchObject({ unit: 'mV', readings: [{ value: 500 }, { value: 1000 }, { value: 1500 }] });
      expect(early.readings[0]).not.toHaveProperty('unit');
    });

    test('telemetry from before its catalog and before the time was known is read with both', async () => {
      const { readings } = await json(`/Vehicle.Gone/history?${whole}`, LATE);
      const shown = (await json(`/Vehicle.Gone/history?${whole}`)).readings;
      expect(readings).toEqual(shown);
      expect(shown.map(({ value }) => value)).toEqual([1, 2, 3]);
      expect((await json('/Vehicle.Gone', LATE)).value).toBe(3);
    });

    test('an unknown signal is not found but the nearest name is suggested, and an invalid request is refused as by the car', async () => {
      expect((await fetch(url('', UNKNOWN))).status).toBe(404);
      for (const path of ['/Vehicle.Stat', '/Vehicle.Stat/history']) {
        const answer = await fetch(url(path));
        expect([path, answer.status]).toEqual([path, 404]);
        expect(await answer.text()).toContain('did you mean Vehicle.State');
      }
      const rig = await ofCar();
      for (const query of ['from=yesterday', `from=${at(2)}&to=${at(1)}`, 'limit=0', 'limit=10001', 'since=1']) {
        expect([query, (await fetch(url(`/Vehicle.State/history?${query}`))).status]).toEqual([query, 400]);
        expect([query, (await rig.get(`/vigie/v1/signals/Vehicle.State/history?${query}`)).status]).toEqual([
          query,
          400,
        ]);
      }
      expect((await fetch(url('?limit=1'))).status).toBe(400);
    });
  });
}
