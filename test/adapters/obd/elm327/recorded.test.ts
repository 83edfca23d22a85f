/**
 * Recorded answers of cars, replayed by the emulated adapter: the driver must return the same values as the text
 * decoder.
 */
import { describe, expect, it } from 'vitest';
import { Elm327 } from '../../../../adapters/obd/elm327/index.ts';
import { type ObdCommand, ObdDecoder } from '../../../../adapters/obd/index.ts';
import type { DiagnosticAddress } from '../../../../adapters/obd/requester.ts';
import { VigieError } from '../../../../protocol/errors.ts';
import { type Car, ownCars, sharedCars } from '../../../golden/answers.ts';
import { VirtualClock } from '../../../rig/clock.ts';
import { describeShared } from '../../../shared.ts';
import { unhex } from './car.ts';
import { Emulator } from './emulator.ts';
import { Cable, within } from './lines.ts';

/** The standard services of SAE J1979 are requested from all units, others from the unit of the command. */
function addressOf(command: ObdCommand): DiagnosticAddress {
  if (command.service <= 0x0a) return { request: 0x7df, extended: false };
  const { receiveAddress, extendedAddress } = command;
  // ISO 15765-4: 18DA, target, source.
  if (command.header.startsWith('DA') && receiveAddress !== undefined) {
    const [request, response] = [`18${command.header}F1`, `18DA${receiveAddress}`];
    return { request: Number.parseInt(request, 16), response: Number.parseInt(response, 16), extended: true };
  }
  return {
    request: Number.parseInt(command.header, 16),
    extended: false,
    ...(receiveAddress === undefined ? {} : { response: Number.parseInt(receiveAddress, 16) }),
    ...(extendedAddress === undefined ? {} : { target: Number.parseInt(extendedAddress, 16) }),
  };
}

/** Recordings of whole sessions contain `> command` lines. The text after the last one answers one request. */
function answerOf(response: string): string {
  return response.split(/^>.*$/m).at(-1)?.trim() ?? '';
}

function orVigieError<T>(action: () => T): T | VigieError {
  try {
    return action();
  } catch (error) {
    if (error instanceof VigieError) return error;
    throw error;
  }
}

/** Compares the answers of a car decoded from its text and replayed by the emulated adapter. */
async function speaks({ sets, answers }: Car): Promise<number> {
  const commands = sets.flatMap((set) => set.commands);
  const decoder = new ObdDecoder(sets);
  let spoken = '';
  const clock = new VirtualClock();
  const adapter = (protocol: '6' | '7'): Elm327 => {
    const cable = new Cable(new Emulator({ script: () => spoken, protocol }));
    return new Elm327({ open: cable.open, clock, protocol });
  };
  const adapters = { 11: adapter('6'), 29: adapter('7') };
  let same = 0;
  for (const { command: id, response } of answers()) {
    const text = answerOf(response);
    const expected = orVigieError(() => decoder.decode({ command: id, response: text }));
    const command =
      commands.find((one) => one.id === id || id.startsWith(`${one.id}|`) || one.id.startsWith(`${id}|`)) ??
      commands.find(
        (one) =>
          id.split('|')[0]?.endsWith(`.${one.service.toString(16).padStart(2, '0').toUpperCase()}${one.parameter}`) ===
          true,
      );
    // A command missing from the set cannot be requested; both paths refuse it.
    if (command === undefined) {
      expect(expected).toBeInstanceOf(VigieError);
      continue;
    }
    spoken = text;
    const hexRequest = command.service.toString(16).padStart(2, '0') + command.parameter;
    const payload = Uint8Array.from(unhex(hexRequest));
    const address = addressOf(command);
    const elm = adapters[address.extended ? 29 : 11];
    const found = await within(clock, elm.request({ address, payload }));
    const actual = orVigieError(() => decoder.decodeAnswers(id, found));
    if (expected instanceof VigieError) expect(actual, id).toBeInstanceOf(VigieError);
    else expect(actual, `${id}: ${text}`).toEqual(expected);
    same++;
  }
  for (const elm of Object.values(adapters)) {
    expect(elm.health().counts['failed']).toBe(0);
    await elm.close();
  }
  return same;
}

describe('recorded answers replayed by an adapter', () => {
  it.each(ownCars())('of $name yield the same values by the driver as by the text', async (car) => {
    expect(await speaks(car)).toBe([...car.answers()].length);
  });
});

describeShared('answers of real cars that are spoken by an adapter', () => {
  it.each(sharedCars())('recorded answers of $name yield the same values by the driver as by the text', async (car) => {
    expect(await speaks(car)).toBeGreaterThan(0);
  });

  it('there are more than a handful of recorded answers', () => {
    const count = sharedCars().reduce((sum, { answers }) => sum + [...answers()].length, 0);
    expect(count).toBeGreaterThan(1000);
  });
});
