/** Commands by diagnostics: the requests to a control unit, and the reactions to its failures. */
import { describe, expect, it, vi } from 'vitest';
import { type KeyHook, type KeyHooks, prepareUdsCommands, UdsActuator } from '../../../../adapters/obd/uds/index.ts';
import { BrokenOff } from '../../../../agent/actuators.ts';
import { VigieError } from '../../../../protocol/errors.ts';
import { settled } from '../isotp/wire.ts';
import { benchOf, commands, DiagnosedUnit, type Manner, S3 } from './unit.ts';

const UNLOCKING = ['1003', '2703', '2704486E0C22'];

/** Executes an action and returns the failure as `code: message`, or undefined. */
async function carry(bench: ReturnType<typeof benchOf>, action: string, manners: Manner[] = []) {
  await bench.clock.settle(10, 1);
  bench.unit.manners = manners;
  const outcome = await settled(bench.clock, bench.actuator.actuate(action));
  if (outcome.status === 'fulfilled') return undefined;
  const { code, message } = outcome.reason as VigieError;
  return `${code}: ${message}`;
}

describe('the requests to a control unit', () => {
  it('take an output, keep the session, and return the output', async () => {
    const bench = benchOf();
    const begun = bench.clock.monotonic();
    expect(await carry(bench, 'lights.on')).toBeUndefined();
    expect(bench.unit.requests).toEqual([...UNLOCKING, '2FD0100303', '3E00', '3E00', '2FD01000', '1001']);
    expect(bench.clock.monotonic() - begun).toBeGreaterThanOrEqual(6_000);
    expect(bench.unit).toMatchObject({ idle: true, taken: 1, violations: [] });
  });

  it('start a routine, read its results, and do not stop it', async () => {
    const bench = benchOf();
    expect(await carry(bench, 'doors.lock')).toBeUndefined();
    expect(bench.unit.requests).toEqual([...UNLOCKING, '3101020101', '31030201', '1001']);
  });

  it('stop a timed routine after its time', async () => {
    const bench = benchOf();
    expect(await carry(bench, 'horn.on')).toBeUndefined();
    expect(bench.unit.requests).toEqual([...UNLOCKING, '31010201', '31020201', '1001']);
  });

  it('contain no key if a zero seed shows that it is already unlocked', async () => {
    const bench = benchOf({ locked: false, seed: new Uint8Array(4) });
    expect(await carry(bench, 'doors.lock')).toBeUndefined();
    expect(bench.unit.requests).toEqual(['1003', '2703', '3101020101', '31030201', '1001']);
  });

  it('send a long key in several frames', async () => {
    const bench = benchOf({ seed: new Uint8Array(32).fill(7) });
    expect(await carry(bench, 'doors.lock')).toBeUndefined();
    expect(bench.unit.requests[2]).toBe(`2704${'5D'.repeat(32)}`);
  });

  it("wait as long as the unit's own times allow", async () => {
    const bench = benchOf({ times: [0x03, 0xe8, 0x03, 0x20] });
    const slow: Manner[] = ['proper', { late: 1_400 }, { pending: 1, every: 7_900, kept: true }];
    expect(await carry(bench, 'doors.lock', slow)).toMatch(/^command.expired/);
    expect(bench.unit.requests).toEqual([...UNLOCKING, '1001']);
  });
});

