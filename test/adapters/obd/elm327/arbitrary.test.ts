import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { Elm327 } from '../../../../adapters/obd/elm327/index.ts';
import type { DiagnosticAddress } from '../../../../adapters/obd/requester.ts';
import { VigieError } from '../../../../protocol/errors.ts';
import { VirtualClock } from '../../../rig/clock.ts';
import { Ecu, hex, unhex } from './car.ts';
import { Emulator, type EmulatorOptions } from './emulator.ts';
import { Cable, within } from './lines.ts';

const VIN = '4902015646335546413334353637383930313233';
const ONE: DiagnosticAddress = { request: 0x7e0, response: 0x7e8, extended: false };
const ALL: DiagnosticAddress = { request: 0x7df, extended: false };

const known: Readonly<Record<string, string>> = {
  '010D': '410D32',
  '0902': VIN,
  '22F190': `62F190${'5A'.repeat(60)}`,
  [`2E0001${'5A'.repeat(20)}`]: '6E0001',
};

function engine(): Ecu {
  const answers = Object.fromEntries(Object.entries(known).map(([request, answer]) => [request, [answer]]));
  return new Ecu({ request: 0x7e0, response: 0x7e8, answers: { ...answers, '0100': ['4100BE3EB811'] } });
}

function request(payload: string): { address: DiagnosticAddress; payload: Uint8Array } {
  return { address: payload === '010D' ? ALL : ONE, payload: Uint8Array.from(unhex(payload)) };
}

const asked = fc.constantFrom(...Object.keys(known));

/** Splits text into pieces of these sizes, repeatedly. */
function cut(text: string, sizes: readonly number[]): string[] {
  const pieces: string[] = [];
  for (let at = 0, i = 0; at < text.length; i++) {
    const size = sizes[i % sizes.length] ?? 1;
    pieces.push(text.slice(at, at + size));
    at += size;
  }
  return pieces;
}

const kind: fc.Arbitrary<EmulatorOptions> = fc
  .record({
    chatty: fc.boolean(),
    countless: fc.boolean(),
    ignored: fc.constantFrom(/^$/, /^ATE0/, /^ATS0/, /^AT[ESL]0/, /^AT(R\d|FC)/),
    lacking: fc.constantFrom(/^$/, /^ST/, /^AT(AL|CRA|M0)/, /^AT(FC|R\d)/, /^AT(MA|DPN|AT|ST)/),
    stn: fc.constantFrom('?', 'STN1110 v4.2.1'),
    buffer: fc.constantFrom(4, 100),
  })
  // An adapter that loses frames and only pretends to set flow control cannot transfer long answers.
  .filter(({ buffer, ignored }) => buffer > 4 || !ignored.test('ATFCSD'));

describe('however the bytes come', () => {
  it('the answers are the same for any splitting', async () => {
    await fc.assert(
      fc.asyncProperty(
        kind,
        fc.array(fc.integer({ min: 1, max: 9 }), { minLength: 1, maxLength: 5 }),
        fc.array(asked, { minLength: 1, maxLength: 6 }),
        async (options, sizes, requests) => {
          const emulator = new Emulator({ ...options, ecus: [engine()] });
          const cable = new Cable(emulator, (text) => cut(text, sizes));
          const clock = new VirtualClock();
          const elm = new Elm327({ open: cable.open, clock });
          for (const payload of requests) {
            const answers = await within(clock, elm.request(request(payload)));
            expect(answers.map((answer) => hex([...answer.payload]))).toEqual([known[payload]]);
          }
          expect(emulator.repeated).toBe(0);
          await elm.close();
          expect(clock.pending).toBe(0);
        },
      ),
      { numRuns: 200 },
    );
  });
});

/** Quirks of clones that change the format of an answer, not its content. */
const habits: fc.Arbitrary<EmulatorOptions> = fc
  .record({
    strict: fc.boolean(),
    lower: fc.boolean(),
    chatty: fc.boolean(),
    lineEnd: fc.constantFrom('\r', '\n', '\r\n', '\r\r', '\r\n\r\n'),
    prompt: fc.constantFrom('>', '\r>', '\r\n>', '\r\r>', '> ', ' >', '\r\n>\r\n'),
    copies: fc.constantFrom(1, 1, 2, 3),
    ignored: fc.constantFrom(/^$/, /^ATE0/, /^ATS0/, /^AT[ES]0/, /^ATL0/),
    lacking: fc.constantFrom(/^$/, /^ST/, /^AT(AL|M0)/, /^AT(AT|ST)/, /^ATH1/),
    name: fc.constantFrom('ELM327 v1.5', 'ELM327 v2.3', 'OBDII v1.5', 'vLinker MC v2.2.73'),
  })
  // Without headers, a repeated line could come from two units.
  .map((options) => (options.lacking.test('ATH1') ? { ...options, copies: 1 } : options));

