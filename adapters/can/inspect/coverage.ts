/** Measures how well a network description fits the observed frames. */
import type { FrameBatch } from '../../../agent/ports.ts';
import type { Database, DbcMessage } from '../dbc/database.ts';
import { DbcFrameReader } from '../dbc/frame-reader.ts';
import { MessageFinder } from '../dbc/matching.ts';
import { append, createBatch } from '../frames.ts';
import type { ObservedMessage } from './observed-message.ts';
import type { Traffic } from './traffic.ts';

export interface Coverage {
  readonly database: Database;
  /** Numbers of data frames: all, those with an identifier of the DBC, and those that also have its payload length. */
  readonly frames: number;
  readonly known: number;
  readonly fitting: number;
  /** Number of values with a declared range in a sample of the fitting frames, and number of those within the range. */
  readonly values: number;
  readonly inRange: number;
  /** Number of observed messages, and number of their signals. */
  readonly messages: number;
  readonly signals: number;
}

/** Number of frames per identifier whose values are compared with their ranges. */
const SAMPLED = 64;

/** Returns the best fit first: by the share of fitting frames, then by the share of values in their range. */
export function rankCoverage(databases: readonly Database[], traffic: Traffic): Coverage[] {
  const share = ({ inRange, values }: Coverage): number => (values === 0 ? 0 : inRange / values);
  return databases
    .map((database) => coverageOf(database, traffic))
    .sort((a, b) => b.fitting - a.fitting || share(b) - share(a) || b.known - a.known);
}

function coverageOf(database: Database, traffic: Traffic): Coverage {
  const finder = new MessageFinder([{ database }]);
  const seen = new Set<DbcMessage>();
  const sum = { frames: 0, known: 0, fitting: 0, values: 0, inRange: 0 };
  for (const observed of traffic.messages) {
    sum.frames += observed.frames;
    const message = finder.find(undefined, observed.id);
    if (message === undefined || observed.frames === 0) continue;
    seen.add(message);
    sum.known += observed.frames;
    const fitting = observed.lengths.get(message.length) ?? 0;
    sum.fitting += fitting;
    if (fitting === 0) continue;
    const { values, inRange } = rangesOf(database, message, observed);
    sum.values += values;
    sum.inRange += inRange;
  }
  const signals = [...seen].reduce((count, message) => count + message.signals.length, 0);
  return { database, ...sum, messages: seen.size, signals };
}

function rangesOf(
  database: Database,
  message: DbcMessage,
  observed: ObservedMessage,
): Pick<Coverage, 'values' | 'inRange'> {
  const ranges = new Map(message.signals.flatMap(({ name, range }) => (range === undefined ? [] : [[name, range]])));
  const batch = sampleOf(observed, message.length);
  const reader = new DbcFrameReader([{ database }], ['']);
  let values = 0;
  let inRange = 0;
  for (let i = 0; i < batch.count; i++) {
    for (const [name, value] of Object.entries(reader.decode(batch, i)?.signals ?? {})) {
      const range = ranges.get(name);
      if (range === undefined) continue;
      values++;
      if (Number(value) >= range[0] && Number(value) <= range[1]) inRange++;
    }
  }
  return { values, inRange };
}

/** Returns up to SAMPLED of the stored frames with this payload length, evenly spread. */
function sampleOf({ sample, id }: ObservedMessage, length: number): FrameBatch {
  const frames = sample.frames(length);
  const step = Math.max(1, Math.floor(frames.length / SAMPLED));
  const chosen = frames.filter((_, i) => i % step === 0).slice(0, SAMPLED);
  const batch = createBatch(chosen.length, chosen.length * 64);
  for (const payload of chosen) append(batch, 0, id, 0, 0, payload, length);
  return batch;
}
