import { describe, expect, it } from 'vitest';
import { ObdSource, type ObdSourceOptions, type PollSettings } from '../../../../adapters/obd/poll/index.ts';
import { VigieError } from '../../../../protocol/errors.ts';
import { VirtualClock } from '../../../rig/clock.ts';
import { raw, setOf } from '../sets.ts';
import { standard } from '../standard.ts';
import { Car, type Says, Sink } from './car.ts';

const ENGINE = 0x7e8;

/** A car with these parameters of service 01, answered together or one at a time. */
function parameters(data: Readonly<Record<string, string>>, together = true): (payload: string) => Says {
  return (payload) => {
    if (!payload.startsWith('01')) return undefined;
    const pids = payload.slice(2).match(/../g) ?? [];
    if (pids.length > 1 && !together) return undefined;
    const parts = pids.flatMap((pid) => {
      const number = Number.parseInt(pid, 16);
      if (number % 0x20 === 0) return [`${pid}${bitmap(Object.keys(data), number)}`];
      const own = data[pid];
      return own === undefined ? [] : [pid + own];
    });
    return parts.length === 0 ? undefined : { [ENGINE]: `41${parts.join('')}` };
  };
}

function bitmap(pids: readonly string[], base: number): string {
  const numbers = pids.map((pid) => Number.parseInt(pid, 16));
  let bits = 0n;
  for (let i = 1; i <= 32; i++) {
    const more = i === 32 && numbers.some((pid) => pid > base + 32);
    if (numbers.includes(base + i) || more) bits |= 1n << BigInt(32 - i);
  }
  return bits.toString(16).padStart(8, '0');
}

async function drive(
  says: Car['says'],
  signals: readonly string[],
  settings: Partial<PollSettings> = {},
  options: Partial<ObdSourceOptions> = {},
) {
  const clock = new VirtualClock();
  const car = new Car(clock, says);
  const wanted = signals.map((name) => {
    const [message = '', signal = ''] = name.includes('.') ? name.split('.') : ['OBD', name];
    return { bus: 'obd', message, signal };
  });
  const sink = new Sink(wanted);
  const source = new ObdSource({ clock, requester: car, sets: [standard()], bus: 'obd', settings, ...options });
  await source.start(wanted, sink);
  /** Stops the source. The pending answer takes some time. */
  const end = () => Promise.all([source.stop(), clock.settle(50)]);
  return { clock, car, sink, source, end };
}

const unreadable = (why: string) => new VigieError('input.unreadable', why);