describe('an answer of a control unit', () => {
  const pending = { pending: 3, every: 1_000, kept: true };
  const cases: [what: string, manners: Manner[], outcome: RegExp | undefined, taken: number][] = [
    ['response pending is waited for', ['proper', 'proper', pending, pending], undefined, 1],
    ['busy is asked again', [{ refuse: 0x21 }, 'proper', 'proper', { refuse: 0x21 }, { refuse: 0x21 }], undefined, 1],
    ['busy for ever is a refusal', Array<Manner>(6).fill({ refuse: 0x21 }), /^command.actuation: .*busy/, 0],
    ['no session', [{ refuse: 0x12 }], /^command.unsupported: service 10 refused/, 0],
    ['a wrong key', ['proper', 'proper', { refuse: 0x35 }], /^command.actuation: .*invalid key/, 0],
    ['locked for a time', ['proper', { refuse: 0x37 }], /^command.actuation: .*time delay not expired/, 0],
    ['not in this car', ['proper', 'proper', 'proper', { refuse: 0x31 }], /^command.unsupported: service 31/, 0],
    ['the engine runs', ['proper', 'proper', 'proper', { refuse: 0x83 }], /^command.vehicleInUse/, 0],
    ['too little voltage', ['proper', 'proper', 'proper', { refuse: 0x93 }], /^command.batteryLow/, 0],
    ['conditions', ['proper', 'proper', 'proper', { refuse: 0x22 }], /^command.actuation: .*conditions not correct/, 0],
    ['no answer', Array<Manner>(6).fill('deaf'), /^command.unconfirmed: service 10: no whole answer/, 0],
    ['no answer to the key', ['proper', 'proper', 'mute'], /^command.unconfirmed: service 27/, 0],
    ['no seed', ['proper', { raw: Uint8Array.of(0x67, 3) }], /^command.unconfirmed: service 27: 6703/, 0],
    ['a refusal of another service is ignored', ['proper', { raw: Uint8Array.of(0x7f, 0x22, 0x11) }], undefined, 1],
    ['half a refusal', ['proper', { raw: Uint8Array.of(0x7f, 0x27) }], undefined, 1],
    ['one missing answer is repeated', ['deaf', 'proper', 'deaf'], undefined, 1],
  ];
  it.each(cases)('%s', async (_, manners, outcome, taken) => {
    const bench = benchOf();
    const came = await carry(bench, 'doors.lock', [...manners]);
    if (outcome === undefined) expect(came).toBeUndefined();
    else expect(came).toMatch(outcome);
    await bench.clock.settle(S3 + 100, 100);
    expect(bench.unit).toMatchObject({ taken, session: 1, unlocked: false, violations: [] });
  });

  it('that is missing for the action is not a failure: the state of the car decides', async () => {
    const bench = benchOf();
    expect(await carry(bench, 'lights.on', ['proper', 'proper', 'proper', 'mute'])).toBeUndefined();
    expect(bench.unit).toMatchObject({ idle: true, taken: 1 });
    expect(bench.unit.requests.filter((request) => request.startsWith('2FD01003'))).toHaveLength(1);
    expect(bench.log.lines).toMatchObject([{ level: 'warn', event: 'uds.noAnswer' }]);
  });

  it('that is announced but missing is not a refusal, and control is returned', async () => {
    const bench = benchOf();
    const never: Manner = { pending: 1, every: 1, kept: false };
    expect(await carry(bench, 'lights.on', ['proper', 'proper', 'proper', never])).toBeUndefined();
    expect(bench.unit.requests.slice(-2)).toEqual(['2FD01000', '1001']);
  });

  it('that only announces the result does not count as a refusal, even if the requester returns it', async () => {
    const { clock, log } = benchOf();
    const asked: string[] = [];
    const answers: Readonly<Record<number, number[]>> = { 16: [0x50, 3], 39: [0x67, 3, 0, 0], 47: [0x7f, 0x2f, 0x78] };
    const request = async ({ payload }: { payload: Uint8Array }) => {
      asked.push(Buffer.from(payload).toString('hex'));
      return [{ id: 0x7ae, payload: Uint8Array.from(answers[payload[0] as number] ?? [0x7e, 0]) }];
    };
    const actuator = new UdsActuator({ commands, requesters: new Map([['body', { request }]]), clock, log });
    expect((await settled(clock, actuator.actuate('lights.on'))).status).toBe('fulfilled');
    expect(asked.filter((text) => text.startsWith('2fd01000'))).toHaveLength(3);
  });

  it('with unexpected results is a failure', async () => {
    const bench = benchOf({ results: Uint8Array.of(1, 2) });
    expect(await carry(bench, 'doors.lock')).toBe('command.actuation: the routine ended with 0102 and not with 00');
    expect(bench.unit.session).toBe(1);
  });

  it('to taking control that is late does not count as the answer to returning it', async () => {
    const bench = benchOf();
    const manners: Manner[] = ['proper', 'proper', 'proper', { late: 6_200 }, 'proper', 'proper', 'deaf'];
    expect(await carry(bench, 'lights.on', manners)).toBeUndefined();
    expect(bench.unit.requests.slice(-3)).toEqual(['2FD01000', '2FD01000', '1001']);
  });

  it('about a lost session shows that control has ended', async () => {
    const bench = benchOf();
    expect(await carry(bench, 'lights.on', ['proper', 'proper', 'proper', 'proper', 'reset', 'deaf', 'deaf'])).toBe(
      undefined,
    );
    expect(bench.unit).toMatchObject({ idle: true, taken: 1 });
    expect(bench.log.lines.map(({ event }) => event)).toContain('uds.noResult');
  });
});

