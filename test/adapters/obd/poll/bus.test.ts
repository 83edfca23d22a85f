/** The poll source over the transport over frames: a simulated car with two control units. */
import { expect, it } from 'vitest';
import { hexOf } from '../../../../adapters/obd/hex.ts';
import { IsoTp } from '../../../../adapters/obd/isotp/index.ts';
import { discoverUnits, readVehicleInformation } from '../../../../adapters/obd/j1979/index.ts';
import { ObdSource } from '../../../../adapters/obd/poll/index.ts';
import { VirtualClock } from '../../../rig/clock.ts';
import { Bus, batchOf, ControlUnit, settled } from '../isotp/wire.ts';
import { standard } from '../standard.ts';
import { hex, Sink } from './car.ts';

/** Answers to service 01 by parameter. Several parameters in a request share one answer of several frames. */
function serve(data: Readonly<Record<string, string>>, vin?: string) {
  return (request: Uint8Array): Uint8Array[] => {
    const text = hexOf(request);
    if (text === '0902' && vin !== undefined) return [Uint8Array.of(0x49, 2, 1, ...new TextEncoder().encode(vin))];
    if (!text.startsWith('01')) return [hex(`7F${text.slice(0, 2)}11`)];
    const parts = (text.slice(2).match(/../g) ?? []).flatMap((pid) =>
      data[pid] === undefined ? [] : [pid + data[pid]],
    );
    return parts.length === 0 ? [] : [hex(`41${parts.join('')}`)];
  };
}

it('a car is discovered, polled, and left alone when it sleeps', async () => {
  const clock = new VirtualClock();
  const bus = new Bus(clock);
  const isotp = new IsoTp({ clock, sender: bus, bus: 'obd', index: 0, asleepAfter: 2000 });
  bus.join((frame) => isotp.receive(batchOf(frame)));
  const unit = (n: number, answer: (request: Uint8Array) => Uint8Array[]) =>
    new ControlUnit({ clock, bus, listens: [0x7df, 0x7e0 + n], answers: 0x7e8 + n, serve: answer });
  // 05, 0C, 0D and the next list; 5B is in the other unit.
  unit(0, serve({ '00': '08180001', '20': '00000000', '05': '5A', '0C': '1AF8', '0D': '32' }, 'VF3CC5FS0GT000001'));
  unit(1, serve({ '00': '00000001', '20': '00000001', '40': '00000020', '5B': '80' }));
  const chatter = bus.join(() => undefined);
  const talk = async (ms: number) => {
    for (let passed = 0; passed < ms; passed += 500) {
      chatter({ id: 0x123, flags: 0, data: hex('00') });
      await clock.settle(500, 1);
    }
  };

  const wanted = ['VehicleSpeed', 'EngineSpeed', 'CoolantTemperature', 'HybridBatteryLevel', 'OilTemperature'].map(
    (signal) => ({
      bus: 'obd',
      message: 'OBD',
      signal,
    }),
  );
  const sink = new Sink(wanted);
  const source = new ObdSource({ clock, requester: isotp, sets: [standard()], bus: 'obd' });
  await source.start(wanted, sink);
  await clock.settle(3000);
  expect(bus.sent).toEqual([]);
  expect(source.health()).toMatchObject({ state: 'waiting', reason: expect.stringContaining('sleeps') });

  await talk(8000);
  expect(sink.values('VehicleSpeed').length).toBeGreaterThan(4);
  expect(new Set(sink.values('EngineSpeed'))).toEqual(new Set([1726]));
  expect(sink.values('CoolantTemperature')[0]).toBe(50);
  expect(sink.values('HybridBatteryLevel')[0]).toBeCloseTo(50.196, 3);
  expect(sink.values('OilTemperature')).toEqual([]);
  const shared = bus.sent.filter(({ id, data }) => id === 0x7e0 && data[1] === 1 && (data[0] as number) > 2);
  expect(shared.length).toBeGreaterThan(2);
  expect(bus.sent.filter(({ id }) => id === 0x7e1).map(({ data }) => hexOf(data.subarray(0, 3)))).toContain('02015B');

  // Answers of the car do not count as bus activity: without other frames, the requests end.
  await clock.settle(3000);
  const before = bus.sent.length;
  await clock.settle(60_000, 50);
  expect(bus.sent.length).toBe(before);
  expect(source.health()).toMatchObject({ state: 'waiting', counts: { silences: 0 } });

  await Promise.all([source.stop(), clock.settle(3000)]);
  chatter({ id: 0x123, flags: 0, data: hex('00') });
  await clock.settle(10);
  const units = await settled(clock, discoverUnits(isotp));
  expect(units).toMatchObject({ status: 'fulfilled', value: [{ id: 0x7e8 }, { id: 0x7e9 }] });
  chatter({ id: 0x123, flags: 0, data: hex('00') });
  await clock.settle(10);
  expect(await settled(clock, readVehicleInformation(isotp))).toMatchObject({
    status: 'fulfilled',
    value: [{ unit: 0x7e8, vin: 'VF3CC5FS0GT000001' }],
  });
});
