import { describe, expect, it } from 'vitest';
import { bytesOf, hexOf } from '../../../../adapters/obd/hex.ts';
import { IsoTp, type IsoTpOptions, type IsoTpRequest } from '../../../../adapters/obd/isotp/index.ts';
import { ERROR, SENT } from '../../../../agent/ports.ts';
import { VirtualClock } from '../../../rig/clock.ts';
import { Bus, batchOf, ControlUnit, extended, settled, type UnitOptions } from './wire.ts';

const hex = (text: string) => bytesOf(text.replaceAll(' ', '')) as Uint8Array;
const engine = { request: 0x7e0, extended: false, response: 0x7e8 };
const all = { request: 0x7df, extended: false };

function bench(options: Partial<IsoTpOptions> = {}) {
  const clock = new VirtualClock();
  const bus = new Bus(clock);
  const isotp = new IsoTp({
    clock,
    sender: bus,
    bus: 'obd',
    index: 0,
    asleepAfter: Number.POSITIVE_INFINITY,
    ...options,
  });
  bus.join((frame) => isotp.receive(batchOf(frame)));
  const unit = (own: Partial<UnitOptions> & Pick<UnitOptions, 'serve'>) =>
    new ControlUnit({ clock, bus, listens: [0x7e0, 0x7df], answers: 0x7e8, ...own });
  const ask = async (payload: string, request: Partial<IsoTpRequest> = {}) => {
    const outcome = await settled(clock, isotp.request({ address: engine, payload: hex(payload), ...request }));
    if (outcome.status === 'rejected') throw outcome.reason;
    return outcome.value.map(({ id, payload }) => `${id.toString(16)} ${hexOf(payload)}`);
  };
  return { clock, bus, isotp, unit, ask };
}

const vin = `4902 01${'56463335323133343536373839303132333435'}`;

