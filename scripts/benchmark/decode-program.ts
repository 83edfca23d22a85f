/**
 * Our decoder as a program for contest.ts. Arguments: network description, traffic, and `calls` if each value is to be
 * delivered by a separate call instead of in columns.
 */
import { readFileSync } from 'node:fs';
import { DbcDecoder, REPEATED, type Readings } from '../../adapters/can/dbc/index.ts';
import type { FrameBatch, ReadingSink } from '../../agent/ports.ts';
import { answer, Digest } from './answers.ts';
import { everySignal, readNetwork } from './network.ts';
import { type BusTraffic, trafficOf } from './traffic.ts';

const [network = '', file = '', way = 'columns'] = process.argv.slice(2);
const database = readNetwork(network);
const wanted = everySignal(database);
const batches = cut(trafficOf(readFileSync(file)), 4096);

/** Stores the newest value of each signal, as the C reference does. */
class Values implements ReadingSink {
  readonly #values = new Float64Array(wanted.length);

  reading(signal: number, value: number): void {
    this.#values[signal] = value;
  }

  settled(): void {}

  alive(): void {}
}

/** Records delivered values frame by frame. A signal that is only reported as unchanged keeps its previous value. */
class Check implements ReadingSink {
  readonly digest = new Digest();
  frame = 0;

  reading(signal: number, value: number): void {
    this.digest.add(this.frame, signal, value);
  }

  settled(): void {}

  alive(): void {}
}

function cut(traffic: BusTraffic, size: number): FrameBatch[] {
  const { at, id, length, data } = traffic;
  const batches: FrameBatch[] = [];
  for (let from = 0; from < traffic.count; from += size) {
    const to = Math.min(from + size, traffic.count);
    const count = to - from;
    const offset = Uint32Array.from({ length: count }, (_, i) => (from + i) * 8);
    const columns = { at: at.subarray(from, to), id: id.subarray(from, to), length: length.subarray(from, to) };
    batches.push({ count, ...columns, bus: new Uint8Array(count), flags: new Uint8Array(count), offset, data });
  }
  return batches;
}

/** Returns one frame of a batch as a batch of its own, so that a check knows which frame it is. */
function single(batch: FrameBatch, i: number): FrameBatch {
  const { at, id, bus, flags, length, offset, data } = batch;
  const column = { at: at.subarray(i, i + 1), id: id.subarray(i, i + 1), length: length.subarray(i, i + 1) };
  const rest = { bus: bus.subarray(i, i + 1), flags: flags.subarray(i, i + 1), offset: offset.subarray(i, i + 1) };
  return { count: 1, ...column, ...rest, data };
}

/** Records the values in the columns. */
function note(readings: Readings, from: number, digest: Digest): void {
  for (let i = 0; i < readings.count; i++) {
    const begin = readings.begin(i);
    if (begin === REPEATED) continue;
    readings.signals(i).forEach((signal, k) => {
      digest.add(from + readings.frame(i), signal, readings.values[begin + k * readings.step(i)] as number);
    });
  }
}

// The tables are built only once, as in the reference.
const decoder = new DbcDecoder(wanted, [{ database }], ['body']);
if (way === 'columns') {
  let frames = 0;
  await answer({
    check: () => {
      const digest = new Digest();
      let from = 0;
      for (const batch of batches) {
        note(decoder.read(batch), from, digest);
        from += batch.count;
      }
      return digest.toString();
    },
    round: () => {
      for (const batch of batches) frames += decoder.read(batch).count;
    },
  });
  if (frames === 0) throw new Error('nothing was decoded');
} else {
  const values = new Values();
  await answer({
    check: () => {
      const sink = new Check();
      for (const batch of batches) {
        for (let i = 0; i < batch.count; i++) {
          decoder.decode(single(batch, i), sink);
          sink.frame++;
        }
      }
      return sink.digest.toString();
    },
    round: () => {
      for (const batch of batches) decoder.decode(batch, values);
    },
  });
}
