/**
 * candied, an npm decoder, as a program for contest.ts. Arguments: network description, traffic, and number of frames
 * to decode. `check` prints how many values candied returned, and how many of them differ from those of our decoder.
 */
import { readFileSync } from 'node:fs';
import { DbcDecoder } from '../../adapters/can/dbc/index.ts';
import { EXTENDED } from '../../agent/ports.ts';
import { answer } from './answers.ts';
import { everySignal, readNetwork } from './network.ts';
import { peer } from './peers.ts';
import { trafficOf } from './traffic.ts';

interface Frame {
  readonly id: number;
  readonly dlc: number;
  readonly isExtended: boolean;
  readonly payload: number[];
}

/** The part of candied that is used here. */
interface Library {
  readonly Can: new () => {
    database: unknown;
    decode(frame: Frame): { readonly boundSignals: ReadonlyMap<string, { readonly value: number }> } | undefined;
  };
  readonly Dbc: new () => { load(text: string): unknown };
}

const [network = '', file = '', count = ''] = process.argv.slice(2);
const { Can, Dbc } = peer('candied') as Library;
const can = new Can();
can.database = new Dbc().load(readFileSync(network, 'latin1'));

const traffic = trafficOf(readFileSync(file));
const frames = Array.from({ length: Math.min(Number(count), traffic.count) }, (_, i): Frame => {
  const [id, dlc] = [traffic.id[i] as number, traffic.length[i] as number];
  const payload = [...traffic.data.subarray(i * 8, i * 8 + dlc)];
  return { id: id % EXTENDED, dlc, isExtended: id >= EXTENDED, payload };
});

function decode(i: number): ReadonlyMap<string, { readonly value: number }> | undefined {
  try {
    return can.decode(frames[i] as Frame)?.boundSignals;
  } catch {
    // candied fails on some frames, which therefore yield no values.
    return undefined;
  }
}

await answer({
  check: () => {
    const database = readNetwork(network);
    const wanted = everySignal(database);
    const decoder = new DbcDecoder(wanted, [{ database }], ['body']);
    const { at, id, length, data } = traffic;
    let [values, wrong] = [0, 0];
    for (let i = 0; i < frames.length; i++) {
      const given = decode(i);
      const batch = {
        count: 1,
        at: at.subarray(i, i + 1),
        id: id.subarray(i, i + 1),
        length: length.subarray(i, i + 1),
      };
      const offset = Uint32Array.of(i * 8);
      const take = {
        reading: (signal: number, value: number): void => {
          values++;
          const found = given?.get(wanted[signal]?.signal ?? '')?.value;
          // Differences in the last digit do not count.
          if (found === undefined || Math.abs(found - value) > 1e-6 * Math.max(1, Math.abs(value))) wrong++;
        },
        settled: () => undefined,
        alive: () => undefined,
      };
      decoder.decode({ ...batch, bus: new Uint8Array(1), flags: new Uint8Array(1), offset, data }, take);
    }
    return `${values} ${wrong}`;
  },
  round: () => {
    for (let i = 0; i < frames.length; i++) decode(i);
  },
});