describe('polling', () => {
  it('first discovers the parameters, then polls only wanted ones, from the unit that has them', async () => {
    const { clock, car, sink, source, end } = await drive(parameters({ '0D': '32', A6: '0001E240' }), [
      'VehicleSpeed',
      'Odometer',
      'OilTemperature',
    ]);
    await clock.settle(3000);
    expect(car.asked.slice(0, 6).map(({ to, payload }) => `${to} ${payload}`)).toEqual([
      '7DF 0100',
      '7DF 0120',
      '7DF 0140',
      '7DF 0160',
      '7DF 0180',
      '7DF 01A0',
    ]);
    expect(new Set(car.asked.slice(6).map(({ to, payload }) => `${to} ${payload}`))).toEqual(
      new Set(['7E0 010DA6', '7E0 010D']),
    );
    expect(sink.values('VehicleSpeed')[0]).toBe(50);
    expect(sink.values('Odometer')).toEqual([12345.6]);
    expect(source.health()).toMatchObject({ state: 'running', counts: { '7DF.015C refusals': 1, silences: 0 } });
    await end();
  });

  it('respects the intervals of profile and set, with one request at a time and within the rate limit', async () => {
    const data = Object.fromEntries(['04', '05', '0B', '0C', '0D', '0F', '10', '11'].map((pid) => [pid, '0102']));
    const { clock, car, end } = await drive(
      parameters({ ...data, '04': '01', '05': '01', '0B': '01', '0D': '01', '0F': '01', '11': '01' }),
      ['EngineLoad', 'CoolantTemperature', 'IntakePressure', 'EngineSpeed', 'VehicleSpeed', 'AirFlow'],
      {
        parametersPerRequest: 1,
        requestsPerSecond: 5,
        rules: {
          'OBD.VehicleSpeed': { interval: 400, priority: 'high' },
          'OBD.CoolantTemperature': { interval: 2000 },
        },
      },
    );
    await clock.settle(30_000);
    await end();
    expect(car.together).toBe(1);
    for (const [i, { at }] of car.asked.entries()) {
      if (i > 0) expect(at - (car.asked[i - 1]?.at as number)).toBeGreaterThanOrEqual(200);
    }
    const gaps = (payload: string) => {
      const times = car.times(payload);
      return times.slice(1).map((time, i) => time - (times[i] as number));
    };
    expect(Math.min(...gaps('010D'))).toBeGreaterThanOrEqual(400);
    expect(Math.min(...gaps('0105'))).toBeGreaterThanOrEqual(2000);
    // Overload: 6.5 requests a second are due and 5 allowed. The urgent one stays regular, and all others continue.
    expect(Math.max(...gaps('010D'))).toBeLessThanOrEqual(600);
    for (const payload of ['0104', '0105', '010B', '010C', '0110']) {
      expect(car.times(payload).length, payload).toBeGreaterThan(8);
      expect(Math.max(...gaps(payload)), payload).toBeLessThan(5000);
    }
  });

  it('requests up to six parameters together, or one at a time if the car does not support that', async () => {
    const data = { '04': '80', '05': '5A', '0B': '64', '0C': '1AF8', '0D': '32', '0F': '40', '11': '33' };
    const names = [
      'EngineLoad',
      'CoolantTemperature',
      'IntakePressure',
      'EngineSpeed',
      'VehicleSpeed',
      'IntakeTemperature',
      'ThrottlePosition',
    ];
    const able = await drive(parameters(data), names);
    await able.clock.settle(1000);
    expect(Math.max(...able.car.asked.map(({ payload }) => payload.length / 2 - 1))).toBe(6);
    expect(able.sink.values('EngineSpeed')).toContain(1726);
    for (const name of names) expect(able.sink.values(name).length, name).toBeGreaterThan(0);
    const unable = await drive(parameters(data, false), names);
    await unable.clock.settle(3000);
    for (const name of names) expect(unable.sink.values(name).length, name).toBeGreaterThan(0);
    expect(unable.car.asked.filter(({ payload }) => payload.length > 4).length).toBe(2);
    expect(unable.source.health().counts['silences']).toBe(0);
    await Promise.all([able.end(), unable.end()]);
  });

  it('requests parameters separately that a combined answer omits', async () => {
    const whole = parameters({ '0C': '1AF8', '0D': '32' });
    const { clock, car, sink, end } = await drive(
      (payload) => (payload === '010C0D' || payload === '010D0C' ? { [ENGINE]: '410D32' } : whole(payload)),
      ['EngineSpeed', 'VehicleSpeed'],
    );
    await clock.settle(2500);
    expect(sink.values('EngineSpeed').length).toBeGreaterThan(1);
    expect(car.asked.filter(({ payload }) => payload.length === 6)).toHaveLength(1);
    await end();
  });

  it('ignores an inconsistent combined answer', async () => {
    const whole = parameters({ '0C': '1AF8', '0D': '32' });
    for (const wrong of ['410C1AF80D', '410C1AF80E32', '410C1AF80C1AF8', '41']) {
      const { clock, sink, end } = await drive(
        (payload) => (payload.length === 6 ? { [ENGINE]: wrong } : whole(payload)),
        ['EngineSpeed', 'VehicleSpeed'],
      );
      await clock.settle(1500);
      expect(new Set(sink.values('EngineSpeed'))).toEqual(new Set([1726]));
      expect(new Set(sink.values('VehicleSpeed'))).toEqual(new Set([50]));
      await end();
    }
  });

  it('delivers raw numbers for named values, and nothing for sensors that the car lacks', async () => {
    const { clock, sink, end } = await drive(parameters({ '51': '04', '67': '017B00', '0C': '0001' }), [
      'FuelType',
      'CoolantTemperature1',
      'CoolantTemperature2',
      'EngineRunning',
      'EngineSpeed',
    ]);
    await clock.settle(1000);
    expect(sink.delivered.map(({ at: _, ...rest }) => rest)).toEqual(
      expect.arrayContaining([
        { signal: 'FuelType', value: 4, raw: 4 },
        { signal: 'CoolantTemperature1', value: 83, raw: 123 },
        { signal: 'EngineRunning', value: 1, raw: 1 },
        { signal: 'EngineSpeed', value: 0.25, raw: 1 },
      ]),
    );
    expect(sink.values('CoolantTemperature2')).toEqual([]);
    await end();
  });
});

