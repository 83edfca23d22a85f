/** The contents of the store after its files were cut or changed by someone else. */
import { Encoder } from 'cbor-x';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { FileSystem } from '../../../adapters/store/files.ts';
import { headerLength } from '../../../adapters/store/segment.ts';
import { openStore, type Store } from '../../../adapters/store/store.ts';
import { MemoryLog } from '../../rig/log.ts';
import { runs, stride } from '../../rig/runs.ts';
import { numbersIn, outboxEntry } from './entries.ts';
import { header, segmentWith } from './segment-bytes.ts';
import { SimulatedDisk } from './simulated-disk.ts';

/** Larger than the writes of a start, and small enough to read quickly: each case opens the store once or twice. */
const SEGMENT_BYTES = 8192;

const open = (files: FileSystem, log = new MemoryLog()): Promise<Store> =>
  openStore('/data', { files, log, segmentBytes: SEGMENT_BYTES });

/** A disk that records how far each file was written. */
class MeasuredDisk extends SimulatedDisk {
  readonly ends = new Map<string, number>();

  override open(path: string, mode: 'create' | 'replace' | 'change' | 'read') {
    const file = super.open(path, mode);
    const { write } = file;
    file.write = (data, position) => {
      write(data, position);
      // A reused file starts with its header.
      this.ends.set(path, Math.max(position === 0 ? 0 : (this.ends.get(path) ?? 0), position + data.length));
    };
    return file;
  }
}

interface Moment {
  /** The segment written last, and its length. */
  readonly path: string;
  readonly end: number;
  readonly messages: readonly string[];
  readonly state: unknown;
  readonly records: readonly unknown[];
  readonly next: number;
}

function describeStore(store: Store): Omit<Moment, 'path' | 'end'> {
  return {
    messages: numbersIn(store.outbox),
    state: store.memory.recall('n'),
    records: [...store.records.list('trips')],
    next: store.outbox.nextSeq(1),
  };
}

/**
 * A store of several segments: messages 0..29 of class 1, committed one by one with a record each. With `removing`,
 * some messages are acknowledged and records replaced.
 */
async function written(removing: boolean): Promise<{ disk: MeasuredDisk; moments: Moment[] }> {
  const disk = new MeasuredDisk();
  const store = await openStore('/data', { files: disk, segmentBytes: 900 });
  const moments: Moment[] = [];
  let n = 0;
  store.memory.keep(() => [['n', n]]);
  for (; n < 30; n++) {
    store.outbox.append(outboxEntry(1, n));
    if (removing && n % 3 === 2) store.outbox.acknowledge(1, n - 1);
    store.records.put('trips', { id: `r${removing ? n % 7 : n}`, at: n, record: n });
    await store.outbox.commit();
    const path = disk.paths.filter((name) => name.endsWith('.journal')).at(-1)!;
    moments.push({ path, end: disk.ends.get(path)!, ...describeStore(store) });
  }
  return { disk, moments };
}

function copyOf(disk: SimulatedDisk): SimulatedDisk {
  const copy = new SimulatedDisk();
  for (const path of disk.paths) copy.plant(path, disk.read(path));
  return copy;
}

/** Like {@link copyOf}, but without the manifest, which distinguishes a power cut from files that were cut. */
function withoutManifest(disk: SimulatedDisk): SimulatedDisk {
  const copy = copyOf(disk);
  for (const path of copy.paths.filter((name) => name.includes('manifest'))) copy.remove(path);
  return copy;
}

/** Distance of damaged bytes. With 15, each bit position of a byte gets its turn. */
const STEP = stride(15);