describe('a request', () => {
  it('is a single frame, padded to eight bytes', async () => {
    const { bus, unit, ask } = bench();
    unit({ serve: () => [hex('410D32')] });
    expect(await ask('010D')).toEqual(['7e8 410D32']);
    expect(hexOf(bus.sent[0]?.data as Uint8Array)).toBe('02010DCCCCCCCCCC');
  });

  it('is not padded if padding is off', async () => {
    const { bus, unit, ask } = bench({ settings: { padding: undefined } });
    unit({ serve: () => [hex('410D32')] });
    await ask('010D');
    expect(hexOf(bus.sent[0]?.data as Uint8Array)).toBe('02010D');
  });

  it('with a long answer sends flow control to the unit that answers', async () => {
    const { bus, unit, ask } = bench();
    unit({ serve: () => [hex(vin)] });
    expect(await ask('0902', { address: all })).toEqual([`7e8 ${vin.replaceAll(' ', '')}`]);
    expect(bus.sent.map(({ id, data }) => `${id.toString(16)} ${hexOf(data)}`).slice(0, 3)).toEqual([
      '7df 020902CCCCCCCCCC',
      '7e8 1016490201564633',
      '7e0 300000CCCCCCCCCC',
    ]);
  });

  it('can have answers of several units at once', async () => {
    const { unit, ask } = bench();
    for (const n of [0, 1, 2, 3]) {
      unit({ listens: [0x7e0 + n, 0x7df], answers: 0x7e8 + n, serve: () => [hex(`${vin}0${n}`)] });
    }
    const answers = await ask('0902', { address: all });
    expect(answers.sort()).toEqual(
      [0, 1, 2, 3].map((n) => `7e${(8 + n).toString(16)} ${vin.replaceAll(' ', '')}0${n}`),
    );
  });

  it("yields the complete answer although another unit's is incomplete", async () => {
    const { bus, unit, ask, isotp } = bench();
    unit({ serve: () => [hex(vin)] });
    unit({ listens: [0x7e1, 0x7df], answers: 0x7e9, serve: () => [hex(vin)] });
    bus.fate = ({ id, data }) => (id === 0x7e9 && data[0] === 0x22 ? [] : [1]);
    expect(await ask('0902', { address: all })).toEqual([`7e8 ${vin.replaceAll(' ', '')}`]);
    expect(isotp.counts).toMatchObject({ requests: 1, answers: 1, incomplete: 1 });
  });

  it('can have 29-bit identifiers', async () => {
    const { unit, ask, bus } = bench();
    unit({
      listens: [extended(0x18da10f1), extended(0x18db33f1)],
      answers: extended(0x18daf110),
      serve: () => [hex(vin)],
    });
    expect(await ask('0902', { address: { request: 0x18db33f1, extended: true } })).toHaveLength(1);
    expect(await ask('0902', { address: { request: 0x18da10f1, extended: true } })).toHaveLength(1);
    expect(bus.sent.filter(({ data }) => data[0] === 0x30).map(({ id }) => id)).toEqual([
      extended(0x18da10f1),
      extended(0x18da10f1),
    ]);
  });

  it('ignores a 29-bit frame with the number of its 11-bit identifier', async () => {
    const { unit, ask } = bench();
    unit({ answers: extended(0x7e8), serve: () => [hex('410D32')] });
    expect(await ask('010D')).toEqual([]);
  });

  it('can have extended addressing', async () => {
    const { unit, ask, bus } = bench();
    unit({
      listens: [0x750],
      answers: 0x758,
      address: 0x2a,
      serve: (request) => [hex(`61${hexOf(request.subarray(1))}0102030405060708`)],
    });
    const address = { request: 0x750, extended: false, response: 0x758, target: 0x2a, source: 0x2a };
    expect(await ask('2130', { address })).toEqual(['758 61300102030405060708']);
    expect(hexOf(bus.sent[0]?.data as Uint8Array)).toBe('2A022130CCCCCCCC');
    expect(hexOf(bus.sent[2]?.data as Uint8Array)).toBe('2A300000CCCCCCCC');
  });

  it("can be long, and then follows the receiver's block size and separation time", async () => {
    const { unit, ask, bus, clock } = bench();
    const long = hex(`2E F190${'00'.repeat(60)}`);
    const times: number[] = [];
    bus.fate = ({ id, data }) => {
      if (id === 0x7e0 && (data[0] as number) >> 4 === 2) times.push(clock.monotonic());
      return [1];
    };
    const ecu = unit({ settings: { blockSize: 3, separation: 20 }, serve: () => [hex('6EF190')] });
    expect(await ask(hexOf(long))).toEqual(['7e8 6EF190']);
    expect(ecu.requests.map(hexOf)).toEqual([hexOf(long)]);
    expect(times).toHaveLength(9);
    for (const [i, time] of times.entries())
      if (i % 3 !== 0) expect(time - (times[i - 1] as number)).toBeGreaterThanOrEqual(20);
    expect(bus.sent.filter(({ data, id }) => id === 0x7e8 && data[0] === 0x30)).toHaveLength(3);
  });

  it('asks for blocks if configured', async () => {
    const { unit, ask, bus } = bench({ settings: { blockSize: 1, separation: 0.3 } });
    unit({ serve: () => [hex(vin)] });
    expect(await ask('0902')).toHaveLength(1);
    expect(
      bus.sent.filter(({ id, data }) => id === 0x7e0 && data[0] === 0x30).map(({ data }) => hexOf(data.subarray(0, 3))),
    ).toEqual(['3001F3', '3001F3', '3001F3']);
  });

  it('can use CAN FD frames and lengths beyond 4095', async () => {
    const { unit, ask, bus } = bench({ settings: { frameLength: 64 } });
    const long = `22F1${'AB'.repeat(5000)}`;
    const ecu = unit({
      settings: { frameLength: 64 },
      serve: () => [hex(`62F190${'01'.repeat(20)}`), hex(`62F1AB${'02'.repeat(6000)}`)],
    });
    expect(await ask(long)).toEqual([`7e8 62F1AB${'02'.repeat(6000)}`]);
    expect(ecu.requests.map((request) => request.length)).toEqual([5002]);
    expect(hexOf(bus.sent[0]?.data.subarray(0, 6) as Uint8Array)).toBe('10000000138A');
    expect(new Set(bus.sent.map(({ data }) => data.length))).toEqual(new Set([64, 8, 24, 32]));
  });
});

