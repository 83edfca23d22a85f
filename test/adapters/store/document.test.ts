import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { openDocument } from '../../../adapters/store/document.ts';
import type { Log } from '../../../agent/ports.ts';
import { SimulatedDisk } from './simulated-disk.ts';

const path = '/data/state.json';
const formats = ['json', 'cbor'] as const;

function listener(): { log: Log; said: string[] } {
  const said: string[] = [];
  const say = (event: string, fields?: Record<string, unknown>) => said.push(`${event} ${fields?.['file']}`);
  return { log: { info: say, warn: say, error: say }, said };
}

describe.each(formats)('a document in %s', (format) => {
  it('contains the fallback at first, and later the written value', async () => {
    const files = new SimulatedDisk();
    const document = await openDocument(path, { n: 0 }, { files, format });
    expect(document.data).toEqual({ n: 0 });
    const written = document.write({ n: 1 });
    expect(document.data).toEqual({ n: 1 });
    await written;
    const again = await openDocument(path, { n: 0 }, { files: files.powerCut(() => false), format });
    expect(again.data).toEqual({ n: 1 });
    expect(again.corrupt).toBe(0);
  });

  it('can be any JSON value', async () => {
    // The CBOR decoder renames a member `__proto__`, because it is a known attack. All other values are preserved.
    const values = fc
      .jsonValue({ noUnicodeString: false })
      .filter((value) => format === 'json' || !JSON.stringify(value).includes('"__proto__"'));
    await fc.assert(
      fc.asyncProperty(values, async (value) => {
        const files = new SimulatedDisk();
        await (await openDocument<unknown>(path, 'fallback', { files, format })).write(value);
        const { data } = await openDocument<unknown>(path, 'fallback', { files, format });
        expect(JSON.stringify(data)).toBe(JSON.stringify(value));
      }),
    );
  });

  it('is saved with the value at the time of the call', async () => {
    const files = new SimulatedDisk();
    const value = { n: 1 };
    const written = (await openDocument(path, { n: 0 }, { files, format })).write(value);
    value.n = 2;
    await written;
    expect((await openDocument(path, { n: 0 }, { files, format })).data).toEqual({ n: 1 });
  });

  it('with any byte changed or cut falls back to the previous generation, and the file is moved aside', async () => {
    const files = new SimulatedDisk();
    const document = await openDocument(path, { n: 0 }, { files, format });
    await document.write({ n: 1 });
    await document.write({ n: 2 });
    const whole = files.read(path);
    const damages = [...whole.keys()].flatMap((at) => {
      const changed = whole.slice();
      changed[at] = changed[at]! ^ (1 << (at % 8));
      return [changed, whole.slice(0, at)];
    });
    for (const damage of damages) {
      const damaged = new SimulatedDisk();
      damaged.plant(path, damage);
      damaged.plant(`${path}.previous`, files.read(`${path}.previous`));
      const { log, said } = listener();
      const found = await openDocument(path, { n: 0 }, { files: damaged, format, log });
      expect(found.data).toEqual({ n: 1 });
      expect(found.corrupt).toBe(1);
      expect(said).toEqual([`store.corrupt ${path}`]);
      expect(damaged.read(`${path}.corrupt-1`)).toEqual(damage);
      // The next write must not lose the intact generation.
      damaged.fault = (operation, name) => (operation === 'rename' && name.endsWith('.next') ? 'EIO' : undefined);
      await expect(found.write({ n: 3 })).rejects.toThrow(
        expect.objectContaining({ code: 'store.failed', where: path }),
      );
      expect((await openDocument(path, { n: 0 }, { files: damaged, format })).data).toEqual({ n: 1 });
    }
  });

  it('uses the fallback if both generations are corrupt, and deletes none of them, however often that happens', async () => {
    const files = new SimulatedDisk();
    for (let round = 1; round <= 3; round++) {
      files.plant(path, Uint8Array.of(round));
      files.plant(`${path}.previous`, Uint8Array.of(round, 2));
      const found = await openDocument(path, 'fallback', { files, format });
      expect([found.data, found.corrupt]).toEqual(['fallback', 2]);
      expect(files.paths).toHaveLength(2 * round);
    }
    expect(files.read(`${path}.corrupt-2`)).toEqual(Uint8Array.of(2));
  });

  it('with an unacceptable value counts as corrupt', async () => {
    const files = new SimulatedDisk();
    const loose = await openDocument<unknown>(path, 0, { files, format });
    await loose.write(5);
    await loose.write('five');
    const accept = (data: unknown): number | undefined => (typeof data === 'number' ? data : undefined);
    const strict = await openDocument(path, 0, { files, format, accept });
    expect([strict.data, strict.corrupt]).toEqual([5, 1]);
  });

  it('combines writes that come during another one; each waits until data at least as new is saved', async () => {
    const files = new SimulatedDisk();
    const document = await openDocument(path, 0, { files, format });
    let release = (): void => undefined;
    files.pause = new Promise((resolve) => {
      release = resolve;
    });
    const durable = async (): Promise<number> =>
      (await openDocument(path, 0, { files: files.powerCut(() => false), format })).data;
    const seen: Promise<void>[] = [];
    const write = (n: number): void => {
      seen.push(document.write(n).then(async () => expect(await durable()).toBeGreaterThanOrEqual(n)));
    };
    write(1);
    await new Promise<void>((resolve) => setImmediate(resolve));
    for (let n = 2; n <= 50; n++) write(n);
    release();
    await Promise.all(seen);
    expect(await durable()).toBe(50);
    expect(files.syncs).toBe(2);
  });

  it('has one of the last two generations after a power cut at any time', async () => {
    const values = [1, 2, 3, 4];
    const clean = new SimulatedDisk();
    const document = await openDocument(path, 0, { files: clean, format });
    for (const value of values) await document.write(value);
    await fc.assert(
      fc.asyncProperty(fc.nat(clean.operations), fc.infiniteStream(fc.boolean()), async (n, survives) => {
        const files = new SimulatedDisk();
        files.fault = () => (files.operations > n ? 'EPOWER' : undefined);
        let durable = 0;
        const writing = await openDocument(path, 0, { files, format });
        for (const value of values) {
          const done = await writing.write(value).then(
            () => true,
            () => false,
          );
          if (!done) break;
          durable = value;
        }
        const after = await openDocument(path, 0, { files: files.powerCut(() => survives.next().value), format });
        expect([durable, durable + 1]).toContain(after.data);
      }),
      { numRuns: 300 },
    );
  });

  it('has its newest generation after the program ended at any time', async () => {
    const clean = new SimulatedDisk();
    const document = await openDocument(path, 0, { files: clean, format });
    for (const value of [1, 2, 3]) await document.write(value);
    for (let n = 0; n <= clean.operations; n++) {
      const files = new SimulatedDisk();
      files.fault = () => (files.operations > n ? 'EENDED' : undefined);
      const writing = await openDocument(path, 0, { files, format });
      let written = 0;
      for (const value of [1, 2, 3]) {
        const done = await writing.write(value).then(
          () => true,
          () => false,
        );
        if (!done) break;
        written = value;
      }
      files.fault = () => undefined;
      const { log, said } = listener();
      const after = await openDocument(path, 0, { files, format, log });
      expect([written, written + 1], `ended at operation ${n}`).toContain(after.data);
      expect(after.found, `ended at operation ${n}`).toBe(after.data === 0 ? 'none' : 'newest');
      expect([after.corrupt, said]).toEqual([0, []]);
      // The next write starts afresh, and must not destroy the data found.
      const rest = files.operations;
      files.fault = () => (files.operations > rest + 3 ? 'EENDED' : undefined);
      const found = after.data;
      await after.write(9).catch(() => undefined);
      files.fault = () => undefined;
      expect([found, 9]).toContain((await openDocument(path, 0, { files, format })).data);
    }
  });

  it('reports a failed write, and saves the value with the next write', async () => {
    const files = new SimulatedDisk();
    const document = await openDocument(path, 0, { files, format });
    await document.write(1);
    files.fault = () => 'ENOSPC';
    const failed = expect.objectContaining({
      code: 'store.failed',
      where: path,
      cause: expect.objectContaining({ code: 'ENOSPC' }),
    });
    await expect(document.write(2)).rejects.toThrow(failed);
    expect(document.data).toBe(2);
    files.fault = () => undefined;
    await document.write(3);
    expect((await openDocument(path, 0, { files: files.powerCut(() => false), format })).data).toBe(3);
  });
});