describe('a store whose files are cut', () => {
  it('at any byte of its last segments returns to the previous group, and continues', async () => {
    // Nothing is removed, so no segment is deleted and every earlier state can be restored.
    const { disk, moments } = await written(false);
    const paths = disk.paths.filter((path) => path.endsWith('.journal'));
    expect(paths.length).toBeGreaterThanOrEqual(3);
    for (const path of paths.slice(-2)) {
      const whole = disk.read(path);
      for (let cut = 0; cut <= disk.ends.get(path)!; cut += STEP) {
        const damaged = withoutManifest(disk);
        damaged.plant(path, whole.subarray(0, cut));
        for (const later of paths.filter((name) => name > path)) damaged.remove(later);
        const store = await open(damaged);
        const expected = moments.findLast((one) => one.path < path || (one.path === path && one.end <= cut))!;
        const { path: _, end, ...wanted } = expected;
        expect(end).toBeGreaterThan(0);
        expect(describeStore(store)).toEqual(wanted);
        store.outbox.append(outboxEntry(1, wanted.next));
        await store.outbox.commit();
        const again = await open(damaged.powerCut(() => false));
        expect(describeStore(again)).toEqual({
          ...wanted,
          messages: [...wanted.messages, `1/${wanted.next}`],
          next: wanted.next + 1,
        });
        expect(again.metrics).toMatchObject({ torn: 0, damaged: 0 });
      }
    }
  });

  it('reports the cut', async () => {
    const { disk: whole } = await written(true);
    const disk = withoutManifest(whole);
    const path = disk.paths.filter((name) => name.endsWith('.journal')).at(-1)!;
    disk.plant(path, disk.read(path).subarray(0, whole.ends.get(path)! - 3));
    const log = new MemoryLog();
    const store = await open(disk, log);
    expect(store.metrics.torn).toBe(1);
    const fields = expect.objectContaining({ file: path });
    expect(log.lines).toEqual([{ level: 'warn', event: 'store.torn', fields }]);
  });
});