describe('a late or missing answer', () => {
  it('yields an empty list after the time limit', async () => {
    const { ask, clock } = bench();
    expect(await ask('010D')).toEqual([]);
    expect(clock.monotonic()).toBeGreaterThanOrEqual(200);
  });

  it('is waited for after "response pending"', async () => {
    const { bus, unit, ask } = bench();
    unit({ serve: () => [hex('7F2278'), hex('7F2278'), hex('62F19041')] });
    let answers = 0;
    bus.fate = ({ id }) => (id === 0x7e8 ? ([[1], [3000], [7500]][answers++] ?? []) : [1]);
    expect(await ask('22F190')).toEqual(['7e8 62F19041']);
  });

  it('is an error if it was announced and did not come', async () => {
    const { unit, ask } = bench();
    unit({ serve: () => [hex('7F2278')] });
    await expect(ask('22F190')).rejects.toThrow(/7E8 said "response pending" to service 22/);
  });

  it('is an error if it is announced again and again', async () => {
    const { clock, bus, unit, ask } = bench({ settings: { longestPending: 10_000 } });
    unit({ serve: () => Array.from({ length: 100 }, () => hex('7F2278')) });
    let announced = 0;
    bus.fate = ({ id }) => [id === 0x7e8 ? 3000 * announced++ : 1];
    await expect(ask('22F190')).rejects.toThrow(/7E8 said "response pending"/);
    expect(clock.monotonic()).toBeGreaterThan(10_000);
    expect(clock.monotonic()).toBeLessThan(15_000);
  });

  it('may be a refusal, which is returned unchanged', async () => {
    const { unit, ask } = bench();
    unit({ serve: () => [hex('7F0112')] });
    expect(await ask('01FF')).toEqual(['7e8 7F0112']);
  });

  it('does not count as the answer to the next request', async () => {
    const { bus, unit, ask, isotp } = bench();
    unit({ serve: (request) => [hex(`41${hexOf(request.subarray(1))}32`)] });
    let n = 0;
    bus.fate = ({ id }) => (id === 0x7e8 ? [n++ === 0 ? 210 : 40] : [1]);
    expect(await ask('010D')).toEqual([]);
    expect(await ask('010C')).toEqual(['7e8 410C32']);
    expect(isotp.counts.strays).toBe(1);
  });
});

describe('flow control', () => {
  const long = `2EF190${'00'.repeat(30)}`;

  it('may ask to WAIT, but not forever', async () => {
    const { bus, isotp, ask } = bench({ settings: { waits: 3 } });
    const put = bus.join(() => undefined);
    let sent = 0;
    bus.fate = ({ id }) => {
      if (id === 0x7e0) sent++;
      return [1];
    };
    const asked = ask(long);
    for (let i = 0; i < 5; i++) {
      await new Promise((resolve) => setImmediate(resolve));
      put({ id: 0x7e8, flags: 0, data: hex('310000') });
    }
    await expect(asked).rejects.toThrow(/WAIT 4 times/);
    expect(sent).toBe(1);
    isotp.close();
  });

  it('may refuse the length', async () => {
    const { unit, ask } = bench();
    const ecu = unit({ settings: { longest: 20 }, serve: () => [] });
    await expect(ask(long)).rejects.toThrow(/no room for 33 bytes/);
    expect(ecu.faults.map(({ code }) => code)).toEqual(['input.malformed']);
  });

  it('that is missing is an error', async () => {
    const { ask } = bench();
    await expect(ask(long)).rejects.toThrow(/no flow control came within 1000 ms/);
  });

  it('refuses an answer that is too long', async () => {
    const { clock, unit, ask } = bench({ settings: { longest: 10 } });
    const ecu = unit({ serve: () => [hex(vin)] });
    await expect(ask('0902')).rejects.toThrow(/an answer of 22 bytes; at most 10/);
    clock.advance(1);
    await ecu.idle();
    expect(ecu.faults.map(({ message }) => message)).toEqual([expect.stringContaining('no room for 22 bytes')]);
  });
});

