import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { MemoryRecords } from '../../../adapters/store/index.ts';
import { Status } from '../../../agent/model/status.ts';
import type { Publisher, PutOptions } from '../../../agent/ports.ts';
import { StatusRecorder } from '../../../agent/recorders/status.ts';
import { TelemetryRecorder } from '../../../agent/recorders/telemetry.ts';
import { Records } from '../../../agent/records.ts';
import { encodeMessage } from '../../../protocol/cbor/message.ts';
import type { Body, BodyKind } from '../../../protocol/schema/message.ts';
import { readingsFromTelemetry, type Telemetry } from '../../../protocol/schema/telemetry.ts';
import { type Slot, type SlotValue, slotById, slotByPath } from '../../../protocol/slots.ts';

const T = Date.UTC(2026, 5, 1);
const slot = (path: string): Slot => slotByPath.get(path) as Slot;

/** Accepts messages like the outbox. A message that cannot be encoded fails here. */
class Collected implements Publisher {
  readonly messages: { kind: BodyKind; body: unknown; options: PutOptions }[] = [];

  put<K extends BodyKind>(kind: K, body: Body<K>, options: PutOptions = {}): void {
    encodeMessage({ version: 1, kind, seq: 0, boot: 1, at: T, clock: 'ntp', body });
    this.messages.push({ kind, body, options });
  }

  async secure<K extends BodyKind>(kind: K, body: Body<K>, options: PutOptions = {}): Promise<void> {
    this.put(kind, body, options);
  }
}

function setUp() {
  const status = new Status();
  const published = new Collected();
  const write = (path: string, value: SlotValue, at: number) => status.write(slot(path), value, at);
  const log = { info: () => undefined, warn: () => undefined, error: () => undefined };
  const records = new Records(published, new MemoryRecords(), log);
  return { status, published, records, write };
}

