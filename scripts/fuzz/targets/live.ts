/** Tests live input from serial lines and buses: slcan adapters, ELM327 prompts, frames of ISO 15765-2. */
import { beginsFrame, emptyFrame, readFrame, writeFrame } from '../../../adapters/can/slcan/codec.ts';
import { LineSplitter } from '../../../adapters/can/slcan/splitter.ts';
import { VirtualClock } from '../../../adapters/clock/virtual.ts';
import { readOutput } from '../../../adapters/obd/elm327/adapter-output.ts';
import { readControl } from '../../../adapters/obd/isotp/control.ts';
import { Reception } from '../../../adapters/obd/isotp/reception.ts';
import { defaultSettings } from '../../../adapters/obd/isotp/settings.ts';
import type { DiagnosticRequest } from '../../../adapters/obd/requester.ts';
import { Contradiction, type FuzzTarget, latin1, texts } from '../target.ts';

/** Parses lines. Writing a parsed frame must reproduce the line unchanged. */
function readLines(input: Uint8Array): boolean {
  let found = false;
  const frame = emptyFrame();
  const splitter = new LineSplitter({
    line: (text) => {
      if (!beginsFrame(text[0]) || !readFrame(text, frame)) return;
      found = true;
      const { id, flags, length, data } = frame;
      const written = writeFrame({ id, flags, data: data.subarray(0, length), length });
      const again = emptyFrame();
      if (written === undefined || !readFrame(Buffer.from(written.replace(/\r$/, '')), again)) {
        throw new Contradiction(`${latin1(text)} was read and cannot be written: ${written}`);
      }
      if (
        again.id !== id ||
        again.flags !== flags ||
        again.length !== length ||
        !Buffer.from(again.data).equals(data)
      ) {
        throw new Contradiction(`${latin1(text)} became ${written}`);
      }
    },
    bell: () => undefined,
    overlong: () => undefined,
  });
  const at = (input.length * (input[0] ?? 0)) >> 8;
  splitter.push(input.subarray(0, at));
  splitter.push(input.subarray(at));
  return found;
}

export const slcan: FuzzTarget = {
  name: 'slcan',
  seeds: () =>
    texts(
      't1230\rt7FF8112233445566778804D2\rT1FFFFFFF3AABBCC\r',
      'r1234\rR000001233\rz\rZ\r\u0007V1013\rN1234\rF00\r',
      `d123F${'5A'.repeat(64)}\rB00000001900112233445566778899AABB0001E240\r`,
    ),
  words: ['t', 'T', 'r', 'R', 'd', 'D', 'b', 'B', '\r', '\n', '\u0007', '8', 'F'],
  run: readLines,
};

const engine: DiagnosticRequest = {
  address: { request: 0x7e0, extended: false, response: 0x7e8 },
  payload: Uint8Array.of(1, 0x0c),
};

export const prompt: FuzzTarget = {
  name: 'elm327-prompt',
  seeds: () =>
    texts(
      '7E8 04 41 0C 1A F8\r\r',
      'SEARCHING...\r7E8 10 0A 41 0C 1A F8 0D 32\r7E9 04 41 0C 1A F7\r7E8 21 05 7B 11 40\r\r',
      '7E8 03 7F 01 78\r7E8 04 41 0C 1A F8\rNO DATA\r\r',
      'BUFFER FULL\r<RX ERROR\r7E8 04 41 0C 1A F8\r7E8 03 41 0C 1A <DATA ERROR\rSTOPPED\r?\r',
      '7E804410C1AF8\r\n>',
    ),
  words: ['NO DATA', 'CAN ERROR', 'UNABLE TO CONNECT', 'BUS INIT: ...OK', 'STOPPED', '?', '\r', ' ', '0:', '014', '7F'],
  run: (input) => {
    const { answers } = readOutput(latin1(input), engine);
    return answers.length > 0;
  },
};

/** Receives frames, each preceded by its length. */
async function receive(input: Uint8Array): Promise<boolean> {
  const clock = new VirtualClock();
  let received = 0;
  const settings = { ...defaultSettings, longest: 4_000 };
  const reception = new Reception(
    { clock, settings, address: 0, send: async () => undefined },
    {
      received: (payload) => {
        if (payload.length > settings.longest) throw new Contradiction(`${payload.length} bytes were received`);
        received++;
      },
      failed: () => undefined,
    },
  );
  for (let at = 0; at < input.length; ) {
    const length = (input[at] as number) % 65;
    const data = input.subarray(at + 1, at + 1 + length);
    at += 1 + length;
    const control = readControl(data, 0);
    if (control !== undefined && control.kind !== 'flow') reception.frame(control, data);
    clock.advance(length);
  }
  reception.close();
  // After sending a flow control frame, its sender cancels the timeout only in a later turn.
  await new Promise((resolve) => setImmediate(resolve));
  if (clock.pending > 0) throw new Contradiction(`${clock.pending} timers are left`);
  return received > 0;
}

const framed = (...frames: readonly string[]): Uint8Array =>
  Buffer.concat(frames.flatMap((frame) => [Buffer.of(frame.length / 2), Buffer.from(frame, 'hex')]));

export const transport: FuzzTarget = {
  name: 'isotp-transport',
  seeds: () => [
    framed('03410d32cccccccc', '037f0112cccccccc'),
    framed('1014490201314731', '214a433534343452', '2237323532333637'),
    framed('1014490201314731', '234a433534343452', '3000000000000000', '03410d32cccccccc'),
    framed(`0014${'22'.repeat(20)}`),
    framed(`1050${'00'.repeat(62)}`, `21${'11'.repeat(31)}`),
  ],
  run: receive,
};
