/** A new kind of command that is only a row of the table, tested in a copy of the sources. */
import { execFileSync } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';

const root = fileURLToPath(new URL('../../..', import.meta.url));

const row = (wire: number): string => `
import { flag, record, required } from '../schema/fields.ts';
import { speedAtMost } from './conditions.ts';
import { remoteKind } from './kind.ts';

export const wipers = remoteKind({
  type: 'Wipers',
  wire: ${wire},
  body: record('RemoteWipers', 'Wipes.', { wipe: required(1, flag('They wipe.')) }),
  fault: ({ wipe }) => (wipe ? undefined : 'wipe must be true'),
  actions: { 'wipers.wipe': { interlocks: [speedAtMost(30)] } },
  asks: () => ['wipers.wipe'],
  member: 'wipers',
  scope: { name: 'wipers', description: 'Wipe the windscreen.' },
  capability: { actions: ['wipers.wipe'] },
  example: { summary: 'Wipe once', body: { wipe: true } },
  words: { verb: 'wipers', usage: 'wipers', bodies: {}, alone: { wipe: true } },
});
`;

const questions = `
import { onboardCapabilities } from './adapters/http/resources/capabilities.ts';
import { requestOf } from './commands/send/vocabulary.ts';
import { openApi } from './protocol/interface/openapi.ts';
import { askedRemote, remoteScopeOf } from './protocol/interface/remotes.ts';
import { commandKinds } from './protocol/schema/remote.ts';
import { carOf } from './test/agent/remotes/rig.ts';

async function ordered(speed, body) {
  const car = carOf();
  car.see('kinetic.speed', speed);
  return { states: await car.order('Wipers', body), actuated: car.actuated };
}
const capabilities = { data: [], actions: new Set(['wipers.wipe']), commands: true };
const { remote } = onboardCapabilities('user', capabilities);
const document = openApi();
const answers = {
  kinds: commandKinds,
  standing: await ordered(0, { wipe: true }),
  driving: await ordered(57, { wipe: true }),
  unsound: await ordered(0, { wipe: false }),
  words: requestOf('wipers', [], {}),
  asked: askedRemote('user', { wipers: { wipe: true } }),
  scope: remoteScopeOf('Wipers'),
  capability: remote.wipers,
  described: document.info.description.includes('Wipe the windscreen.'),
  titles: JSON.stringify(document).includes('"RemoteWipers"'),
};
process.stdout.write(JSON.stringify(answers));
`;

let folder = '';
let answers: Record<string, unknown> = {};

function run(wire: number): string {
  writeFileSync(join(folder, 'protocol/remote/wipers.ts'), row(wire));
  return execFileSync(process.execPath, ['questions.mjs'], { cwd: folder, encoding: 'utf8', stdio: 'pipe' });
}

function edit(file: string, from: string, to: string): void {
  const text = readFileSync(join(folder, file), 'utf8');
  expect(text, file).toContain(from);
  writeFileSync(join(folder, file), text.replace(from, to));
}

describe('a kind of command from a table row alone', () => {
  beforeAll(() => {
    folder = mkdtempSync(join(tmpdir(), 'vigie-kind-'));
    mkdirSync(join(folder, 'test/agent/remotes'), { recursive: true });
    for (const name of [
      'protocol',
      'agent',
      'adapters',
      'assembly',
      'commands',
      'config',
      'package.json',
      'test/rig',
    ]) {
      cpSync(join(root, name), join(folder, name), { recursive: true });
    }
    cpSync(join(root, 'test/agent/remotes/rig.ts'), join(folder, 'test/agent/remotes/rig.ts'));
    symlinkSync(join(root, 'node_modules'), join(folder, 'node_modules'));
    edit(
      'protocol/remote/table.ts',
      '\nconst rows = [',
      "\nimport { wipers } from './wipers.ts';\nconst rows = [\n  wipers,",
    );
    // Profile of the car in the tests.
    edit(
      'test/agent/remotes/rig.ts',
      "  'horn.off':",
      "  'wipers.wipe': ['wipingBlades.active', true],\n  'horn.off':",
    );
    writeFileSync(join(folder, 'questions.mjs'), questions);
    answers = JSON.parse(run(17)) as Record<string, unknown>;
  }, 60_000);
  afterAll(() => rmSync(folder, { recursive: true, force: true }));

  test('a kind from a table row alone runs when it is signed, and Status confirms it', () => {
    const states = ['Accepted', 'SentToVehicle', 'Success'];
    expect(answers['standing']).toEqual({ states, actuated: ['wipers.wipe'] });
  });

  test('a kind from a table row alone is refused by its interlock, and for a body that breaks its rule', () => {
    const accepted = ['Accepted', 'SentToVehicle'];
    expect(answers['driving']).toEqual({ states: [...accepted, 'VehicleInUse'], actuated: [] });
    expect(answers['unsound']).toEqual({ states: ['WrongCommand'], actuated: [] });
  });

  test('a kind from a table row alone is on the wire after all others', () => {
    expect((answers['kinds'] as string[]).slice(-2)).toEqual(['Capture', 'Wipers']);
  });

  test('a kind from a table row alone has scope, capability and description in the interface', () => {
    expect(answers['asked']).toEqual({ type: 'Wipers', body: { wipe: true } });
    expect(answers['scope']).toBe('remote:wipers:write');
    expect(answers['capability']).toEqual({ supported: true, scopeName: 'remote:wipers:write' });
    expect([answers['described'], answers['titles']]).toEqual([true, true]);
  });

  test('a kind from a table row alone has texts for users', () => {
    expect(answers['words']).toEqual({ kind: 'Wipers', body: { wipe: true } });
  });

  test('a table row with the number of another kind, or with a gap in the numbers, is refused at start', () => {
    expect(() => run(13)).toThrow(/two kinds of command have number 13: Wipers, Resend/);
    expect(() => run(18)).toThrow(/the numbers of the kinds of command have a gap/);
  });
});
