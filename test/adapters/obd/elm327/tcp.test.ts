import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { SystemClock } from '../../../../adapters/clock/system.ts';
import { Elm327 } from '../../../../adapters/obd/elm327/index.ts';
import type { DiagnosticAddress } from '../../../../adapters/obd/requester.ts';
import { Ecu, hex, unhex } from './car.ts';
import { Emulator } from './emulator.ts';
import { listen } from './lines.ts';

const ONE: DiagnosticAddress = { request: 0x7e0, response: 0x7e8, extended: false };
const LONG = `62F190${'5A'.repeat(200)}`;

describe('an adapter on a TCP port', () => {
  let emulator: Emulator;
  let port: Awaited<ReturnType<typeof listen>>;
  let elm: Elm327;

  beforeEach(async () => {
    const engine = new Ecu({
      request: 0x7e0,
      response: 0x7e8,
      answers: { '0100': ['4100BE3EB811'], '010D': ['410D32'], '22F190': [LONG], '2202FF': ['7F2278', 'later', LONG] },
    });
    emulator = new Emulator({ ecus: [engine], name: 'OBDII v1.5' });
    port = await listen(emulator);
    elm = new Elm327({ open: port.open, clock: new SystemClock(), name: 'tcp', backoff: { first: 1, longest: 50 } });
  });

  afterEach(async () => {
    await elm.close();
    await port.close();
  });

  const ask = async (payload: string): Promise<string[]> => {
    const answers = await elm.request({ address: ONE, payload: Uint8Array.from(unhex(payload)) });
    return answers.map((answer) => hex([...answer.payload]));
  };

  it('answers one request after another', async () => {
    for (let i = 0; i < 20; i++) {
      expect(await ask('010D')).toEqual(['410D32']);
      expect(await ask('22F190')).toEqual([LONG]);
    }
    expect(await elm.voltage()).toBe(12.6);
    expect(elm.health()).toMatchObject({ state: 'running', counts: { answered: 40, failed: 0, resyncs: 0 } });
  });

  it('is reconnected after the connection was cut', async () => {
    expect(await ask('010D')).toEqual(['410D32']);
    emulator.interventions.push(() => {
      port.cut();
      return undefined;
    });
    await expect(ask('010D')).rejects.toMatchObject({ code: 'input.unreadable', where: 'tcp' });
    emulator.restart();
    await expect.poll(() => elm.health().state).toBe('running');
    expect(await ask('010D')).toEqual(['410D32']);
    expect(elm.health().counts['restarts']).toBeGreaterThan(0);
  });

  it('that is missing fails requests at once, with the reason', async () => {
    await port.close();
    await expect(ask('010D')).rejects.toMatchObject({ code: 'input.unreadable' });
    expect(elm.health()).toMatchObject({ state: 'waiting', reason: expect.stringContaining('cannot connect') });
    port = await listen(emulator);
  });
});