describe('status recorder', () => {
  function recorder() {
    const rig = setUp();
    const it = new StatusRecorder(rig.status, rig.published);
    rig.status.observe(it);
    return { ...rig, it, bodies: () => rig.published.messages.map(({ body }) => body as Body<'status'>) };
  }

  test('the first status on a new connection is full, and later ones have collected changes', () => {
    const { it, write, published, bodies } = recorder();
    write('ignition.type', 'Stop', T);
    write('kinetic.speed', 0, T);
    it.linkUp(T);
    expect(published.messages[0]?.options).toEqual({ retain: true, first: true });
    expect(bodies()[0]).toEqual({
      full: true,
      status: { ignition: { createdAt: T, type: 'Stop' }, kinetic: { createdAt: T, speed: 0 } },
    });
    write('kinetic.speed', 10, T + 100);
    it.tick(T + 9_000);
    expect(published.messages).toHaveLength(1);
    write('kinetic.speed', 20, T + 10_050);
    it.tick(T + 10_100);
    expect(bodies()[1]).toEqual({ full: false, status: { kinetic: { createdAt: T + 10_050, speed: 20 } } });
    expect(published.messages[1]?.options.retain).toBeUndefined();
    write('ignition.type', 'Start', T + 11_000);
    it.tick(T + 12_000);
    // All changes since the last full one, so that a lost message does no harm.
    expect(bodies()[2]).toEqual({
      full: false,
      status: { ignition: { createdAt: T + 11_000, type: 'Start' }, kinetic: { createdAt: T + 10_050, speed: 20 } },
    });
    it.tick(T + 20_999);
    expect(published.messages).toHaveLength(3);
    it.tick(T + 21_000);
    expect(published.messages[3]?.options).toEqual({ retain: true, first: true });
    expect(bodies()[3]).toEqual({ ...bodies()[2], full: true });
    it.tick(T + 300_000);
    expect(published.messages).toHaveLength(4);
  });

  test('a quantity that changes after a pause is sent after a second', () => {
    const { it, write, bodies } = recorder();
    write('environment.air.temp', 20, T);
    it.linkUp(T);
    write('environment.air.temp', 21, T + 11_200);
    it.tick(T + 12_000);
    expect(bodies()).toHaveLength(1);
    it.tick(T + 13_000);
    expect(bodies()[1]).toEqual({ full: false, status: { environment: { air: { createdAt: T + 11_200, temp: 21 } } } });
  });

  test('quantities that change all the time are sent every eleven seconds, between whole ones', () => {
    const { it, write, bodies } = recorder();
    it.linkUp(T);
    const sentAt: number[] = [];
    for (let second = 0; second <= 60; second++) {
      it.tick(T + second * 1000);
      if (bodies().length > sentAt.length) sentAt.push(second);
      for (let ms = 100; ms < 1000; ms += 300) write('kinetic.speed', second + ms / 1000, T + second * 1000 + ms);
    }
    expect(sentAt).toEqual([1, 12, 23, 34, 45, 56]);
  });

  test('stale values are listed each time they become stale', () => {
    const { it, write, status, bodies } = recorder();
    const speed = slot('kinetic.speed');
    status.expireAfter(speed, 5000);
    write('kinetic.speed', 50, T);
    it.linkUp(T);
    status.sweep(T + 6000);
    it.tick(T + 7000);
    expect(bodies()[1]).toEqual({ full: false, status: {}, stale: [speed.id] });
    status.seen(speed, T + 8000);
    status.sweep(T + 8000);
    it.tick(T + 9000);
    expect(bodies()[2]).toEqual({ full: false, status: {} });
  });

  test('a removed value is sent with a full status', () => {
    const { it, write, status, bodies } = recorder();
    write('kinetic.speed', 50, T);
    write('odometer.mileage', 7, T);
    it.linkUp(T);
    status.remove(slot('kinetic.speed'), T + 500);
    it.tick(T + 1000);
    expect(bodies()[1]).toEqual({ full: true, status: { odometer: { createdAt: T, mileage: 7 } } });
  });

  test('a subscriber that starts at any time has the exact Status once the car is quiet', () => {
    const paths = ['kinetic.speed', 'odometer.mileage', 'engines.Thermic.speed', 'environment.air.temp'] as const;
    const step = fc.tuple(
      fc.integer({ min: 100, max: 15_000 }),
      fc.constantFrom(...paths),
      fc.integer({ min: -1, max: 9 }),
    );
    fc.assert(
      fc.property(fc.array(step, { minLength: 1, maxLength: 30 }), fc.nat(400_000), (steps, from) => {
        const { it, status, published } = recorder();
        it.linkUp(T);
        const arrivals: { at: number; body: Body<'status'>; retained: boolean }[] = [];
        let at = T;
        const tickTo = (until: number) => {
          for (; at < until; at += 1000) {
            const before = published.messages.length;
            it.tick(at);
            for (const { body, options } of published.messages.slice(before)) {
              arrivals.push({ at, body: body as Body<'status'>, retained: options.retain === true });
            }
          }
        };
        for (const [wait, path, value] of steps) {
          tickTo(at + wait);
          if (value < 0) status.remove(slot(path), at);
          else status.write(slot(path), value, at);
        }
        tickTo(at + 12_000);
        const start = T + (from % (at - T));
        const retained = arrivals.filter((one) => one.retained && one.at < start).at(-1);
        let known: object = {};
        for (const { body } of [...(retained ? [retained] : []), ...arrivals.filter((one) => one.at >= start)]) {
          known = body.full ? body.status : { ...known, ...body.status };
        }
        expect(known).toEqual(status.contents());
      }),
    );
  });

  test('no status is queued while the link is down, and a full one is sent when it is back', () => {
    const { it, write, bodies } = recorder();
    write('kinetic.speed', 1, T);
    it.linkUp(T);
    it.linkDown();
    for (let second = 1; second < 100; second++) {
      write('kinetic.speed', second, T + second * 1000);
      it.tick(T + second * 1000);
    }
    expect(bodies()).toHaveLength(1);
    it.linkUp(T + 100_000);
    expect(bodies()[1]).toEqual({ full: true, status: { kinetic: { createdAt: T + 99_000, speed: 99 } } });
  });

  test('a full status is sent every minute while values change, and once after the last change', () => {
    const { it, write, bodies } = recorder();
    it.linkUp(T);
    it.tick(T + 1_000);
    expect(bodies()).toEqual([]);
    const wholeAt: number[] = [];
    for (let second = 1; second <= 600; second++) {
      const at = T + second * 1000;
      if (second <= 150) write('kinetic.speed', second, at);
      const before = bodies().length;
      it.tick(at);
      if (bodies().length > before && bodies().at(-1)?.full === true) wholeAt.push(second);
    }
    expect(wholeAt).toEqual([1, 61, 121, 160]);
    expect(bodies().at(-1)?.status).toEqual({ kinetic: { createdAt: T + 150_000, speed: 150 } });
  });
});

