/**
 * The scripted day with power cuts at random points produces the same records, including ids. DAY_CUTS=200 for many.
 */
import { beforeAll, describe, expect, test } from 'vitest';
import { Noise } from '../../adapters/simulated/noise.ts';
import { classOf } from '../../protocol/classes.ts';
import type { DayLog } from '../rig/day.ts';
import { type DayOutcome, runDay, wholeDay } from '../rig/day-run.ts';
import { eventsIn, messagesOf, readingsIn, recordsOf } from './records.ts';
import * as truth from './truth.ts';

const CUTS = Number(process.env['DAY_CUTS'] ?? 25);
const SEED = Number(process.env['DAY_SEED'] ?? 1);

let log: DayLog;
let whole: DayOutcome;
let cut: DayOutcome;
let anywhere: readonly number[];

beforeAll(async () => {
  ({ log, day: whole } = await wholeDay());
  const noise = new Noise(SEED);
  anywhere = Array.from({ length: CUTS }, () => Math.floor(noise.next() * log.count));
  const afterImpact = [500, 3_000].map((by) => log.elapsed.findIndex((time) => time > truth.collision.at + by));
  cut = await runDay(
    log,
    [...anywhere, ...afterImpact].sort((a, b) => a - b),
  );
}, 600_000);

/** Whether a cut falls within the seconds before a collision that its record includes. */
function spoilsPulse(): boolean {
  return anywhere.some((frame) => {
    const before = truth.collision.at - (log.elapsed[frame] as number);
    return before > -1_000 && before < 6_500;
  });
}

describe(`the day cut ${CUTS} times`, () => {
  test('the day was cut, and no agent reported a fault', () => {
    expect(cut.faults).toBe(0);
    expect(cut.fed).toBeGreaterThan(log.count);
    expect(cut.log.lines.filter(({ level }) => level === 'error')).toEqual([]);
  });

  test.each(['trip', 'alert', 'alarm', 'stolen', 'maintenance', 'waypoint'])(
    'a day with power cuts has the same records: %s',
    (kind) => {
      expect(cut.records[kind]).toEqual(whole.records[kind]);
    },
  );

  test('a day with power cuts has the same collision, with its measurements, even if the cut follows the impact', () => {
    const [collision] = recordsOf(cut, 'collision');
    const [expected] = recordsOf(whole, 'collision');
    expect(recordsOf(cut, 'collision')).toHaveLength(1);
    if (!spoilsPulse()) expect(collision).toEqual(expected);
    const { pulse: _, readings: __, longitudinalChange: ___, lateralChange: ____, ...facts } = collision ?? {};
    expect(expected).toMatchObject(facts);
  });

  test('a day with power cuts has the same telemetry, reading by reading', () => {
    expect(readingsIn(cut)).toEqual(readingsIn(whole));
    expect(cut.records['telemetry']).toEqual(whole.records['telemetry']);
  });

  test('a day with power cuts delivers every number of every class, and repeated ones with the same content', () => {
    const classes = new Map<number, Map<number, string>>();
    for (const { message, payload } of messagesOf(cut)) {
      const seen = classes.get(classOf(message.kind)) ?? new Map<number, string>();
      classes.set(classOf(message.kind), seen);
      const said = Buffer.from(payload).toString('base64');
      expect(seen.get(message.seq) ?? said).toBe(said);
      seen.set(message.seq, said);
    }
    for (const seen of classes.values())
      expect([...seen.keys()].sort((a, b) => a - b)).toEqual([...seen.keys()].map((_, index) => index));
  });

  test('a day with power cuts has the same monitor events, each once', () => {
    // Measurements around an event are lost in a power cut (docs/monitors.md).
    const facts = (outcome: DayOutcome): object[] =>
      eventsIn(outcome)
        .filter(({ complement }) => !complement)
        .map(({ telemetry: _, ...event }) => event);
    expect(facts(cut)).toEqual(facts(whole));
  });
});