describe('a command without an answer', () => {
  const set = setOf(
    { hdr: '7E0', rax: '7E8', cmd: { '22': 'F40D' }, freq: 1, signals: [raw('A')] },
    { hdr: '7E4', rax: '7EC', cmd: { '22': '0101' }, freq: 1, signals: [raw('B')] },
  );

  it('is repeated at growing intervals up to the maximum, and again at once after a pause', async () => {
    const { clock, car, source, end } = await drive(
      (payload) => (payload === '22F40D' ? { [ENGINE]: '62F40D07' } : undefined),
      ['A', 'B'],
      { longestBackOff: 60_000 },
      { sets: [set] },
    );
    await clock.settle(600_000, 100);
    const times = car.times('220101');
    const gaps = times.slice(1).map((time, i) => time - (times[i] as number));
    expect(gaps.slice(0, 6).map((gap) => Math.round(gap / 1000))).toEqual([1, 1, 2, 4, 8, 16]);
    expect(Math.max(...gaps)).toBeLessThanOrEqual(60_200);
    expect(gaps.filter((gap) => gap > 59_000).length).toBeGreaterThan(5);
    expect(car.times('22F40D').length).toBeGreaterThan(550);
    expect(source.health()).toMatchObject({ state: 'running', counts: { backedOff: 1 } });
    source.pause();
    await clock.settle(100);
    const before = car.asked.length;
    await clock.settle(10_000, 100);
    expect(car.asked.length).toBe(before);
    expect(source.health()).toMatchObject({ state: 'waiting', reason: 'paused' });
    source.resume();
    await clock.settle(500);
    expect(car.times('220101').length).toBe(times.length + 1);
    expect(source.commands().get('7E4.7EC.220101')).toMatchObject({ answers: 0, silences: times.length + 1 });
    await end();
  });

  it('is not repeated for long if the unit does not support it, and sooner if the unit is busy', async () => {
    const { clock, car, source, end } = await drive(
      (payload) => ({ [ENGINE]: payload === '22F40D' ? '7F2231' : '', 2028: '7F2221' }),
      ['A', 'B'],
      {},
      { sets: [set] },
    );
    await clock.settle(500_000, 100);
    expect(car.times('22F40D')).toHaveLength(1);
    expect(car.times('220101').length).toBeGreaterThan(8);
    await clock.settle(120_000, 100);
    expect(car.times('22F40D')).toHaveLength(2);
    expect(source.health().counts).toMatchObject({ '7E0.7E8.22F40D refusals': 2 });
    await end();
  });

  it('does not count as a failure while the bus sleeps', async () => {
    let asleep = true;
    const there = parameters({ '0D': '32' });
    const { clock, car, sink, source, end } = await drive(
      (payload) => (asleep ? unreadable('the bus sleeps') : there(payload)),
      ['VehicleSpeed'],
    );
    await clock.settle(60_000, 50);
    expect(source.health()).toMatchObject({
      state: 'waiting',
      reason: 'the bus sleeps',
      counts: { silences: 0, backedOff: 0 },
    });
    expect(car.asked.length).toBeLessThan(20);
    asleep = false;
    await clock.settle(6000);
    expect(sink.values('VehicleSpeed').length).toBeGreaterThan(0);
    expect(source.health().state).toBe('running');
    await end();
  });

  it('is reported if the whole car is silent, and polling resumes when the car answers', async () => {
    let off = false;
    const there = parameters({ '0D': '32', '2F': '80' });
    const { clock, car, sink, source, end } = await drive(
      (payload) => (off ? undefined : there(payload)),
      ['VehicleSpeed', 'FuelLevel'],
      {
        longestBackOff: 120_000,
      },
    );
    await clock.settle(5000);
    off = true;
    await clock.settle(900_000, 200);
    expect(source.health()).toMatchObject({ state: 'waiting', reason: 'no control unit answers' });
    const silent = car.asked.length;
    await clock.settle(240_000, 200);
    expect(car.asked.length - silent).toBeLessThan(20);
    off = false;
    sink.delivered.length = 0;
    await clock.settle(125_000, 100);
    expect(sink.values('VehicleSpeed').length).toBeGreaterThan(1);
    expect(sink.values('FuelLevel').length).toBeGreaterThan(0);
    expect(source.health().state).toBe('running');
    await end();
  });

  it('counts a malformed answer as a fault', async () => {
    const { clock, source, end } = await drive(
      () => new VigieError('input.malformed', 'frame 2 is missing'),
      ['A'],
      {},
      { sets: [set] },
    );
    await clock.settle(5000);
    expect(source.health().counts['7E0.7E8.22F40D faults']).toBeGreaterThan(1);
    await end();
  });
});

describe('cars with 29-bit identifiers', () => {
  it('get 29-bit requests for standard services, whatever the set contains', async () => {
    const there = parameters({ '0D': '32' });
    const { clock, car, sink, end } = await drive(
      (payload, { address }) => {
        const says = address.extended ? there(payload) : undefined;
        return says === undefined || says instanceof Error ? undefined : { [0x18daf110]: says[ENGINE] as string };
      },
      ['VehicleSpeed'],
    );
    await clock.settle(2000);
    expect(car.asked.at(-1)?.to).toBe('18DA10F1');
    expect(sink.values('VehicleSpeed')[0]).toBe(50);
    await end();
  });
});
