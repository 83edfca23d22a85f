/** What real cars answered, spoken by the emulated adapter: the driver gives the values that the text gives. */
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { parse } from 'yaml';
import { Elm327 } from '../../../../adapters/obd/elm327/index.ts';
import { type ObdCommand, ObdDecoder, parseSignalSet } from '../../../../adapters/obd/index.ts';
import type { DiagnosticAddress } from '../../../../adapters/obd/requester.ts';
import { VigieError } from '../../../../protocol/errors.ts';
import { VirtualClock } from '../../../rig/clock.ts';
import { describeShared, sharedData } from '../../../shared.ts';
import { unhex } from './car.ts';
import { Emulator } from './emulator.ts';
import { Cable, within } from './lines.ts';

const folder = join(sharedData, 'obd');

/** Services of SAE J1979 are asked of all, as the standard has it; others of the one that the command names. */
function addressOf(command: ObdCommand): DiagnosticAddress {
  if (command.service <= 0x0a) return { request: 0x7df, extended: false };
  const { receiveAddress, extendedAddress } = command;
  return {
    request: Number.parseInt(command.header, 16),
    extended: false,
    ...(receiveAddress === undefined ? {} : { response: Number.parseInt(receiveAddress, 16) }),
    ...(extendedAddress === undefined ? {} : { target: Number.parseInt(extendedAddress, 16) }),
  };
}

/** Recordings of whole sessions hold `> command` lines; what follows the last of them is the answer to one request. */
function answerOf(response: string): string {
  return response.split(/^>.*$/m).at(-1)?.trim() ?? '';
}

function* recorded(repository: string): Iterable<{ readonly id: string; readonly response: string }> {
  const years = join(folder, repository, 'tests', 'test_cases');
  for (const year of readdirSync(years)) {
    const commands = join(years, year, 'commands');
    if (!existsSync(commands)) continue;
    for (const file of readdirSync(commands)) {
      const content = parse(readFileSync(join(commands, file), 'utf8')) as {
        command_id: string;
        test_cases: { response: string }[];
      };
      for (const { response } of content.test_cases) yield { id: content.command_id, response };
    }
  }
}

function orVigieError<T>(action: () => T): T | VigieError {
  try {
    return action();
  } catch (error) {
    if (error instanceof VigieError) return error;
    throw error;
  }
}

describeShared('recorded answers', () => {
  const repositories = readdirSync(folder).filter((name) => existsSync(join(folder, name, 'tests', 'test_cases')));

  it.each(repositories)('of %s give the same values by the driver as by the text', async (repository) => {
    const sets = ['SAEJ1979', repository].map((name) => {
      const file = join(folder, name, 'signalsets', 'v3', 'default.json');
      return parseSignalSet(readFileSync(file, 'utf8'), file);
    });
    const commands = sets.flatMap((set) => set.commands);
    const decoder = new ObdDecoder(sets);
    let spoken = '';
    const cable = new Cable(new Emulator({ script: () => spoken }));
    const clock = new VirtualClock();
    const elm = new Elm327({ open: cable.open, clock, protocol: '6' });
    let same = 0;
    const total: string[] = [];
    for (const { id, response } of recorded(repository)) {
      const text = answerOf(response);
      const expected = orVigieError(() => decoder.decode({ command: id, response: text }));
      const command =
        commands.find((one) => one.id === id || id.startsWith(`${one.id}|`) || one.id.startsWith(`${id}|`)) ??
        commands.find(
          (one) =>
            id
              .split('|')[0]
              ?.endsWith(`.${one.service.toString(16).padStart(2, '0').toUpperCase()}${one.parameter}`) === true,
        );
      // A command of a set that is not there cannot be asked for; both ways refuse it.
      if (command === undefined) {
        expect(expected).toBeInstanceOf(VigieError);
        continue;
      }
      total.push(id);
      spoken = text;
      const hexRequest = command.service.toString(16).padStart(2, '0') + command.parameter;
      const payload = Uint8Array.from(unhex(hexRequest));
      const answers = await within(clock, elm.request({ address: addressOf(command), payload }));
      const actual = orVigieError(() => decoder.decodeAnswers(id, answers));
      if (expected instanceof VigieError) expect(actual, id).toBeInstanceOf(VigieError);
      else expect(actual, `${id}: ${text}`).toEqual(expected);
      same++;
    }
    expect(same).toBe(total.length);
    expect(elm.health().counts['failed']).toBe(0);
    await elm.close();
  });

  it('are more than a handful', () => {
    const count = repositories.reduce((sum, repository) => sum + [...recorded(repository)].length, 0);
    expect(count).toBeGreaterThan(1000);
  });
});
