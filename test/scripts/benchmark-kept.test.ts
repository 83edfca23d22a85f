/** A full run of the benchmark in portions. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { KeptSections } from '../../scripts/benchmark/kept.ts';

test('a run continues with stored sections of the same sources, and starts afresh once the page is written', () => {
  const folder = mkdtempSync(join(tmpdir(), 'vigie-kept-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  const file = join(folder, '.vigie/benchmark.json');
  const decode = {
    text: '## Decoding\n',
    targets: [{ what: 'speed', measured: 1, bound: 2, wanted: 'at least' as const }],
    seconds: 60,
  };
  const first = new KeptSections(file, 'one commit');
  expect(first.find('decode')).toBeUndefined();
  first.keep('decode', decode, [3, 4]);
  first.keep('logs', { ...decode, text: '## Logs\n' }, [3, 4, 5]);
  const second = new KeptSections(file, 'one commit');
  expect([second.find('decode'), second.noise]).toEqual([decode, [3, 4, 5]]);
  expect(new KeptSections(file, 'another commit').find('decode')).toBeUndefined();
  second.remove();
  expect(new KeptSections(file, 'one commit').find('decode')).toBeUndefined();
});
