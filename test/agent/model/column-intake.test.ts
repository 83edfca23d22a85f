import fc from 'fast-check';
import { expect, test } from 'vitest';
import {
  ENTRY_FRAME,
  ENTRY_PLACE,
  ENTRY_SIZE,
  GROUP_BEGIN,
  GROUP_LIST,
  GROUP_SHIFT,
  GROUP_SIZE,
  GROUP_STEP,
  REPEATED,
  Readings,
} from '../../../adapters/can/dbc/decoding/readings.ts';
import { Channels } from '../../../agent/model/channels.ts';
import { intakeOf } from '../../../agent/model/column-intake.ts';
import { Mapping } from '../../../agent/model/mapping.ts';
import { Status } from '../../../agent/model/status.ts';
import type { FrameBatch, FrameDecoder } from '../../../agent/ports.ts';
import { channels as allChannels } from '../../../protocol/channels.ts';
import type { SourceMapping } from '../../../protocol/profile.ts';
import { slots } from '../../../protocol/slots.ts';

const T = Date.UTC(2026, 0, 1);

function source(path: string, rest: Partial<SourceMapping> = {}): SourceMapping {
  return { path, message: 'M', signal: path, scale: 1, offset: 0, invalid: [], priority: 0, ...rest };
}

const sources = [
  source('privacy.state', { map: { 0: 'None', 1: 'Geolocation', 2: 'Full' } }),
  source('kinetic.speed', { signal: 'wheels', timeout: 1_000, failover: 40, invalid: [3] }),
  source('odometer.mileage'),
  source('kinetic.speed', { signal: 'gearbox', timeout: 2_000, priority: 1 }),
  source('lastPosition.latitude'),
  source('lastPosition.longitude'),
  source('alerts.FuelLevelLow', { invalid: [2] }),
  source('acceleration.lateral', { scale: 0.1 }),
  source('doorsState.lockedStates', { map: { 0: ['Unlocked'], 1: 'Locked' } }),
  // A second path of the same signal.
  source('kinetic.moving', { signal: 'wheels' }),
];

/** Signals that arrive together, by list number. */
const lists = [[0], [1, 2], [3], [4, 5], [6, 7], [8, 2]];

/**
 * A frame: its list and its values, or no values if it repeats the previous frame. Some frames lack the last signal.
 */
const frame = fc.record({
  list: fc.nat(lists.length - 1),
  values: fc.option(fc.tuple(fc.nat(3), fc.nat(3)), { nil: undefined }),
  fewer: fc.boolean(),
});
type Frame = typeof frame extends fc.Arbitrary<infer F> ? F : never;

/** Emits each batch of the script in turn. */
class ScriptedDecoder implements FrameDecoder {
  readonly #script: readonly (readonly Frame[])[];
  #next = 0;
  readonly #readings = new Readings();

  constructor(script: readonly (readonly Frame[])[]) {
    this.#script = script;
  }

  decode(batch: FrameBatch, sink: Mapping): void {
    this.read().deliver(batch, sink);
  }

  read(): Readings {
    const readings = this.#readings;
    const frames = this.#script[this.#next++] ?? [];
    readings.clear(frames.length);
    readings.lists = lists;
    readings.count = frames.length;
    let end = 0;
    for (const [i, { list, values, fewer }] of frames.entries()) {
      const signals = lists[list] as number[];
      if (fewer) readings.fewer.push(signals.slice(0, -1));
      const group = i * GROUP_SIZE;
      readings.groups[group + GROUP_LIST] = fewer ? -readings.fewer.length : list;
      readings.groups[group + GROUP_BEGIN] = values === undefined ? REPEATED : end;
      readings.groups[group + GROUP_STEP] = 1;
      readings.entries[i * ENTRY_SIZE + ENTRY_FRAME] = i;
      // Each frame is a group. A frame that repeats a whole frame needs none.
      readings.entries[i * ENTRY_SIZE + ENTRY_PLACE] = values === undefined && !fewer ? -1 - list : i << GROUP_SHIFT;
      if (values === undefined) continue;
      readings.reserve(end + 2);
      for (const value of values) {
        readings.values[end] = value;
        readings.raws[end++] = value;
      }
    }
    return readings;
  }
}

function play(script: readonly (readonly Frame[])[], columns: boolean) {
  const status = new Status();
  const channels = new Channels();
  const told: unknown[] = [];
  const mapping = new Mapping(status, channels, {
    name: 'test',
    sources,
    constants: { 'energies.Electric.subType': 'ElectricEnergy' },
    telemetry: {},
    waypoints: { interval: 1, distance: 1, heading: 1, error: 10 },
    commands: {},
  });
  status.observe({
    changed: ({ path }, value, previous, at) => told.push([path, value, previous, at]),
    removed: ({ path }, previous, at) => told.push(['removed', path, previous, at]),
  });
  channels.observe({
    channel: ({ path }, value, at) => told.push([path, value, at]),
    sample: ({ path }, value, at) => told.push(['sample', path, value, at]),
  });
  const decoder = new ScriptedDecoder(script);
  const take = columns ? intakeOf(decoder, mapping) : (batch: FrameBatch) => decoder.decode(batch, mapping);
  for (const [n, frames] of script.entries()) {
    const at = Float64Array.from(frames, (_, i) => T + n * 100 + i * 7);
    take({ count: frames.length, at } as unknown as FrameBatch);
  }
  return {
    told,
    readings: mapping.readings,
    rejected: mapping.rejected,
    seen: slots.map((slot) => status.seenAt(slot)),
    heard: allChannels.map((channel) => [channels.value(channel), channels.seenAt(channel)]),
    contents: status.contents(),
  };
}

test('columns update Status and channels like single values do', () => {
  fc.assert(
    fc.property(fc.array(fc.array(frame, { maxLength: 12 }), { maxLength: 8 }), (script) => {
      expect(play(script, true)).toEqual(play(script, false));
    }),
    { numRuns: 500 },
  );
});

test('a decoder without columns is read value by value', () => {
  const script = [[{ list: 2, values: [2, 0] as [number, number], fewer: false }]];
  const decoder = new ScriptedDecoder(script);
  const status = new Status();
  const mapping = new Mapping(status, new Channels(), {
    name: 'test',
    sources,
    constants: {},
    telemetry: {},
    waypoints: { interval: 1, distance: 1, heading: 1, error: 10 },
    commands: {},
  });
  const take = intakeOf({ decode: (batch) => decoder.decode(batch, mapping) }, mapping);
  take({ count: 1, at: Float64Array.of(T) } as unknown as FrameBatch);
  expect(status.contents().kinetic).toMatchObject({ speed: 2 });
});