describe('a store with changed bytes', () => {
  it('opens with any byte changed, counts the damage, and loses no more than that byte holds', async () => {
    const { disk, moments } = await written(true);
    const last = moments.at(-1)!;
    for (const path of disk.paths.filter((name) => name.endsWith('.journal'))) {
      const whole = disk.read(path);
      const newest = path === last.path;
      for (let at = 0; at < disk.ends.get(path)!; at += STEP) {
        const damaged = copyOf(disk);
        const bytes = whole.slice();
        bytes[at] = bytes[at]! ^ (1 << (at % 8));
        damaged.plant(path, bytes);
        const store = await open(damaged);
        expect(store.metrics.damaged + store.metrics.torn).toBe(1);
        if (store.memory.damaged) expect(store.metrics.damaged).toBe(1);
        // If the newest state is lost, it counts as torn by a power cut or is reported.
        if (store.memory.recall('n') !== 29) expect(store.memory.damaged || store.metrics.torn === 1).toBe(true);
        const found = numbersIn(store.outbox);
        expect(last.messages.filter((name) => !found.includes(name)).length).toBeLessThanOrEqual(1);
        for (const { seq } of store.outbox.entries()) expect(store.outbox.load(1, seq)).toEqual(outboxEntry(1, seq));
        const records = [...store.records.list('trips')].map(({ record }) => record as number);
        expect(last.records.filter((one) => !records.includes((one as { at: number }).at)).length).toBeLessThan(2);
        // Only the last group can be the only one with its number and state.
        const before = moments.at(-2)!;
        const group = newest && (before.path !== path || at >= before.end);
        expect(store.outbox.nextSeq(1)).toBeGreaterThanOrEqual(group && store.metrics.damaged === 0 ? 29 : 30);
        if (!group) expect(store.memory.recall('n')).toBe(29);
      }
    }
  });

  it('keeps the counter of a class without messages, whatever byte is changed', async () => {
    const disk = new MeasuredDisk();
    const store = await openStore('/data', { files: disk, segmentBytes: 300 });
    const { outbox } = store;
    for (let seq = 0; seq < 3; seq++) outbox.append(outboxEntry(7, seq));
    for (let seq = 0; seq < 3; seq++) outbox.acknowledge(7, seq);
    for (let seq = 0; seq < 40; seq++) {
      outbox.append(outboxEntry(1, seq));
      await outbox.commit();
      outbox.acknowledge(1, seq);
      const paths = disk.paths.filter((path) => path.endsWith('.journal'));
      expect(paths.length).toBeLessThanOrEqual(4);
      // At first there is only one group.
      if (seq < 4) continue;
      for (const path of paths) {
        const whole = disk.read(path);
        for (let at = 0; at < whole.length; at += 3 * STEP) {
          const damaged = copyOf(disk);
          const bytes = whole.slice();
          bytes[at] = bytes[at]! ^ 0x10;
          damaged.plant(path, bytes);
          // The counter continues after the numbers that the damaged part may contain.
          const next = (await open(damaged)).outbox.nextSeq(7);
          expect(next).toBeGreaterThanOrEqual(3);
          expect(next).toBeLessThan(20);
        }
      }
    }
  });

  it('reuses no number if the power fails in the first group of a segment and the segment before is lost', async () => {
    const disk = new MeasuredDisk();
    const store = await openStore('/data', { files: disk, segmentBytes: 900 });
    const segments = (): string[] => disk.paths.filter((path) => path.endsWith('.journal'));
    for (let seq = 0, lost: string | undefined; seq < 30; seq++, lost = segments().at(-1)) {
      const before = copyOf(disk);
      store.outbox.append(outboxEntry(1, seq));
      await store.outbox.commit();
      const begun = segments().at(-1)!;
      if (lost === undefined || begun === lost) continue;
      const whole = disk.read(begun);
      for (let cut = headerLength; cut < disk.ends.get(begun)!; cut += STEP) {
        const damaged = copyOf(before);
        damaged.remove(lost);
        damaged.plant(begun, whole.subarray(0, cut));
        const opened = await open(damaged);
        expect([cut, opened.outbox.nextSeq(1) >= seq, opened.memory.damaged]).toEqual([cut, true, true]);
        expect(opened.metrics.damaged).toBe(1);
      }
    }
  });

  it('detects a damaged record only when it is read, reports it, and returns the others', async () => {
    const disk = new SimulatedDisk();
    const store = await openStore('/data', { files: disk, segmentBytes: 1 << 20 });
    for (let seq = 0; seq < 10; seq++) {
      store.outbox.append(outboxEntry(1, seq, 2000));
      store.records.put('trips', { id: `${seq}`, at: seq, record: new Uint8Array(2000).fill(seq) });
    }
    await store.outbox.commit();
    const log = new MemoryLog();
    const again = await open(disk, log);
    const bytes = disk.read('/data/00000001.journal');
    // In the middle of the payloads of message 4 and record 4.
    for (const fill of [(31 + 4) & 0xff, 4]) {
      const at = bytes.findIndex((byte, i) => byte === fill && bytes[i + 1] === fill && bytes[i + 999] === fill);
      bytes[at + 900] = 0xee;
    }
    disk.plant('/data/00000001.journal', bytes);
    expect(again.outbox.load(1, 4)).toBeUndefined();
    expect(again.outbox.reference(1, 4)?.bytes).toBe(2000);
    expect(again.outbox.load(1, 5)).toEqual(outboxEntry(1, 5, 2000));
    expect([...again.records.list('trips')].map(({ id }) => id)).toEqual([...'012356789']);
    expect(again.metrics.damaged).toBe(2);
    expect(log.lines.filter(({ event }) => event === 'store.damagedRecord')).toHaveLength(2);
  });

  it('remembers a damaged message until the outbox has asked for it, even if compaction moves others', async () => {
    const disk = new SimulatedDisk();
    const store = await openStore('/data', { files: disk, segmentBytes: 2000 });
    const { outbox } = store;
    for (let seq = 0; seq < 4; seq++) outbox.append(outboxEntry(1, seq, 300));
    await outbox.commit();
    const path = '/data/00000001.journal';
    const bytes = disk.read(path);
    const payload = outboxEntry(1, 1, 300).payload[0];
    const at = bytes.findIndex((byte, i) => byte === payload && bytes[i + 200] === payload);
    bytes[at + 100] = 0xee;
    disk.plant(path, bytes);
    // The damaged message is half of the live data in the first segment when the others are moved.
    for (const seq of [0, 3]) outbox.acknowledge(1, seq);
    for (let seq = 4; seq < 60; seq++) {
      outbox.append(outboxEntry(1, seq, 300));
      await outbox.commit();
      outbox.acknowledge(1, seq);
    }
    expect(store.metrics.moved).toBeGreaterThan(0);
    expect(outbox.load(1, 1)).toBeUndefined();
    expect(outbox.reference(1, 1)).toMatchObject({ kind: 'telemetry', bytes: 300 });
    expect(outbox.load(1, 2)).toEqual(outboxEntry(1, 2, 300));
    outbox.giveUp(1, 1);
    for (let seq = 60; seq < 80; seq++) {
      outbox.append(outboxEntry(1, seq, 300));
      await outbox.commit();
      outbox.acknowledge(1, seq);
    }
    expect(disk.paths).not.toContain(path);
    expect([...(await open(disk.powerCut(() => false))).outbox.owed()]).toEqual([{ class: 1, numbers: [[1, 1]] }]);
  });

  it('opens with arbitrary files', async () => {
    const content = fc.array(fc.uint8Array({ maxLength: 300 }), { minLength: 1, maxLength: 4 });
    const begin = fc.constantFrom(Uint8Array.of(), header.slice(0, 8), header.slice(0, 20));
    await fc.assert(
      fc.asyncProperty(content, begin, async (files, mark) => {
        const disk = new SimulatedDisk();
        files.forEach((bytes, i) => {
          disk.plant(`/data/0000000${i + 1}.journal`, Uint8Array.of(...mark, ...bytes));
        });
        const store = await open(disk);
        expect(numbersIn(store.outbox)).toEqual([]);
        const nothing = (bytes: Uint8Array) => bytes.every((byte) => byte === 0);
        const broken = files.filter((bytes) => !nothing(bytes) || !nothing(mark));
        expect(store.metrics.aside).toBe(broken.length);
        expect(disk.paths.filter((path) => path.endsWith('.corrupt'))).toHaveLength(broken.length);
        store.outbox.append(outboxEntry(0, 0));
        await store.outbox.commit();
        expect(numbersIn((await open(disk.powerCut(() => false))).outbox)).toEqual(['0/0']);
      }),
    );
  });

  it('reports at the first start only that state was lost with an older segment', async () => {
    for (const state of ['there', undefined]) {
      const disk = new SimulatedDisk();
      const store = await openStore('/data', { files: disk, segmentBytes: 900 });
      store.memory.keep(() => [['old', state]]);
      for (let seq = 0; seq < 30; seq++) {
        store.outbox.append(outboxEntry(1, seq));
        await store.outbox.commit();
      }
      const [first] = disk.paths.filter((name) => name.endsWith('.journal')).sort();
      disk.plant(first!, new Uint8Array(disk.read(first!).length).fill(0x55));
      const log = new MemoryLog();
      const after = await open(disk, log);
      expect(after.metrics).toMatchObject({ aside: 1, damaged: 1 });
      // If the segment contained no state, all states are there, and only messages are lost.
      expect([after.memory.recall('old'), after.memory.damaged]).toEqual([undefined, state !== undefined]);
      expect([...after.outbox.owed()]).toEqual([{ class: 1, numbers: [[0, expect.any(Number)]] }]);
      expect(log.lines.some(({ event }) => event === 'store.lost')).toBe(state !== undefined);
      after.outbox.append(outboxEntry(1, 30));
      await after.outbox.commit();
      const later = new MemoryLog();
      const again = await open(
        disk.powerCut(() => false),
        later,
      );
      expect([again.metrics.damaged, again.metrics.aside, again.memory.damaged]).toEqual([0, 0, false]);
      expect(later.lines).toEqual([]);
    }
  });

  it('reports damage at one start only, whichever byte of an old segment is changed', async () => {
    const { disk } = await written(true);
    const paths = disk.paths.filter((name) => name.endsWith('.journal')).sort();
    expect(paths.length).toBeGreaterThan(2);
    for (const path of paths.slice(0, -1)) {
      const whole = disk.read(path);
      for (let at = 0; at < disk.ends.get(path)!; at += 3 * stride(9)) {
        const damaged = copyOf(disk);
        const bytes = whole.slice();
        bytes[at] = bytes[at]! ^ 0x10;
        damaged.plant(path, bytes);
        const first = await open(damaged);
        expect([first.metrics.damaged, first.memory.damaged]).toEqual([1, false]);
        const found = describeStore(first);
        first.outbox.append(outboxEntry(1, 30));
        await first.outbox.commit();
        const log = new MemoryLog();
        const later = await open(
          damaged.powerCut(() => false),
          log,
        );
        expect([later.metrics.damaged, later.memory.damaged, log.lines]).toEqual([0, false, []]);
        expect(describeStore(later)).toEqual({ ...found, messages: [...found.messages, '1/30'], next: 31 });
      }
    }
  });

  it('opens with valid records of arbitrary content', async () => {
    const anything = fc.anything({ withBigInt: true, withTypedArray: true }).filter((value) => {
      try {
        new Encoder().encode(value);
        return true;
      } catch {
        return false;
      }
    });
    const series = fc.oneof(fc.nat(9), fc.constantFrom('', 'trips'), anything);
    const member = fc.oneof(fc.nat(9), fc.string(), fc.uint8Array({ maxLength: 9 }), anything);
    const almost = fc
      .tuple(fc.nat(9), series, fc.oneof(fc.nat(9), anything), fc.array(member, { maxLength: 6 }))
      .map(([type, name, number, members]) => [type, name, number, ...members]);
    await fc.assert(
      fc.asyncProperty(fc.array(fc.oneof(anything, almost), { maxLength: 6 }), async (values) => {
        const disk = new SimulatedDisk();
        const bytes = segmentWith((batch) => {
          for (const value of values) {
            const encoded = new Encoder({ tagUint8Array: false }).encode(value);
            batch.addEncoded(encoded, 0, encoded.length);
          }
          batch.add([1, 3, 100, 'trip', 1, false, new Uint8Array(2)]);
        });
        disk.plant('/data/00000001.journal', bytes);
        const store = await open(disk);
        expect(store.metrics.damaged).toBe(0);
        expect(store.metrics.unknown + store.metrics.malformed).toBeLessThanOrEqual(values.length);
        for (const { class: priority, seq } of store.outbox.entries()) store.outbox.load(priority, seq);
        for (const name of ['trips', 'other']) [...store.records.list(name)].length;
        store.records.put('trips', { id: 'x', at: 1, record: 1 });
        expect(store.records.get('trips', 'x')?.record).toBe(1);
        await store.outbox.commit();
      }),
      { numRuns: runs(60, 500) },
    );
  });

  it('skips records of a later version, and unknown members of entries', async () => {
    const bytes = segmentWith((batch) => {
      for (const record of [
        [77, 'new'],
        [1, 3, 0, 'trip', 1, false, new Uint8Array(2), Uint8Array.of(9), 'more', [1]],
        [1, 3, 1, 'trip', 'late', false, new Uint8Array(2)],
        [5, 'trips', 0, 7, 'a', Uint8Array.of(1), 'more'],
        [6, '', 0, 'key', Uint8Array.of(2), 'more'],
      ]) {
        batch.add(record);
      }
    });
    const disk = new SimulatedDisk();
    disk.plant('/data/00000001.journal', bytes);
    const store = await open(disk);
    expect(store.metrics).toMatchObject({ unknown: 1, malformed: 1, damaged: 0 });
    expect(numbersIn(store.outbox)).toEqual(['3/0']);
    expect(store.outbox.load(3, 0)!.correlation).toEqual(Uint8Array.of(9));
    expect([...store.records.list('trips')]).toEqual([{ id: 'a', at: 7, record: 1 }]);
    expect(store.memory.recall('key')).toBe(2);
  });

  it('uses the higher number of two states with one key, and of two records with one id', async () => {
    const bytes = segmentWith((batch) => {
      batch.add([6, '', 4, 'key', Uint8Array.of(2)]);
      batch.add([6, '', 3, 'key', Uint8Array.of(1)]);
      batch.add([5, 'trips', 8, 7, 'a', Uint8Array.of(2)]);
      batch.add([5, 'trips', 5, 9, 'a', Uint8Array.of(1)]);
    });
    const disk = new SimulatedDisk();
    disk.plant('/data/00000001.journal', bytes);
    const store = await open(disk);
    expect(store.memory.recall('key')).toBe(2);
    expect([...store.records.list('trips')]).toEqual([{ id: 'a', at: 7, record: 2 }]);
    await store.outbox.commit();
    expect([...(await open(disk)).records.list('trips')]).toHaveLength(1);
  });

  it('starts with a header of the declared length', () => {
    expect(header).toHaveLength(headerLength);
  });
});