describe('an answer in several frames', () => {
  it.each([
    [
      'lost',
      /frame 2 is missing or out of order: 3 came/,
      ({ data }: { data: Uint8Array }) => (data[0] === 0x22 ? [] : [1]),
    ],
    [
      'cut off',
      /next frame did not come within 1000 ms/,
      ({ data }: { data: Uint8Array }) => (data[0] === 0x23 ? [] : [1]),
    ],
    [
      'repeated',
      /frame 3 is missing or out of order: 2 came/,
      ({ data }: { data: Uint8Array }) => (data[0] === 0x22 ? [1, 1] : [1]),
    ],
  ])('is an error if one is %s', async (_, message, fate) => {
    const { bus, unit, ask } = bench();
    unit({ serve: () => [hex(`${vin}0102030405`)] });
    bus.fate = fate;
    await expect(ask('0902')).rejects.toThrow(message);
  });

  it('that failed has ended before the next request is sent', async () => {
    const { clock, bus, unit, ask } = bench();
    unit({ settings: { separation: 0 }, serve: () => [hex(`${vin}0102030405`)] });
    bus.fate = ({ id, data }) => (id !== 0x7e8 ? [1] : data[0] === 0x22 ? [] : data[0] === 0x23 ? [40] : [1]);
    await expect(ask('0902')).rejects.toThrow(/frame 2 is missing/);
    const broken = clock.monotonic();
    let asked = Number.NaN;
    bus.fate = ({ data }) => {
      if (data[0] === 0x02) asked = clock.monotonic();
      return [1];
    };
    expect(await ask('0902')).toHaveLength(1);
    expect(asked).toBeGreaterThanOrEqual(broken + 1000);
  });

  it('is replaced by a complete one of the same sender', async () => {
    const { bus, ask } = bench();
    const put = bus.join(({ id }) => {
      if (id !== 0x7e0) return;
      put({ id: 0x7e8, flags: 0, data: hex('1014490201564633') });
      put({ id: 0x7e8, flags: 0, data: hex('03410D32') });
    });
    expect((await Promise.all([ask('010D')]))[0]).toEqual(['7e8 410D32']);
  });
});

describe('a silent bus', () => {
  it('gets no request except one that may wake it', async () => {
    const { clock, bus, unit, ask, isotp } = bench({ asleepAfter: 3000 });
    unit({ serve: () => [hex('410D32')] });
    await expect(ask('010D')).rejects.toMatchObject({ code: 'input.unreadable' });
    expect(bus.sent).toEqual([]);
    isotp.receive(batchOf({ id: 0x123, flags: 0, data: hex('00') }, 1));
    isotp.receive(batchOf({ id: 0x123, flags: SENT, data: hex('00') }));
    isotp.receive(batchOf({ id: (ERROR | 4) >>> 0, flags: 0, data: hex('00') }));
    expect(isotp.asleep).toBe(true);
    isotp.receive(batchOf({ id: 0x123, flags: 0, data: hex('00') }));
    expect(await ask('010D')).toEqual(['7e8 410D32']);
    clock.advance(3000);
    await expect(ask('010D')).rejects.toThrow(/sleeps/);
    expect(await ask('010D', { wake: true })).toEqual(['7e8 410D32']);
    // The answer to our own request does not count as activity on the bus.
    await expect(ask('010D')).rejects.toThrow(/sleeps/);
  });
});

describe('limits', () => {
  it('apply to the length and the number of requests', async () => {
    const { ask, isotp, clock } = bench({ settings: { longest: 100 } });
    await expect(ask('')).rejects.toMatchObject({ code: 'message.unbounded' });
    await expect(ask('22'.repeat(101))).rejects.toMatchObject({ code: 'message.unbounded' });
    await expect(ask('01'.repeat(8), { address: all })).rejects.toThrow(/one frame/);
    const waiting = Array.from({ length: 65 }, () => isotp.request({ address: engine, payload: hex('010D') }));
    await expect(isotp.request({ address: engine, payload: hex('010D') })).rejects.toThrow(/wait already/);
    const outcomes = Promise.allSettled(waiting);
    isotp.close();
    expect((await outcomes).every(({ status }) => status === 'rejected')).toBe(true);
    clock.advance(1);
    expect(clock.pending).toBe(0);
  });

  it('exclude invalid frame lengths', () => {
    expect(() => bench({ settings: { frameLength: 63 } })).toThrow(/do not exist/);
  });

  it('report a bus that does not accept frames', async () => {
    const clock = new VirtualClock();
    const stuck = new IsoTp({
      clock,
      sender: { send: () => new Promise(() => undefined) },
      bus: 'obd',
      index: 0,
      asleepAfter: Number.POSITIVE_INFINITY,
    });
    const broken = new IsoTp({
      clock,
      sender: { send: () => Promise.reject(new Error('ENETDOWN')) },
      bus: 'obd',
      index: 0,
      asleepAfter: Number.POSITIVE_INFINITY,
    });
    for (const [isotp, message] of [
      [stuck, /took no frame for 1000 ms/],
      [broken, /ENETDOWN/],
    ] as const) {
      const outcome = await settled(clock, isotp.request({ address: engine, payload: hex('010D') }));
      expect(outcome).toMatchObject({ status: 'rejected', reason: { code: 'input.unreadable' } });
      expect(String((outcome as PromiseRejectedResult).reason)).toMatch(message);
    }
  });
});
