/** What is left of the outbox when its files are cut or changed behind its back. */
import { Encoder } from 'cbor-x';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type Item, RecordBatch } from '../../../adapters/store/batch.ts';
import { openOutboxStore } from '../../../adapters/store/outbox-store.ts';
import { headLength, scanSegment, segmentMark, writeHead } from '../../../adapters/store/record.ts';
import type { Log, OutboxStore } from '../../../agent/ports.ts';
import { outboxEntry } from './entries.ts';
import { SimulatedDisk } from './simulated-disk.ts';

const numbers = (store: OutboxStore): string[] => [...store.entries()].map((entry) => `${entry.class}/${entry.seq}`);

/** A store with three segments: entries 0..29 of class 1 but for some acknowledged, committed one by one. */
async function written(): Promise<{ disk: SimulatedDisk; live: string[] }> {
  const disk = new SimulatedDisk();
  const store = await openOutboxStore('/outbox', { files: disk, segmentBytes: 700 });
  for (let seq = 0; seq < 30; seq++) {
    store.append(outboxEntry(1, seq));
    await store.commit();
    if (seq % 3 === 2) store.acknowledge(1, seq - 1);
  }
  await store.commit();
  return { disk, live: numbers(store) };
}

function copyOf(disk: SimulatedDisk): SimulatedDisk {
  const copy = new SimulatedDisk();
  for (const path of disk.paths) copy.plant(path, disk.read(path));
  return copy;
}

/** Sequence numbers of the entries whose records end before `cut` of `path`, in older segments too. */
function entriesBefore(disk: SimulatedDisk, path: string, cut: number): number[] {
  const seqs: number[] = [];
  for (const name of disk.paths) {
    if (name > path) break;
    const bytes = name === path ? disk.read(name).subarray(0, cut) : disk.read(name);
    scanSegment(bytes, (payload) => {
      // [1, class, seq, …] with seq below 24: one byte each.
      if (payload[1] === 1) seqs.push(payload[3]! === 24 ? payload[4]! : payload[3]!);
    });
  }
  return seqs;
}

describe('an outbox that is cut', () => {
  it('at any byte of its last segments opens, has all that was before the cut, and goes on', async () => {
    const { disk, live } = await written();
    const paths = disk.paths;
    expect(paths.length).toBeGreaterThanOrEqual(3);
    for (const path of paths.slice(-2)) {
      const whole = disk.read(path);
      const used = scanSegment(whole, () => undefined).end;
      for (let cut = 0; cut <= used; cut++) {
        const damaged = copyOf(disk);
        damaged.plant(path, whole.subarray(0, cut));
        for (const later of paths.filter((name) => name > path)) damaged.remove(later);
        const before = entriesBefore(disk, path, cut);
        const store = await openOutboxStore('/outbox', { files: damaged });
        const found = numbers(store);
        // Acknowledgements behind the cut are gone with it, entries before it are not.
        const expected = live.filter((name) => before.includes(Number(name.slice(2))));
        expect(found).toEqual(expect.arrayContaining(expected));
        const next = store.nextSeq(1);
        expect(next).toBeGreaterThanOrEqual(Math.max(-1, ...before) + 1);
        expect(next).toBeLessThanOrEqual(30);
        store.append(outboxEntry(1, next));
        await store.commit();
        const again = await openOutboxStore('/outbox', { files: damaged.powerCut(() => false) });
        expect(numbers(again)).toEqual([...found, `1/${next}`]);
        expect(again.metrics).toMatchObject({ torn: 0, damaged: 0 });
      }
    }
  });

  it('says what it cut', async () => {
    const { disk } = await written();
    const path = disk.paths.at(-1)!;
    const end = scanSegment(disk.read(path), () => undefined).end;
    disk.plant(path, disk.read(path).subarray(0, end - 3));
    const said: unknown[] = [];
    const log: Log = {
      info: () => undefined,
      warn: (event, fields) => said.push([event, fields]),
      error: () => undefined,
    };
    const store = await openOutboxStore('/outbox', { files: disk, log });
    expect(store.metrics.torn).toBe(1);
    expect(said).toEqual([['store.torn', expect.objectContaining({ file: path })]]);
  });
});

