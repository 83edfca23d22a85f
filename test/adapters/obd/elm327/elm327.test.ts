import { describe, expect, it } from 'vitest';
import { Elm327 } from '../../../../adapters/obd/elm327/index.ts';
import type { DiagnosticAddress } from '../../../../adapters/obd/requester.ts';
import { defined } from '../../../../protocol/defined.ts';
import { VigieError } from '../../../../protocol/errors.ts';
import { VirtualClock } from '../../../rig/clock.ts';
import { Ecu, type EcuOptions, hex, unhex } from './car.ts';
import { Emulator, type EmulatorOptions } from './emulator.ts';
import { Cable, within } from './lines.ts';

const VIN = '4902015646335546413334353637383930313233';
const LONG = `62F190${Array.from({ length: 300 }, (_, i) => hex([i & 0xff])).join('')}`;

const ENGINE: EcuOptions = {
  request: 0x7e0,
  response: 0x7e8,
  answers: { '0100': ['4100BE3EB811'], '010D': ['410D32'], '0902': [VIN], '22F190': [LONG], '2201': ['7F2213'] },
};
const BODY: DiagnosticAddress = { request: 0x7b0, response: 0x7b8, extended: false };
const TIRES: DiagnosticAddress = { request: 0x750, response: 0x758, extended: false, target: 0x2a, source: 0x2a };

const ALL: DiagnosticAddress = { request: 0x7df, extended: false };
const ONE: DiagnosticAddress = { request: 0x7e0, response: 0x7e8, extended: false };

interface Rig {
  readonly emulator: Emulator;
  readonly cable: Cable;
  readonly clock: VirtualClock;
  readonly elm: Elm327;
  ask(address: DiagnosticAddress, payload: string, timeout?: number): Promise<[string, string][]>;
}

function rig(
  options: EmulatorOptions,
  ecus: readonly EcuOptions[] = [ENGINE],
): Rig & { readonly ecus: readonly Ecu[] } {
  const units = ecus.map((unit) => new Ecu(unit));
  const emulator = new Emulator({ ecus: units, ...options });
  const cable = new Cable(emulator);
  const clock = new VirtualClock();
  const elm = new Elm327({ open: cable.open, clock });
  const ask = async (address: DiagnosticAddress, payload: string, timeout?: number): Promise<[string, string][]> => {
    const request = { address, payload: Uint8Array.from(unhex(payload)) };
    const answers = await within(clock, elm.request(timeout === undefined ? request : { ...request, timeout }));
    return answers.map((answer) => [answer.id.toString(16), hex([...answer.payload])]);
  };
  return { emulator, cable, clock, elm, ask, ecus: units };
}

const KINDS: readonly (readonly [string, EmulatorOptions])[] = [
  ['an ELM327', { name: 'ELM327 v2.2' }],
  ['an early ELM327', { name: 'ELM327 v1.0', lacking: /^AT(AT|AL|CRA|CEA|TA|FC|M0|S0|R\d|DPN)|^ST/, countless: true }],
  ['a clone that claims a version', { name: 'ELM327 v2.1', lacking: /^AT(AL|CEA|TA|FCS|M0|CRA$|AT)|^ST/ }],
  ['a clone that always echoes', { ignored: /^ATE0/ }],
  ['a clone that prints spaces and line feeds', { ignored: /^AT[SL]0/, chatty: true }],
  ['a clone that accepts settings without effect', { ignored: /^ST|^ATR\d|^ATFC|^ATAL/, stn: 'STN1110' }],
  ['an STN', { name: 'ELM327 v1.4b', stn: 'STN2120 v5.6.19' }],
];