it('CBOR documents can contain byte strings', async () => {
  const files = new SimulatedDisk();
  const value = { key: Uint8Array.of(1, 2, 3), counters: [2 ** 40, -1] };
  await (await openDocument<object>(path, {}, { files, format: 'cbor' })).write(value);
  expect((await openDocument<object>(path, {}, { files, format: 'cbor' })).data).toEqual(value);
});

it('values that JSON cannot represent are refused', async () => {
  const document = await openDocument<unknown>(path, 0, { files: new SimulatedDisk() });
  await expect(document.write(undefined)).rejects.toThrow(expect.objectContaining({ code: 'input.malformed' }));
});

it('documents are readable files, in directories that are created for them', async () => {
  const root = mkdtempSync(join(tmpdir(), 'vigie-document-'));
  try {
    const file = join(root, 'a', 'b', 'state.json');
    const document = await openDocument(file, { n: 0 });
    await document.write({ n: 1 });
    await document.write({ n: 2 });
    expect(readdirSync(join(root, 'a', 'b')).sort()).toEqual(['state.json', 'state.json.previous']);
    expect(readFileSync(file, 'utf8')).toMatch(/^\{"crc32c":"[0-9a-f]{8}","data":\{"n":2\}\}\n$/);
    expect((await openDocument(file, { n: 0 })).data).toEqual({ n: 2 });
  } finally {
    rmSync(root, { recursive: true });
  }
});