describe('whatever the quirks of a clone', () => {
  it('no stray byte is sent, and the answers are those of its units', async () => {
    await fc.assert(
      fc.asyncProperty(
        habits,
        fc.array(fc.integer({ min: 1, max: 9 }), { minLength: 1, maxLength: 5 }),
        fc.boolean(),
        fc.array(fc.constantFrom('010D', '0902', '0100'), { minLength: 1, maxLength: 5 }),
        async (options, sizes, two, requests) => {
          const gearbox = new Ecu({ request: 0x7e1, response: 0x7e9, answers: { '0100': ['410080000000'] } });
          const emulator = new Emulator({ ...options, ecus: two ? [engine(), gearbox] : [engine()] });
          const cable = new Cable(emulator, (text) => cut(text, sizes));
          const clock = new VirtualClock();
          const elm = new Elm327({ open: cable.open, clock });
          for (const payload of requests) {
            const address = payload === '0902' ? ONE : ALL;
            const answers = await within(clock, elm.request({ address, payload: Uint8Array.from(unhex(payload)) }));
            const found = new Set(answers.map((answer) => hex([...answer.payload])));
            const wanted = payload === '0100' ? ['4100BE3EB811', ...(two ? ['410080000000'] : [])] : [known[payload]];
            expect([payload, [...found].sort()]).toEqual([payload, wanted.sort()]);
          }
          expect(emulator.repeated).toBe(0);
          expect(emulator.strays).toBe(0);
          await elm.close();
          expect(clock.pending).toBe(0);
        },
      ),
      { numRuns: 300 },
    );
  });
});

const garbage = fc.oneof(
  fc.constantFrom(
    '',
    '\r',
    '>',
    '\r>',
    '?\r\r>',
    'OK\r',
    'OK\r\r>',
    'NO DATA\r\r>',
    'SEARCHING...\r',
    'BUFFER FULL\r',
    'STOPPED\r\r>',
    'CAN ERROR\r\r>',
    'BUS INIT: ...ERROR\r\r>',
    'UNABLE TO CONNECT\r\r>',
    '<RX ERROR\r',
    'LV RESET\r\r>',
    'ACT ALERT\r',
    'ERR94\r\r>',
    '\r\rELM327 v1.5\r\r>',
    '7E8 03 41 0D 99\r',
    '7E80341\r',
    '7E81014490201314434\r',
    '7E82147503030523535\r',
    '7E8037F0178\r',
    '7E8300000\r',
    '7E8320000\r',
    '18DAF110034100',
    '0:',
    '\0\0',
  ),
  fc.string({ maxLength: 12 }),
  fc.string({ unit: fc.constantFrom(...'0123456789ABCDEF \r>:?\0\x7f\xff'), maxLength: 30 }),
);

/** Corruption of one output of the adapter. */
const accident = fc.oneof(
  { weight: 4, arbitrary: fc.constant<(text: string) => string>((text) => text) },
  { weight: 1, arbitrary: garbage.map((dirt) => (text: string) => dirt + text) },
  { weight: 1, arbitrary: garbage.map((dirt) => (text: string) => text + dirt) },
  {
    weight: 1,
    arbitrary: fc.tuple(garbage, fc.nat({ max: 40 }), fc.nat({ max: 10 })).map(
      ([dirt, at, lost]) =>
        (text: string) =>
          text.slice(0, at) + dirt + text.slice(at + lost),
    ),
  },
  { weight: 1, arbitrary: fc.nat({ max: 30 }).map((at) => (text: string) => text.slice(0, at)) },
);

describe('whatever an adapter prints', () => {
  it('a request ends with an answer or a VigieError, and later ones are answered', async () => {
    await fc.assert(
      fc.asyncProperty(
        kind,
        fc.array(accident, { maxLength: 60 }),
        fc.array(asked, { minLength: 1, maxLength: 8 }),
        async (options, accidents, requests) => {
          const unit = engine();
          const emulator = new Emulator({ ...options, ecus: [unit] });
          let printed = 0;
          const cable = new Cable(emulator, (text) => [accidents[printed++]?.(text) ?? text]);
          const clock = new VirtualClock();
          const elm = new Elm327({ open: cable.open, clock });
          for (const payload of requests) {
            try {
              await within(clock, elm.request(request(payload)));
            } catch (error) {
              expect(error).toBeInstanceOf(VigieError);
              expect((error as VigieError).code).toMatch(/^input\.(unreadable|malformed)$/);
            }
          }
          // A request with an effect is never sent twice, whatever came back.
          const done = (all: readonly string[]): number => all.filter((payload) => payload.startsWith('2E')).length;
          expect(done(unit.requests)).toBeLessThanOrEqual(done(requests));
          // The line works properly again.
          accidents.length = 0;
          await clock.settle(120_000, 500);
          let last: unknown;
          for (let attempt = 0; attempt < 4; attempt++) {
            last = await within(clock, elm.request(request('010D'))).catch((error: unknown) => error);
            if (Array.isArray(last) && last.length === 1) break;
          }
          expect(last).toEqual([{ id: 0x7e8, payload: Uint8Array.of(0x41, 0x0d, 0x32) }]);
          expect(emulator.repeated).toBe(0);
          await elm.close();
          expect(clock.pending).toBe(0);
        },
      ),
      { numRuns: 300 },
    );
  });

  it('the driver recovers after the adapter was unplugged at any moment', async () => {
    await fc.assert(
      fc.asyncProperty(fc.nat({ max: 40 }), asked, async (moment, payload) => {
        const emulator = new Emulator({ ecus: [engine()] });
        let unplugged = false;
        const cable: Cable = new Cable(emulator, (text) => {
          if (!unplugged && emulator.commands.length === moment) {
            unplugged = true;
            cable.unplug();
          }
          return [text];
        });
        const clock = new VirtualClock();
        const elm = new Elm327({ open: cable.open, clock });
        for (let i = 0; i < 3; i++) {
          await within(clock, elm.request(request(payload))).catch((error: unknown) => {
            expect(error).toMatchObject({ code: 'input.unreadable' });
          });
        }
        cable.plug();
        unplugged = true;
        await clock.settle(120_000, 500);
        const [answer] = await within(clock, elm.request(request(payload)));
        expect(hex([...(answer?.payload ?? [])])).toBe(known[payload]);
        await elm.close();
      }),
      { numRuns: 100 },
    );
  });
});