describe.each(KINDS)('%s', (_, options) => {
  it('sends urgent requests before waiting ones, each in order', async () => {
    const { clock, elm } = rig(options);
    const asked: string[] = [];
    const ask = (payload: string, urgent: boolean) => {
      const request = { address: ONE, payload: Uint8Array.from(unhex(payload)), urgent };
      return elm.request({ ...request, allowed: () => void asked.push(payload) });
    };
    await within(clock, elm.start());
    const polls = ['010D', '0100', '0902'].map((payload) => ask(payload, false));
    const orders = ['2201', '22F190'].map((payload) => ask(payload, true));
    await within(clock, Promise.all([...polls, ...orders]));
    // The first request was already in progress.
    expect(asked.filter((payload, i) => asked.indexOf(payload) === i)).toEqual([
      '010D',
      '2201',
      '22F190',
      '0100',
      '0902',
    ]);
  });

  it('does not send a request that is forbidden when its turn comes', async () => {
    const { clock, elm, ecus } = rig(options);
    const refusal = new VigieError('command.vehicleInUse', 'the car drives');
    const request = {
      address: ONE,
      payload: Uint8Array.of(0x01, 0x0d),
      allowed: () => {
        throw refusal;
      },
    };
    await expect(within(clock, elm.request(request))).rejects.toMatchObject({ code: refusal.code });
    expect(ecus[0]?.requests).not.toContain('010D');
    expect(await within(clock, elm.request({ ...request, allowed: () => undefined }))).toHaveLength(1);
  });

  it('yields answers of one frame and of many', async () => {
    const { ask, emulator } = rig(options);
    expect(await ask(ALL, '010D')).toEqual([['7e8', '410D32']]);
    expect(await ask(ONE, '0902')).toEqual([['7e8', VIN]]);
    expect(await ask(ONE, '22F190')).toEqual([['7e8', LONG]]);
    expect(await ask(ONE, '22F190')).toEqual([['7e8', LONG]]);
    expect(await ask(ONE, '010D')).toEqual([['7e8', '410D32']]);
    expect(await ask(ALL, '010D')).toEqual([['7e8', '410D32']]);
    expect(emulator.repeated).toBe(0);
  });

  it('yields no answers if no unit answers', async () => {
    const { ask, elm } = rig(options);
    expect(await ask(ALL, '0146')).toEqual([]);
    expect(await ask(BODY, '2101')).toEqual([]);
    expect(elm.health()).toMatchObject({ state: 'running', counts: { unanswered: 2, failed: 0 } });
  });

  it('can address control units with non-standard identifiers', async () => {
    const body = {
      request: 0x7b0,
      response: 0x7b8,
      answers: { '2101': ['6101AABB'], '2105': [`6105${'11'.repeat(20)}`] },
    };
    const { ask } = rig(options, [ENGINE, body]);
    expect(await ask(BODY, '2101')).toEqual([['7b8', '6101AABB']]);
    expect(await ask(BODY, '2105')).toEqual([['7b8', `6105${'11'.repeat(20)}`]]);
    expect(await ask(BODY, '2105')).toEqual([['7b8', `6105${'11'.repeat(20)}`]]);
    expect(await ask(ALL, '010D')).toEqual([['7e8', '410D32']]);
  });

  it('sends flow control to a configured identifier', async () => {
    const odd = {
      request: 0x6b4,
      response: 0x694,
      flowControl: 0x6b5,
      answers: { '22D410': [`62D410${'AB'.repeat(30)}`] },
    };
    const { ask } = rig(options, [ENGINE, odd]);
    const address = { request: 0x6b4, response: 0x694, flowControl: 0x6b5, extended: false };
    expect(await ask(address, '22D410')).toEqual([['694', `62D410${'AB'.repeat(30)}`]]);
    expect(await ask(address, '22D410')).toEqual([['694', `62D410${'AB'.repeat(30)}`]]);
    expect(await ask(ONE, '0902')).toEqual([['7e8', VIN]]);
  });

  it.each([
    [0x2a, 0x2a],
    [0x2a, undefined],
    [0x2a, 0xf1],
    [0x12, 0xf1],
  ])('uses extended addresses: %i, %i', async (target, source) => {
    const tires: EcuOptions = {
      request: 0x750,
      response: 0x758,
      target,
      source: source ?? target,
      answers: { '2130': ['61309B9C9F9D9C'], '2101': ['610105'] },
    };
    const { ask } = rig(options, [ENGINE, tires]);
    const address = { ...TIRES, target };
    const from: DiagnosticAddress = source === undefined ? omit(address) : { ...address, source };
    expect(await ask(from, '2101')).toEqual([['758', '610105']]);
    expect(await ask(from, '2130')).toEqual([['758', '61309B9C9F9D9C']]);
    expect(await ask(from, '2130')).toEqual([['758', '61309B9C9F9D9C']]);
    expect(await ask(ONE, '0902')).toEqual([['7e8', VIN]]);
    expect(await ask(from, '2101')).toEqual([['758', '610105']]);
  });

  it.each([
    [8, [0, 0], 0],
    [20, [0, 0], 0],
    [40, [2, 5], 0],
    [40, [1, 0], 2],
    [200, [8, 1], 1],
  ] as const)('sends %i bytes: flow %j, WAIT %i', async (length, flow, waits) => {
    const request = `2E0001${'5A'.repeat(length - 3)}`;
    const unit = { ...ENGINE, request: 0x7a0, response: 0x7a8, flow, waits, answers: { [request]: ['6E0001'] } };
    const { ask, ecus } = rig(options, [ENGINE, unit]);
    const address = { request: 0x7a0, response: 0x7a8, extended: false };
    expect(await ask(address, request)).toEqual([['7a8', '6E0001']]);
    expect(ecus[1]?.requests.filter((got) => got === request)).toHaveLength(1);
    expect(await ask(ONE, '010D')).toEqual([['7e8', '410D32']]);
  });

  it('waits for an announced answer', async () => {
    const slow = {
      ...ENGINE,
      answers: {
        '0100': ['4100BE3EB811'],
        '2201FF': ['7F2278', 'later', '7F2278', 'later', '6201FF01'],
        '22F190': ['7F2278', 'later', LONG],
        '2202FF': ['7F2278', 'later'],
        '31010203': ['7F3178', 'later', '71010203'],
      },
    };
    const { ask, ecus } = rig(options, [slow]);
    expect(await ask(ONE, '2201FF')).toEqual([['7e8', '6201FF01']]);
    expect(await ask(ONE, '22F190')).toEqual([['7e8', LONG]]);
    expect(await ask(ONE, '31010203')).toEqual([['7e8', '71010203']]);
    await expect(ask(ONE, '2202FF')).rejects.toMatchObject({ code: 'input.malformed' });
    expect(ecus[0]?.requests.filter((got) => got === '31010203')).toHaveLength(1);
    expect(await ask(ONE, '2201FF')).toEqual([['7e8', '6201FF01']]);
  });

  it('supports 29-bit identifiers', async () => {
    const engine = { ...ENGINE, request: 0x18da10f1, response: 0x18daf110, extended: true };
    const { ask, elm } = rig({ ...options, protocol: '7' }, [engine]);
    const one = { request: 0x18da10f1, response: 0x18daf110, extended: true };
    expect(await ask({ request: 0x18db33f1, extended: true }, '010D')).toEqual([['18daf110', '410D32']]);
    expect(await ask(one, '22F190')).toEqual([['18daf110', LONG]]);
    expect(await ask(one, '22F190')).toEqual([['18daf110', LONG]]);
    expect(elm.protocol).toBe('7');
  });
});

