import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { loadProfile } from '../../config/profile.ts';

let folder: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'vigie-captures-profile-'));
  writeFileSync(join(folder, 'car.dbc'), 'VERSION ""\n');
});
afterAll(() => rmSync(folder, { recursive: true }));

function load(captures: string) {
  const head =
    'profile: 1\nname: car\nbuses:\n  - { name: can, dbc: [car.dbc] }\nstatus:\n  kinetic.speed: { signal: M.S }\n';
  writeFileSync(join(folder, 'profile.yaml'), head + captures);
  const { profile, diagnostics } = loadProfile(folder, { shipped: join(folder, 'none') });
  return { captures: profile?.captures, findings: diagnostics.map(({ line, message }) => [line, message]) };
}

test('the example in docs/captures.md is a profile without findings, with the documented meaning', () => {
  const page = readFileSync(new URL('../../docs/captures.md', import.meta.url), 'utf8');
  const { captures, findings } = load(/```yaml\n(.*?)```/s.exec(page)?.[1] as string);
  expect(findings).toEqual([]);
  expect(captures).toEqual({
    collision: { before: 30_000, after: 10_000 },
    command: { before: 30_000, after: 30_000 },
    monitors: {
      'cell-voltage': { before: 5_000, after: 5_000, buses: ['can'], identifiers: [0x1a0, 0x98fef100] },
    },
    positionFree: [{ buses: ['can'], identifiers: [0x1a0] }],
  });
});

test('an empty rule keeps 30 s before and 10 s after the event, on all buses', () => {
  expect(load('captures: { collision: {} }\n').captures?.collision).toEqual({ before: 30_000, after: 10_000 });
});

test('unknown buses, long times and a section without any rule are reported at their lines', () => {
  const faults = load(
    'captures:\n  collision:\n    before: 20m\n    buses:\n      - cam\n  positionFree:\n    radio: [1]\n',
  );
  expect(faults.findings).toEqual([
    [9, 'a capture is at most 10m long on each side'],
    [11, expect.stringContaining('no bus "cam"')],
    [13, expect.stringContaining('no bus "radio"')],
  ]);
  expect(load('captures: { positionFree: { can: [1] } }\n').findings).toEqual([[7, 'nothing asks for a capture']]);
});