describe('telemetry recorder', () => {
  const rules = {
    default: { interval: 1000, deadBand: 0, heartbeat: 60_000 },
    'kinetic.speed': { interval: 1000, deadBand: 1, heartbeat: 10_000 },
  };

  function recorder() {
    const rig = setUp();
    const it = new TelemetryRecorder(rig.status, rig.records, rules);
    rig.status.observe(it);
    const sent = () =>
      rig.published.messages.flatMap(({ body }) =>
        readingsFromTelemetry(body as Telemetry).map(({ slot: { path }, value, at }) => [path, value, at - T]),
      );
    const parts = () => [...it.parts()].flatMap(([, part]) => (part ?? []) as [number, number, SlotValue][]);
    const kept = () => parts().map(([id, at, value]) => [slotById.get(id)?.path, value, at - T]);
    /** Sent readings, and readings that would be restored after a power cut. */
    const readings = () => [...sent(), ...kept()];
    return { ...rig, it, readings, kept };
  }

  test('telemetry has one reading per interval, the last one, so that a series ends with the true value', () => {
    const { it, write, readings } = recorder();
    for (let tenth = 0; tenth <= 25; tenth++) write('kinetic.speed', tenth * 2, T + tenth * 100);
    for (let second = 1; second < 9; second++) it.tick(T + second * 1000);
    expect(readings()).toEqual([
      ['kinetic.speed', 0, 0],
      ['kinetic.speed', 20, 1000],
      ['kinetic.speed', 40, 2000],
      ['kinetic.speed', 50, 2500],
    ]);
  });

  test('telemetry continues after a clock that steps back', () => {
    const { it, write, readings } = recorder();
    write('kinetic.speed', 10, T);
    write('kinetic.speed', 20, T - 3_600_000);
    it.tick(T - 3_599_000);
    write('kinetic.speed', 30, T - 3_598_000);
    it.tick(T - 3_597_000);
    expect(readings().map(([, value]) => value)).toEqual([10, 20, 30]);
  });

  test('an unchanged value is repeated after a clock that stepped back', () => {
    const { it, status, write, readings } = recorder();
    write('kinetic.speed', 7, T);
    const back = T - 3_600_000;
    status.stepped(-3_600_000);
    for (let second = 1; second <= 30; second++) {
      status.seen(slot('kinetic.speed'), back + second * 1000);
      it.tick(back + second * 1000);
    }
    expect(readings().map(([, , at]) => at)).toEqual([0, -3_589_000, -3_579_000]);
  });

  test('a change below the dead-band is not recorded, but small changes add up', () => {
    const { it, write, readings } = recorder();
    for (let second = 0; second <= 8; second++) {
      write('kinetic.speed', second * 0.3, T + second * 1000);
      it.tick(T + second * 1000);
    }
    expect(readings()).toEqual([
      ['kinetic.speed', 0, 0],
      ['kinetic.speed', 1.2, 4000],
      ['kinetic.speed', 2.4, 8000],
    ]);
  });

  test('an unchanged value is repeated while its source is alive', () => {
    const { it, status, write, readings } = recorder();
    status.expireAfter(slot('kinetic.speed'), 5_000);
    write('kinetic.speed', 7, T);
    for (let second = 1; second <= 40; second++) {
      if (second <= 22) status.seen(slot('kinetic.speed'), T + second * 1000);
      it.tick(T + second * 1000);
    }
    expect(readings().map(([, , at]) => at)).toEqual([0, 10_000, 20_000]);
  });

  test('telemetry contains names, flags and sets, but no texts', () => {
    const { it, write, readings } = recorder();
    write('ignition.type', 'Start', T);
    write('kinetic.moving', true, T);
    write('energies.Electric.extension.electric.charging.remainingTime', 'PT1H', T);
    it.flush();
    expect(readings()).toEqual([
      ['kinetic.moving', true, 0],
      ['ignition.type', 'Start', 0],
    ]);
  });

  test('telemetry is sent in batches of a minute or a thousand readings', () => {
    const { it, write, published, kept } = recorder();
    for (let second = 0; second < 65; second++) {
      write('odometer.mileage', second, T + second * 1000);
      it.tick(T + second * 1000 + 500);
    }
    expect(published.messages).toHaveLength(1);
    expect(readingsFromTelemetry(published.messages[0]?.body as Telemetry)).toHaveLength(61);
    expect(kept()).toHaveLength(4);
    const busy = recorder();
    for (let n = 0; n < 1500; n++) {
      busy.write('odometer.mileage', n, T + n * 1000);
      if (n % 100 === 0) busy.it.tick(T + n * 1000);
    }
    expect(busy.published.messages.length).toBeGreaterThan(1);
  });

  test('an open batch is restored after a power cut, second by second', () => {
    const first = recorder();
    for (let second = 0; second < 20; second++) {
      first.write('odometer.mileage', second, T + second * 1000);
      first.it.tick(T + second * 1000 + 500);
    }
    const parts = [...first.it.parts()];
    expect(parts).toHaveLength(20);
    // Readings of a second are written once and stay unchanged.
    first.write('odometer.mileage', 20, T + 20_000);
    expect([...first.it.parts()].slice(0, 20)).toEqual(parts);
    const second = recorder();
    second.it.restoreParts(structuredClone([...first.it.parts()].map(([, part]) => part)));
    expect(second.kept()).toEqual(first.kept());
    second.it.flush();
    expect(second.readings()).toHaveLength(21);
    // The keys of the first run are removed.
    expect([...second.it.parts()].filter(([, part]) => part !== undefined)).toEqual([]);
  });

  test('a value that Status has lost after a restart is not repeated, and does not stop others', () => {
    const first = recorder();
    first.write('alarm.trigger.startAt', T, T);
    first.it.tick(T + 500);
    first.write('alarm.trigger.startAt', T, T + 1_000);
    const second = recorder();
    second.it.restore(structuredClone(first.it.state()));
    second.it.tick(T + 120_000);
    second.write('kinetic.speed', 10, T + 120_500);
    second.it.flush();
    expect(second.readings()).toEqual([['kinetic.speed', 10, 120_500]]);
  });

  test('when the time becomes known, readings of an earlier run that knew the time are not moved', () => {
    const first = recorder();
    first.write('odometer.mileage', 1, T);
    const second = recorder();
    second.it.restore(structuredClone(first.it.state()));
    second.it.restoreParts(structuredClone([...first.it.parts()].map(([, part]) => part)));
    // Without a known time, the clock begins years in the past.
    second.write('kinetic.speed', 10, 5_000);
    second.it.correct(T + 60_000, 10_000);
    expect(second.readings()).toEqual([
      ['odometer.mileage', 1, 0],
      ['kinetic.speed', 10, 65_000],
    ]);
  });

  test('times are rounded to the configured resolution', () => {
    const rig = setUp();
    const it = new TelemetryRecorder(rig.status, rig.records, {
      default: { interval: 100, deadBand: 0, heartbeat: 60_000, resolution: 100 },
    });
    rig.status.observe(it);
    rig.write('kinetic.speed', 10, T + 123);
    rig.write('kinetic.speed', 20, T + 1289);
    it.flush();
    const readings = readingsFromTelemetry(rig.published.messages[0]?.body as Telemetry);
    expect(readings.map(({ at }) => at - T)).toEqual([100, 1300]);
  });
});