function omit({ request, response, extended, target }: DiagnosticAddress): DiagnosticAddress {
  return {
    request,
    extended,
    ...defined({ response, target }),
  };
}

describe('an adapter', () => {
  it('gets each setting only once', async () => {
    const { ask, emulator } = rig({});
    await ask(ONE, '010D');
    await ask(ONE, '0902');
    const before = emulator.commands.length;
    await ask(ONE, '010D');
    await ask(ONE, '0902');
    // The last digit is the number of expected frames, so that the adapter need not wait for more.
    expect(emulator.commands.slice(before)).toEqual(['010D1', '09023']);
  });

  it('that lacks a command gets it only once', async () => {
    const { ask, emulator, elm } = rig({ lacking: /^AT(CRA|FCS|AL)|^ST/, countless: true });
    for (let i = 0; i < 3; i++) {
      await ask(BODY, '2101');
      await ask(ONE, '0902');
      await ask(ALL, '010D');
    }
    for (const verb of ['ATAL', 'STI', 'ATFCSH7B0', 'ATCRA7B8', 'ATCRA']) {
      expect(emulator.commands.filter((command) => command === verb)).toHaveLength(2);
    }
    expect(emulator.commands).not.toContain('ATCRA7E8');
    expect(emulator.commands.filter((command) => command.length === 5 && command.startsWith('0902'))).toHaveLength(1);
    expect(elm.adapter?.lacking).toEqual(expect.arrayContaining(['ATAL/0', 'ATCRA/3', 'ATFCSH/3']));
  });

  it('whose flow control fails gets it from the driver, afterwards without another trial', async () => {
    const body = { request: 0x7b0, response: 0x7b8, answers: { '2105': [`6105${'11'.repeat(20)}`] } };
    const { ask, emulator } = rig({ lacking: /^ATFC/ }, [ENGINE, body]);
    await ask(BODY, '2105');
    await ask(BODY, '2105');
    const before = emulator.commands.length;
    expect(await ask(BODY, '2105')).toEqual([['7b8', `6105${'11'.repeat(20)}`]]);
    expect(emulator.commands.slice(before)).toEqual(['022105CCCCCCCCCC1', '300000CCCCCCCCCC']);
  });

  it('that loses frames gets a longer separation time', async () => {
    const { ask, emulator, ecus } = rig({ buffer: 6 });
    expect(await ask(ONE, '22F190')).toEqual([['7e8', LONG]]);
    expect(ecus[0]?.pauses).toEqual([0, 5]);
    expect(emulator.commands).toContain('ATFCSD300005');
    expect(await ask(ONE, '22F190')).toEqual([['7e8', LONG]]);
  });

  it('keeps the detected protocol when it is unplugged and plugged in again', async () => {
    const { ask, emulator, cable, clock, elm } = rig({});
    await ask(ALL, '010D');
    expect(elm.protocol).toBe('6');
    expect(emulator.commands.filter((command) => command === '0100')).toHaveLength(1);
    cable.unplug();
    expect(elm.health()).toMatchObject({ state: 'waiting', reason: 'unplugged' });
    await expect(elm.request({ address: ALL, payload: Uint8Array.of(1, 13) })).rejects.toMatchObject({
      code: 'input.unreadable',
    });
    await clock.settle(20_000);
    expect(elm.health().state).toBe('waiting');
    cable.plug();
    await clock.settle(60_000);
    expect(elm.health()).toMatchObject({ state: 'running' });
    expect(await ask(ALL, '010D')).toEqual([['7e8', '410D32']]);
    expect(emulator.commands.filter((command) => command === '0100')).toHaveLength(1);
    expect(cable.opened).toBe(2);
  });

  it('that restarts is configured again, between and within requests', async () => {
    const { ask, emulator, elm } = rig({});
    await ask(ONE, '010D');
    emulator.restart();
    expect(await ask(ONE, '010D')).toEqual([['7e8', '410D32']]);
    emulator.interventions.push(() => {
      emulator.restart('');
      return '';
    });
    expect(await ask(ONE, '0902')).toEqual([['7e8', VIN]]);
    expect(elm.health().counts).toMatchObject({ resets: 2, failed: 0 });
    expect(emulator.settings).toMatchObject({ echo: false, headers: true, spaces: false });
  });

  it.each(['LV RESET', 'ERR94', 'ACT ALERT', 'LP ALERT'])('that prints %s is configured again', async (alert) => {
    const { ask, emulator, elm } = rig({});
    await ask(ONE, '010D');
    emulator.interventions.push(() => `\r\r${alert}\r\r>`);
    expect(await ask(ONE, '010D')).toEqual([['7e8', '410D32']]);
    expect(elm.health().counts['resets']).toBe(1);
  });

  it('that hangs is recovered without repeating a request', async () => {
    const { ask, emulator, elm, ecus } = rig({});
    await ask(ONE, '010D');
    emulator.interventions.push(() => undefined);
    expect(await ask(ONE, '010D')).toEqual([['7e8', '410D32']]);
    expect(elm.health().counts['resyncs']).toBe(1);
    emulator.interventions.push(() => undefined);
    await expect(ask(ONE, '31010203')).rejects.toMatchObject({ code: 'input.unreadable' });
    expect(ecus[0]?.requests).not.toContain('31010203');
    expect(emulator.repeated).toBe(0);
    expect(await ask(ONE, '010D')).toEqual([['7e8', '410D32']]);
  });

  it.each([
    ['BUS BUSY', 'input.unreadable'],
    ['BUS ERROR', 'input.unreadable'],
    ['FB ERROR', 'input.unreadable'],
    ['CAN ERROR', 'input.unreadable'],
    ['BUS INIT: ...ERROR', 'input.unreadable'],
    ['UNABLE TO CONNECT', 'input.unreadable'],
    ['<RX ERROR', 'input.malformed'],
    ['7E8 03 41 0D 32 <DATA ERROR', 'input.malformed'],
    ['STOPPED', 'input.malformed'],
    ['7E8 10 14 49 02 01 31 44 34\r7E8 22 42 31 32 33 34 35 36', 'input.malformed'],
    ['#$%&', 'input.malformed'],
    ['', 'input.malformed'],
  ])('that prints %j fails with %s, and answers the next request', async (text, code) => {
    const { ask, emulator } = rig({});
    await ask(ONE, '010D');
    const said = () => `${text}\r\r>`;
    emulator.interventions.push(...Array<() => string | undefined | 'pass'>(1).fill(said));
    // The driver repeats requests that only read; it does not repeat others.
    await expect(ask(ONE, '31010203')).rejects.toMatchObject({ code });
    expect(await ask(ONE, '010D')).toEqual([['7e8', '410D32']]);
  });

  it('that is missing, or another device, is reported', async () => {
    const { ask, emulator, elm } = rig({ script: () => 'x' });
    emulator.interventions.push(...Array<() => undefined>(6).fill(() => undefined));
    await expect(ask(ONE, '010D')).rejects.toThrow(/no ELM327 answers on this line/);
    expect(elm.health()).toMatchObject({ state: 'waiting' });
  });

  it('reports a sleeping car, and then searches for the protocol again', async () => {
    const { ask, emulator, elm } = rig({});
    emulator.asleep = true;
    await expect(ask(ALL, '010D')).rejects.toMatchObject({
      code: 'input.unreadable',
      message: expect.stringContaining('UNABLE TO CONNECT'),
    });
    expect(elm.health()).toMatchObject({ state: 'waiting', reason: expect.stringContaining('ignition') });
    emulator.asleep = false;
    expect(await ask(ALL, '010D')).toEqual([['7e8', '410D32']]);
    expect(elm.health()).toMatchObject({ state: 'running' });
    emulator.asleep = true;
    for (let i = 0; i < 3; i++) await expect(ask(ALL, '010D')).rejects.toThrow('CAN ERROR');
    expect(elm.protocol).toBeUndefined();
    emulator.asleep = false;
    expect(await ask(ALL, '010D')).toEqual([['7e8', '410D32']]);
  });

  it('measures the voltage of the port, or reports that it cannot', async () => {
    const { elm, clock } = rig({});
    expect(await within(clock, elm.voltage())).toBe(12.6);
    const poor = rig({ lacking: /^ATRV/ });
    await expect(within(poor.clock, poor.elm.voltage())).rejects.toMatchObject({ code: 'input.unreadable' });
  });

  it('sends nothing to the bus without a request', async () => {
    const { emulator, elm, clock, ecus } = rig({});
    await within(clock, elm.start());
    await clock.settle(120_000, 1000);
    expect(emulator.commands.filter((command) => !/^(AT|ST)/.test(command))).toEqual([]);
    expect(ecus[0]?.requests).toEqual([]);
    expect(elm.adapter).toMatchObject({ name: 'ELM327 v1.5', stn: undefined });
  });

  it('without headers yields the answers of the addressed unit', async () => {
    const { ask } = rig({ lacking: /^ATH/ });
    expect(await ask(ONE, '010D')).toEqual([['7e8', '410D32']]);
  });

  it('in a car without CAN accepts only functional requests, and yields headers', async () => {
    const { ask, elm } = rig({ protocol: '3' });
    expect(await ask(ALL, '0100')).toEqual([['486b10', '4100BE3EB811']]);
    expect(elm.protocol).toBe('3');
    await expect(ask(ONE, '0100')).rejects.toThrow('the car has no CAN');
  });

  it('yields the answers of several control units, but only of those addressed', async () => {
    const second = { request: 0x7e1, response: 0x7e9, answers: { '010D': ['410D33'], '0100': ['410080000000'] } };
    const { ask } = rig({}, [ENGINE, second]);
    expect(await ask(ALL, '010D')).toEqual([
      ['7e8', '410D32'],
      ['7e9', '410D33'],
    ]);
    expect(await ask({ request: 0x7df, response: 0x7e9, extended: false }, '010D')).toEqual([['7e9', '410D33']]);
  });

  it('with a late answer does not yield it for another request', async () => {
    const { ask, emulator, elm } = rig({});
    await ask(ONE, '010D');
    emulator.interventions.push(() => '7E8 03 41 0C 1A F8\r\r>');
    expect(await ask(ONE, '010D')).toEqual([]);
    expect(elm.health().counts['strays']).toBe(1);
    expect(await ask(ONE, '010D')).toEqual([['7e8', '410D32']]);
  });

  it('with unexpected output is synchronised before the next request', async () => {
    const { ask, emulator, elm, ecus } = rig({});
    await ask(ONE, '010D');
    for (const unasked of ['7E8 03 41 0C 1A\r', 'xyz', '\r\rELM327 v1.5\r\r>']) {
      emulator.print(unasked);
      expect(await ask(ONE, '31010203')).toEqual([]);
    }
    expect(elm.health().counts).toMatchObject({ resyncs: 2, resets: 1, failed: 0 });
    expect(ecus[0]?.requests.filter((got) => got === '31010203')).toHaveLength(3);
  });

  it('serves requests in order, from any number of callers', async () => {
    const { elm, clock } = rig({});
    const asked = Array.from({ length: 20 }, (_, i) =>
      elm.request({ address: ONE, payload: Uint8Array.from(unhex(i % 2 === 0 ? '010D' : '0902')) }),
    );
    const all = await within(clock, Promise.all(asked));
    expect(all.map(([answer]) => answer?.payload.length)).toEqual(asked.map((_, i) => (i % 2 === 0 ? 3 : 20)));
  });

  it('that is closed rejects waiting requests and stays closed', async () => {
    const { elm, clock, cable } = rig({});
    await within(clock, elm.start());
    const waiting = elm.request({ address: ONE, payload: Uint8Array.of(1, 13) });
    const refused = expect(waiting).rejects.toMatchObject({ code: 'input.unreadable' });
    await elm.close();
    await refused;
    await clock.settle(120_000, 1000);
    expect(cable.opened).toBe(1);
    await expect(elm.request({ address: ONE, payload: Uint8Array.of(1, 13) })).rejects.toThrow('closed');
    expect(clock.pending).toBe(0);
  });
});