describe('a sleeping bus', () => {
  it('gets no request', async () => {
    const bench = benchOf();
    bench.talk(false);
    await bench.clock.settle(4_000, 500);
    const before = bench.bus.sent.length;
    expect(await carry(bench, 'doors.lock')).toBe('command.asleep: bus body sleeps');
    expect(bench.bus.sent.length).toBe(before);
  });

  it('that falls silent during a command gets no further request', async () => {
    const bench = benchOf();
    const done = carry(bench, 'lights.on');
    bench.talk(false);
    expect(await done).toBeUndefined();
    expect(bench.unit).toMatchObject({ idle: true, taken: 1 });
  });
});

describe('a command to a control unit', () => {
  it('waits until the previous one has ended', async () => {
    const bench = benchOf();
    await bench.clock.settle(10, 1);
    const both = Promise.all(['horn.on', 'doors.lock'].map((action) => bench.actuator.actuate(action)));
    expect((await settled(bench.clock, both)).status).toBe('fulfilled');
    const ends = bench.unit.requests.flatMap((request, at) => (request === '1001' ? [at] : []));
    expect(ends).toEqual([5, bench.unit.requests.length - 1]);
    expect(bench.unit.violations).toEqual([]);
  });

  it('waits also if the previous one names the same bus differently', async () => {
    const { clock, log, isotp, unit } = benchOf();
    await clock.settle(10, 1);
    const other = { ...commands['doors.lock'], uds: { ...commands['doors.lock'].uds, bus: 'plug' } };
    const requesters = new Map([
      ['plug', isotp],
      ['body', isotp],
    ]);
    const actuator = new UdsActuator({ commands: { ...commands, 'doors.lock': other }, requesters, clock, log });
    const both = Promise.all(['horn.on', 'doors.lock'].map((action) => actuator.actuate(action)));
    expect((await settled(clock, both)).status).toBe('fulfilled');
    expect(unit.requests.filter((request) => request === '1003' || request === '1001')).toEqual([
      '1003',
      '1001',
      '1003',
      '1001',
    ]);
  });

  it('is not started if it has waited too long', async () => {
    const bench = benchOf();
    await bench.clock.settle(10, 1);
    const both = Promise.allSettled(['lights.on', 'doors.lock'].map((action) => bench.actuator.actuate(action)));
    const outcome = await settled(bench.clock, both);
    expect(outcome).toMatchObject({
      value: [{ status: 'fulfilled' }, { status: 'rejected', reason: { code: 'command.expired' } }],
    });
    expect(bench.unit.taken).toBe(1);
  });

  it('precedes polls: at most one poll comes between two of its requests', async () => {
    const bench = benchOf();
    await bench.clock.settle(10, 1);
    const engine = { request: 0x7e0, extended: false };
    const poll = () => bench.isotp.request({ address: engine, payload: Uint8Array.of(1, 0x0c) });
    const polls = Array.from({ length: 12 }, poll);
    const done = bench.actuator.actuate('doors.lock');
    await settled(bench.clock, Promise.all([...polls, done]));
    const order = bench.bus.sent.flatMap(({ id, data }) =>
      id === 0x7e0 ? ['poll'] : id === 0x7a6 && (data[0] as number) < 0x20 ? ['command'] : [],
    );
    expect(order.slice(0, 12)).toEqual(Array(6).fill(['poll', 'command']).flat());
    expect(order.slice(12)).toEqual(Array(6).fill('poll'));
  });
});

