/** Properties of every profile: order does not matter, and a fault is reported at its place. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { loadProfile, type Profile, type ProfileReading } from '../../config/profile.ts';
import { runs } from '../rig/runs.ts';
import { changed, places, shuffled, type Tree, validProfile, write } from './valid-profile.ts';

let folder: string;
let file: string;

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'vigie-profile-'));
  file = join(folder, 'profile.yaml');
  writeFileSync(join(folder, 'car.dbc'), 'VERSION ""\n');
});

afterAll(() => rmSync(folder, { recursive: true, force: true }));

function load(text: string | Uint8Array): ProfileReading {
  writeFileSync(file, text);
  return loadProfile(file, { shipped: folder });
}

/** The profile without the order and lines of its members. */
function meaning(profile: Profile | undefined): unknown {
  if (profile === undefined) return undefined;
  const sources = [...profile.sources].sort((a, b) => a.path.localeCompare(b.path) || a.priority - b.priority);
  return JSON.parse(JSON.stringify({ ...profile, sources }), (key, value) => (key === 'line' ? undefined : value));
}

describe('an invalid profile', () => {
  test('of any text causes an error, and no exception', () => {
    const yamlish = fc.string({
      unit: fc.constantFrom(
        ...':-{}[]?&*!|>"\'#%@,\n\t  ~.0aZ',
        '\n  ',
        'profile: 1\n',
        '<<: *a',
        '&a ',
        '__proto__: ',
        '\u00e9',
      ),
      maxLength: 200,
    });
    fc.assert(
      fc.property(fc.oneof(fc.string(), yamlish, fc.uint8Array({ maxLength: 100 })), (text) => {
        const { profile, diagnostics } = load(text);
        expect(profile).toBeUndefined();
        expect(diagnostics.some(({ severity }) => severity === 'error')).toBe(true);
      }),
      { numRuns: runs(300, 1000) },
    );
  });

  test('with arbitrary data in place of any member causes no exception', () => {
    fc.assert(
      fc.property(validProfile, fc.nat(), fc.jsonValue(), (tree, at, value) => {
        const all = places(tree);
        const [place] = all[at % all.length] as [string, Tree];
        const { text } = write(changed(tree, place, (key) => [key, JSON.stringify(value)]));
        const { profile, diagnostics } = load(text);
        expect(profile === undefined).toBe(diagnostics.some(({ severity }) => severity === 'error'));
      }),
      { numRuns: runs(150, 500) },
    );
  });
});

describe('a valid profile', () => {
  test('has no errors, and has the same meaning with its members in any order', () => {
    fc.assert(
      fc.property(validProfile, fc.infiniteStream(fc.double({ min: 0, max: 1, noNaN: true })), (tree, order) => {
        const straight = load(write(tree).text);
        expect(straight.diagnostics).toEqual([]);
        const other = load(write(shuffled(tree, () => order.next().value as number)).text);
        expect(other.diagnostics).toEqual([]);
        expect(meaning(other.profile)).toEqual(meaning(straight.profile));
      }),
      { numRuns: runs(60, 200) },
    );
  });

  test('has the right line for every source', () => {
    fc.assert(
      fc.property(validProfile, (tree) => {
        const { text, lines } = write(tree);
        const { profile } = load(text);
        const expected = [...lines].filter(([at]) => /^\/status\/.*\/signal$/.test(at)).map(([, line]) => line);
        expect(profile?.sources.map(({ line }) => line)).toEqual(expected);
      }),
      { numRuns: runs(50, 100) },
    );
  });
});

/** Number of cases with one broken member. */
const BROKEN = runs(100, 400);

describe('one broken member', () => {
  const broken = (
    which: (at: string, value: Tree) => boolean,
    change: (key: string, value: Tree) => [string, Tree] | undefined,
    check: (reading: ProfileReading, line: number, lines: ReadonlyMap<string, number>, place: string) => void,
  ) => {
    let tried = 0;
    fc.assert(
      fc.property(validProfile, fc.nat(), (tree, at) => {
        const all = places(tree).filter(([place, value]) => which(place, value));
        if (all.length === 0) return;
        const [place] = all[at % all.length] as [string, Tree];
        const { text, lines } = write(changed(tree, place, change));
        const line = lines.get(place) ?? 0;
        tried++;
        check(load(text), line, lines, place);
      }),
      { numRuns: BROKEN },
    );
    expect(tried).toBeGreaterThan(BROKEN / 2);
  };

  const errors = ({ diagnostics }: ProfileReading) => diagnostics.filter(({ severity }) => severity === 'error');

  test('with a wrong type is reported at its line and nowhere else', () => {
    broken(
      (_, value) => typeof value === 'string',
      (key) => [key, '[[]]'],
      (reading, line) => {
        expect(reading.profile).toBeUndefined();
        expect(new Set(errors(reading).map((error) => error.line))).toEqual(new Set([line]));
      },
    );
  });

  test('with an impossible time is reported at its line', () => {
    broken(
      (at) => /\/(interval|heartbeat|timeout|within|every|for)$/.test(at),
      (key) => [key, '10 parsecs'],
      (reading, line) => {
        expect(new Set(errors(reading).map((error) => error.line))).toEqual(new Set([line]));
        expect(errors(reading)[0]?.message).toMatch(/must be a time such as 250ms, .*, not "10 parsecs"/);
      },
    );
  });

  test('with an unknown name is reported at its line, with the intended name', () => {
    broken(
      (at) =>
        /\/(title|timeout|invalid|scale|offset|deadBand|interval|distance|within|counter)$/.test(at) ||
        /^\/status\/[^/]+$/.test(at),
      (key, value) => [`${key}q`, value],
      (reading, _, lines, place) => {
        const key = place.slice(place.lastIndexOf('/') + 1);
        const found = errors(reading).find((error) => error.line === lines.get(`${place}q`));
        expect(found?.message).toContain(`"${key}q"`);
        expect(found?.fix).toContain(key);
      },
    );
  });

  test('that is missing is reported at its parent', () => {
    broken(
      (at) => /\/(profile|name|buses|status|signal|confirm|message|path|method)$/.test(at),
      () => undefined,
      (reading, _, lines, place) => {
        const key = place.slice(place.lastIndexOf('/') + 1);
        const found = errors(reading).find((error) => error.message.includes(`member "${key}" is missing`));
        const around = place.slice(0, place.lastIndexOf('/'));
        // A source that lost its only member is an empty map.
        expect(found?.line).toBe(around === '' ? 0 : lines.get(around));
      },
    );
  });

  test('that is duplicated is reported at the second one', () => {
    fc.assert(
      fc.property(validProfile, fc.nat(), (tree, at) => {
        const { text, lines } = write(tree);
        const rows = text.split('\n');
        // Only single-line members can be duplicated without their contents.
        const single = [...lines].filter(
          ([place, line]) => /[a-z]$/i.test(place) && /^ *[^-\s][^:]*: [^{[]/.test(rows[line - 1] ?? ''),
        );
        const [, line] = single[at % single.length] as [string, number];
        rows.splice(line, 0, rows[line - 1] as string);
        const reading = load(rows.join('\n'));
        expect(errors(reading)).toEqual([
          { file, line: line + 1, severity: 'error', message: 'this member is there twice', fix: 'keep one of them' },
        ]);
      }),
      { numRuns: runs(60, 200) },
    );
  });
});