describe('an outbox with changed bytes', () => {
  it('opens whatever byte is changed, counts it, and loses no other record', async () => {
    const { disk, live } = await written();
    for (const path of disk.paths) {
      const whole = disk.read(path);
      const used = scanSegment(whole, () => undefined).end;
      for (let at = segmentMark.length; at < used; at++) {
        const damaged = copyOf(disk);
        const bytes = whole.slice();
        bytes[at] = bytes[at]! ^ (1 << (at % 8));
        damaged.plant(path, bytes);
        const store = await openOutboxStore('/outbox', { files: damaged });
        expect(store.metrics.damaged + store.metrics.torn).toBe(1);
        const found = numbers(store);
        expect(live.filter((name) => !found.includes(name)).length).toBeLessThanOrEqual(1);
        // Only the last record of all is the only one that knows its number.
        expect(store.nextSeq(1)).toBeGreaterThanOrEqual(29);
      }
    }
  });

  it('keeps the counter of a class whose entries are long gone, whatever byte is changed', async () => {
    const disk = new SimulatedDisk();
    const store = await openOutboxStore('/outbox', { files: disk, segmentBytes: 300 });
    for (let seq = 0; seq < 3; seq++) store.append(outboxEntry(7, seq));
    for (let seq = 0; seq < 3; seq++) store.acknowledge(7, seq);
    for (let seq = 0; seq < 40; seq++) {
      store.append(outboxEntry(1, seq));
      await store.commit();
      store.acknowledge(1, seq);
      expect(disk.paths.length).toBeLessThanOrEqual(4);
      for (const path of disk.paths) {
        const whole = disk.read(path);
        const used = scanSegment(whole, () => undefined).end;
        for (let at = 0; at < used; at += 3) {
          const damaged = copyOf(disk);
          const bytes = whole.slice();
          bytes[at] = bytes[at]! ^ 0x10;
          damaged.plant(path, bytes);
          expect((await openOutboxStore('/outbox', { files: damaged })).nextSeq(7)).toBe(3);
        }
      }
    }
  });

  it('opens whatever the files hold', async () => {
    const content = fc.array(fc.uint8Array({ maxLength: 300 }), { minLength: 1, maxLength: 4 });
    await fc.assert(
      fc.asyncProperty(content, fc.boolean(), async (files, marked) => {
        const disk = new SimulatedDisk();
        const mark = marked ? segmentMark : [];
        files.forEach((bytes, i) => {
          disk.plant(`/outbox/0000000${i + 1}.journal`, Uint8Array.of(...mark, ...bytes));
        });
        const store = await openOutboxStore('/outbox', { files: disk });
        expect(numbers(store)).toEqual([]);
        expect(store.metrics.aside).toBe(files.filter((bytes) => bytes.some((byte) => byte !== 0)).length);
        expect(disk.paths.filter((path) => path.endsWith('.corrupt'))).toHaveLength(store.metrics.aside);
        store.append(outboxEntry(0, 0));
        await store.commit();
      }),
    );
  });

  it('opens whatever records are whole but make no sense', async () => {
    const anything = fc.anything({ withBigInt: true, withTypedArray: true }).filter((value) => {
      try {
        new Encoder().encode(value);
        return true;
      } catch {
        return false;
      }
    });
    const almost = fc.tuple(
      fc.integer({ min: 0, max: 5 }),
      fc.oneof(fc.nat(9), anything),
      fc.oneof(fc.nat(9), anything),
      anything,
    );
    await fc.assert(
      fc.asyncProperty(fc.array(fc.oneof(anything, almost), { maxLength: 5 }), async (values) => {
        const batch = new RecordBatch();
        const parts = values.map((value) => frame(new Encoder({ tagUint8Array: false }).encode(value)));
        batch.add([1, 3, 0, 'trip', 1, false, new Uint8Array(2)]);
        const disk = new SimulatedDisk();
        const bytes = Uint8Array.of(...segmentMark, ...parts.flatMap((part) => [...part]), ...batch.bytes);
        disk.plant('/outbox/00000001.journal', bytes);
        const store = await openOutboxStore('/outbox', { files: disk });
        expect(store.metrics.damaged).toBe(0);
        expect(store.metrics.unknown + store.metrics.malformed).toBeLessThanOrEqual(values.length);
        await store.commit();
      }),
    );
  });

  it('skips records of a later version and entries with members it does not know', async () => {
    const batch = new RecordBatch();
    const entry: readonly Item[] = [1, 3, 0, 'trip', 1, false, new Uint8Array(2), Uint8Array.of(9), 'more', [1]];
    for (const record of [[77, 'new'], entry, [1, 3, 1, 'trip', 'late', false, new Uint8Array(2)]]) batch.add(record);
    const disk = new SimulatedDisk();
    disk.plant('/outbox/00000001.journal', Uint8Array.of(...segmentMark, ...batch.bytes));
    const store = await openOutboxStore('/outbox', { files: disk });
    expect(store.metrics).toMatchObject({ unknown: 1, malformed: 1, damaged: 0 });
    expect(numbers(store)).toEqual(['3/0']);
    expect([...store.entries()][0]!.correlation).toEqual(Uint8Array.of(9));
  });
});

/** A record around a payload that is CBOR already. */
function frame(payload: Uint8Array): Uint8Array {
  const bytes = new Uint8Array(headLength + payload.length);
  bytes.set(payload, headLength);
  writeHead(bytes, 0, payload.length);
  return bytes;
}