describe('an action that is no longer allowed', () => {
  const inUse = new VigieError('command.vehicleInUse', 'the car drives');

  /** Executes an action while the car drives off at a chosen time; returns the code of the failure. */
  async function drivenOff(bench: ReturnType<typeof benchOf>, at: (drive: () => void) => void) {
    let drives = false;
    at(() => {
      drives = true;
    });
    const done = bench.actuator.actuate('lights.on', undefined, () => {
      if (drives) throw inUse;
    });
    const outcome = await settled(bench.clock, done);
    return outcome.status === 'rejected' ? (outcome.reason as VigieError).code : undefined;
  }

  it('is not repeated after a busy answer', async () => {
    const bench = benchOf();
    await bench.clock.settle(10, 1);
    bench.unit.manners = ['proper', 'proper', 'proper', { refuse: 0x21 }];
    const code = await drivenOff(bench, (drive) => {
      const { requests } = bench.unit;
      const push = requests.push.bind(requests);
      requests.push = (request) => {
        if (request.startsWith('2FD01003')) drive();
        return push(request);
      };
    });
    expect(code).toBe('command.vehicleInUse');
    expect(bench.unit).toMatchObject({ idle: true, taken: 0 });
    expect([...bench.unit.requests]).toEqual([...UNLOCKING, '2FD0100303', '1001']);
  });

  it('is not sent after waiting behind another request', async () => {
    const bench = benchOf();
    await bench.clock.settle(10, 1);
    const engine = new DiagnosedUnit(bench.clock, bench.bus, { request: 0x7e0, answers: 0x7e8 });
    engine.manners = [{ pending: 4, every: 1_000, kept: true }];
    const { requests } = bench.unit;
    const push = requests.push.bind(requests);
    let polled: Promise<unknown> = Promise.resolve();
    const code = await drivenOff(bench, (drive) => {
      requests.push = (request) => {
        const count = push(request);
        // Request before the key is answered, so that this request is next.
        if (request.startsWith('2704')) {
          polled = bench.isotp.request({
            address: { request: 0x7e0, extended: false },
            payload: Uint8Array.of(0x3e, 0),
            urgent: true,
          });
          bench.clock.after(2_000, drive);
        }
        return count;
      };
    });
    expect(code).toBe('command.vehicleInUse');
    expect((await settled(bench.clock, polled)).status).toBe('fulfilled');
    expect(bench.unit).toMatchObject({ idle: true, taken: 0 });
    expect([...requests]).toEqual([...UNLOCKING, '1001']);
  });
});

describe('security keys', () => {
  const hooked = (hook: KeyHook): KeyHooks => new Map([['xor', hook]]);

  it.each<[string, KeyHook, RegExp]>([
    ['throws', () => Promise.reject(new Error('no module')), /the key could not be computed: no module/],
    ['gives nothing', () => new Uint8Array(0), /0 bytes are not keys/],
    ['gives too much', () => new Uint8Array(4_000), /4000 bytes are not keys/],
    ['never ends', () => new Promise(() => undefined), /the key was not computed within 4 s/],
  ])('a key function that %s ends the command and the session', async (_, hook, message) => {
    const bench = benchOf({ hooks: hooked(hook) });
    expect(await carry(bench, 'doors.lock')).toMatch(message);
    expect(bench.unit.requests).toEqual(['1003', '2703', '1001']);
    expect(bench.unit.idle).toBe(true);
  });

  it('a key function is aborted when its key is no longer needed', async () => {
    const aborted = vi.fn();
    const bench = benchOf({
      hooks: hooked(({ signal }) => new Promise(() => signal.addEventListener('abort', aborted))),
    });
    await carry(bench, 'doors.lock');
    expect(aborted).toHaveBeenCalledOnce();
  });

  it('a missing key function is reported with its command, and the other commands remain', () => {
    const { prepared, problems } = prepareUdsCommands(commands, new Map());
    expect(prepared.size).toBe(0);
    expect(problems[0]).toEqual({
      action: 'lights.on',
      message: 'nothing computes keys by the name of xor; known: none',
    });
  });
});

describe('control of an output', () => {
  const forbidden = new VigieError('command.vehicleInUse', 'it drives');
  const ended = (bench: ReturnType<typeof benchOf>, action: string, allowed?: () => void): Promise<unknown> =>
    bench.actuator.actuate(action, undefined, allowed).catch((error: unknown) => error);

  it('is returned as soon as the interlock forbids it', async () => {
    const bench = benchOf();
    await bench.clock.settle(10, 1);
    let drives = false;
    const came = ended(bench, 'lights.on', () => {
      if (drives) throw forbidden;
    });
    await bench.clock.settle(1_000, 1);
    expect(bench.unit.controlled).toBe(true);
    drives = true;
    await bench.clock.settle(300, 1);
    expect(bench.unit).toMatchObject({ idle: true, taken: 1 });
    expect(await came).toBeInstanceOf(BrokenOff);
    expect(await came).toMatchObject({ code: 'command.vehicleInUse', cause: forbidden });
  });

  it('may have had effect if the results cannot be read', async () => {
    const bench = benchOf();
    const asked = bench.isotp.request.bind(bench.isotp);
    // The line is lost when the results are requested.
    vi.spyOn(bench.isotp, 'request').mockImplementation((one) =>
      one.payload[0] === 0x31 && one.payload[1] === 3
        ? Promise.reject(new VigieError('input.unreadable', 'the line is gone'))
        : asked(one),
    );
    await bench.clock.settle(10, 1);
    const came = ended(bench, 'doors.lock');
    await bench.clock.settle(3_000, 10);
    expect(await came).toBeInstanceOf(BrokenOff);
    expect(await came).toMatchObject({ code: 'command.actuation' });
    expect(bench.unit.taken).toBe(1);
  });

  it('had no effect if the control unit reports another result', async () => {
    const bench = benchOf({ results: Uint8Array.of(1, 2) });
    await bench.clock.settle(10, 1);
    const came = ended(bench, 'doors.lock');
    await bench.clock.settle(3_000, 10);
    expect(await came).not.toBeInstanceOf(BrokenOff);
    expect(await came).toMatchObject({ code: 'command.actuation' });
  });
});

describe('a stop of the agent', () => {
  it('returns control, and starts no further command', async () => {
    const bench = benchOf();
    await bench.clock.settle(10, 1);
    const done = bench.actuator.actuate('lights.on').catch((error: VigieError) => error.code);
    await bench.clock.settle(2_500, 1);
    expect(bench.unit.controlled).toBe(true);
    const begun = bench.clock.monotonic();
    const stopped = bench.actuator.stop();
    expect((await settled(bench.clock, Promise.all([stopped, done]))).status).toBe('fulfilled');
    expect(bench.clock.monotonic() - begun).toBeLessThan(1_000);
    expect(await done).toBe('command.interrupted');
    expect(bench.unit).toMatchObject({ idle: true, taken: 1 });
    const asked = bench.unit.requests.length;
    expect(await carry(bench, 'doors.lock')).toMatch(/^command.interrupted/);
    expect(bench.unit.requests.length).toBe(asked);
  });

  it('does not wait too long for a silent control unit', async () => {
    const bench = benchOf();
    await bench.clock.settle(10, 1);
    const done = bench.actuator.actuate('lights.on').catch(() => undefined);
    await bench.clock.settle(2_500, 1);
    bench.unit.manners = Array<Manner>(99).fill('deaf');
    const begun = bench.clock.monotonic();
    await settled(bench.clock, bench.actuator.stop());
    expect(bench.clock.monotonic() - begun).toBeLessThanOrEqual(3_100);
    await settled(bench.clock, done);
    await bench.clock.settle(S3, 100);
    expect(bench.unit.idle).toBe(true);
  });

  it("without time to return control leaves it to the control unit's timeout", async () => {
    const bench = benchOf();
    await bench.clock.settle(10, 1);
    bench.actuator.actuate('lights.on').catch(() => undefined);
    await bench.clock.settle(2_500, 1);
    expect(bench.unit.controlled).toBe(true);
    // Power cut: no more frames of this unit reach the bus.
    bench.bus.fate = () => [];
    await bench.clock.settle(S3 + 100, 100);
    expect(bench.unit.idle).toBe(true);
  });
});

describe('unsupported actions', () => {
  it('are those on buses without a requester, unknown ones, and ones with a parameter', async () => {
    const { clock, log, actuator } = benchOf();
    const deaf = new UdsActuator({ commands, requesters: new Map(), clock, log });
    expect([...deaf.actions]).toEqual([]);
    await expect(deaf.actuate('doors.lock')).rejects.toMatchObject({ code: 'command.unsupported' });
    await expect(actuator.actuate('doors.unlock')).rejects.toMatchObject({ code: 'command.unsupported' });
    await expect(actuator.actuate('doors.lock', { index: 1 })).rejects.toBeInstanceOf(VigieError);
    expect([...actuator.actions]).toEqual(['lights.on', 'doors.lock', 'horn.on']);
  });
});
