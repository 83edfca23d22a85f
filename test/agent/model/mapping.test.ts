import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { Channels } from '../../../agent/model/channels.ts';
import { Mapping } from '../../../agent/model/mapping.ts';
import { Status } from '../../../agent/model/status.ts';
import { quantise } from '../../../agent/model/target.ts';
import { encodeMessage } from '../../../protocol/cbor/message.ts';
import { type Channel, channelByPath } from '../../../protocol/channels.ts';
import { VigieError } from '../../../protocol/errors.ts';
import type { SourceMapping, VehicleProfile } from '../../../protocol/profile.ts';
import { PROTOCOL_VERSION } from '../../../protocol/schema/message.ts';
import { type Reading, telemetryFromReadings } from '../../../protocol/schema/telemetry.ts';
import { type Slot, slotByPath, slots } from '../../../protocol/slots.ts';

const T = Date.UTC(2026, 0, 1);

function source(path: string, rest: Partial<SourceMapping> = {}): SourceMapping {
  return { path, message: 'M', signal: path, scale: 1, offset: 0, invalid: [], priority: 0, ...rest };
}

const profile = {
  name: 'test',
  telemetry: {},
  waypoints: { interval: 1, distance: 1, heading: 1, error: 10 },
  commands: {},
};

function setUp(sources: SourceMapping[], constants: VehicleProfile['constants'] = {}) {
  const status = new Status();
  const mapping = new Mapping(status, new Channels(), { ...profile, sources, constants });
  const read = (path: string) => status.value(slotByPath.get(path) as never);
  const give = (path: string, value: number, at = T, rank = 0) => {
    const index = mapping.wanted.findIndex((w, i) => w.signal === path && (rank === 0 || i === rank));
    mapping.reading(index, value, value, at);
    mapping.settled(at);
  };
  return { status, mapping, read, give };
}

describe('mapping', () => {
  test('quantities are scaled and quantised, and values outside the slot’s range are refused', () => {
    const { read, give, mapping } = setUp([source('kinetic.speed', { scale: 3.6, offset: -1 })]);
    give('kinetic.speed', 10);
    expect(read('kinetic.speed')).toBe(35);
    give('kinetic.speed', Number.NaN);
    give('kinetic.speed', 1e9);
    expect(read('kinetic.speed')).toBe(35);
    expect(mapping.rejected).toBe(2);
  });

  test('invalid raw values never become values and are not counted as faults', () => {
    const { read, give, mapping } = setUp([source('environment.air.temp', { invalid: [255] })]);
    give('environment.air.temp', 255);
    expect(read('environment.air.temp')).toBeUndefined();
    expect(mapping.rejected).toBe(0);
  });

  test('names, flags and sets are mapped by raw value, and unlisted raw values are refused', () => {
    const { read, give, mapping } = setUp([
      source('doorsState.opening.Driver.state', { map: { 0: 'Closed', 1: 'Open' } }),
      source('kinetic.moving'),
      source('doorsState.lockedStates', { map: { 0: ['Unlocked'], 1: 'Locked' } }),
    ]);
    give('doorsState.opening.Driver.state', 1);
    give('kinetic.moving', 1);
    give('doorsState.lockedStates', 1);
    give('doorsState.opening.Driver.state', 3);
    expect(read('doorsState.opening.Driver.state')).toBe('Open');
    expect(read('kinetic.moving')).toBe(true);
    expect(read('doorsState.lockedStates')).toEqual(['Locked']);
    expect(mapping.rejected).toBe(1);
  });

  test('a remaining time in seconds is converted to the format of the interface', () => {
    const path = 'energies.Electric.extension.electric.charging.remainingTime';
    const { read, give } = setUp([source(path, { scale: 60 })]);
    for (const [minutes, text] of [
      [0, 'PT0S'],
      [90, 'PT1H30M'],
      [1500, 'PT25H'],
      [0.5, 'PT30S'],
    ] as const) {
      give(path, minutes);
      expect(read(path)).toBe(text);
    }
  });

  test('any signals produce a Status that can be encoded', () => {
    const numeric = slots.filter(({ kind }) => kind === 'quantity' || kind === 'instant' || kind === 'text');
    const paths = numeric.map(({ path }) => path).filter((path) => path !== 'stolen.id');
    const named = source('alarm.trigger.type', { map: { 0: 'VolumetricBreakIn' } });
    const theft = [source('stolen.state'), ...paths.map((path) => source(path))];
    const extreme = fc.constantFrom(0, -1, 2 ** 32, 2 ** 51 + 1, 2 ** 53, 2 ** 64 - 1, -(2 ** 63), 1e22, 1e30, 1e300);
    fc.assert(
      fc.property(fc.oneof(extreme, fc.double()), (value) => {
        const { status, mapping } = setUp([named, ...theft], { 'stolen.id': 'one' });
        mapping.reading(0, 0, 0, T);
        for (let index = 1; index < mapping.wanted.length; index++) mapping.reading(index, value, value, T);
        mapping.settled(T);
        const body = { full: true, status: status.contents() };
        const payload = encodeMessage({
          version: PROTOCOL_VERSION,
          kind: 'status',
          seq: 1,
          boot: 1,
          at: T,
          clock: 'gnss',
          body,
        });
        expect(payload.length).toBeGreaterThan(0);
        const readings = slots
          .filter((slot) => slot.kind === 'quantity' || slot.kind === 'instant')
          .flatMap((slot) => ({ slot, value: status.value(slot), at: T }))
          .filter((reading): reading is Reading => reading.value !== undefined);
        if (readings.length > 0) expect(telemetryFromReadings(readings).size).toBeGreaterThan(0);
        JSON.stringify(body, (name, told) => (name.endsWith('At') ? new Date(told as number).toISOString() : told));
      }),
    );
  });

  test('constants appear with the first frame, at its time', () => {
    const { status, mapping } = setUp([], { 'energies.Electric.subType': 'ElectricEnergy' });
    mapping.settled(T + 5);
    expect(status.contents()).toEqual({
      energies: [{ type: 'Electric', subType: 'ElectricEnergy', createdAt: T + 5 }],
    });
  });

  test('a better source takes precedence until it has been silent for its fail-over time', () => {
    const { read, mapping } = setUp([
      source('kinetic.speed', { signal: 'a', failover: 1000 }),
      source('kinetic.speed', { signal: 'b', priority: 1 }),
    ]);
    const give = (index: number, value: number, at: number) => mapping.reading(index, value, value, at);
    give(1, 1, T);
    expect(read('kinetic.speed')).toBe(1);
    give(0, 2, T + 100);
    give(1, 3, T + 1100);
    expect(read('kinetic.speed')).toBe(2);
    mapping.alive([0], T + 1500);
    give(1, 4, T + 2400);
    expect(read('kinetic.speed')).toBe(2);
    give(1, 5, T + 2501);
    expect(read('kinetic.speed')).toBe(5);
  });

  test('a better source wins even if its newer frame was read first, but not if its clock was hours ahead', () => {
    const { read, mapping } = setUp([
      source('kinetic.speed', { signal: 'a', failover: 1000 }),
      source('kinetic.speed', { signal: 'b', priority: 1 }),
    ]);
    const give = (index: number, value: number, at: number) => mapping.reading(index, value, value, at);
    give(0, 1, T + 100);
    give(1, 2, T + 80);
    expect(read('kinetic.speed')).toBe(1);
    // The clock was set back.
    give(1, 3, T - 3_600_000);
    expect(read('kinetic.speed')).toBe(3);
  });

  test('a profile with an unknown Status path is refused', () => {
    expect(() => setUp([source('kinetic.sped')])).toThrow(VigieError);
  });

  test('freshness follows the time-out, and an unchanged frame renews it', () => {
    const { status, mapping, give } = setUp([source('kinetic.speed', { timeout: 1000 })]);
    const speed = slotByPath.get('kinetic.speed') as never;
    expect(status.fresh(speed, T)).toBe(false);
    give('kinetic.speed', 5);
    expect(status.fresh(speed, T + 1000)).toBe(true);
    expect(status.fresh(speed, T + 1001)).toBe(false);
    mapping.alive([0], T + 1001);
    expect(status.fresh(speed, T + 2001)).toBe(true);
    // The clock stepped back by an hour: the age of the value is unknown.
    expect(status.fresh(speed, T - 3_600_000)).toBe(false);
  });
});

describe('positions', () => {
  const sources = ['latitude', 'longitude', 'altitude'].map((name) => source(`lastPosition.${name}`));
  const position = (read: (path: string) => unknown) => [read('lastPosition.latitude'), read('lastPosition.longitude')];

  test('a position is stored complete or not at all', () => {
    const { read, give } = setUp(sources);
    give('lastPosition.latitude', 48.85);
    expect(position(read)).toEqual([undefined, undefined]);
    give('lastPosition.longitude', 2.3);
    expect(position(read)).toEqual([48.85, 2.3]);
    expect(read('lastPosition.type')).toBe('Acquire');
  });

  test('an unchanged repeated component completes the next position', () => {
    const { read, give, mapping } = setUp(sources);
    give('lastPosition.latitude', 48.85);
    give('lastPosition.longitude', 2.3);
    mapping.alive([0], T + 1000);
    give('lastPosition.longitude', 2.3001, T + 1000);
    expect(position(read)).toEqual([48.85, 2.3001]);
  });

  test('position 0,0 and impossible jumps are refused, and a jump that lasts is accepted', () => {
    const { read, give } = setUp(sources);
    const go = (latitude: number, longitude: number, at: number) => {
      give('lastPosition.latitude', latitude, at);
      give('lastPosition.longitude', longitude, at);
    };
    go(0, 0, T);
    expect(position(read)).toEqual([undefined, undefined]);
    go(48.85, 2.3, T);
    go(43.3, 5.4, T + 1000);
    expect(position(read)).toEqual([48.85, 2.3]);
    for (let second = 2; second < 6; second++) go(43.3, 5.4, T + second * 1000);
    expect(position(read)).toEqual([43.3, 5.4]);
  });

  test('without a fix there is no position', () => {
    const { read, mapping } = setUp([...sources, source('lastPosition.fixStatus', { map: { 2: '2D', 3: '3D' } })]);
    const frame = (fix: number, latitude: number) => {
      mapping.reading(3, fix, fix, T);
      mapping.reading(0, latitude, latitude, T);
      mapping.reading(1, 2.3, 2.3, T);
      mapping.settled(T);
    };
    frame(0, 48.85);
    expect(position(read)).toEqual([undefined, undefined]);
    frame(3, 48.85);
    expect(position(read)).toEqual([48.85, 2.3]);
    frame(0, 48.8501);
    expect(position(read)).toEqual([48.85, 2.3]);
  });
});

test('a repeated reading counts, even if its slot changed in between', () => {
  const slot = slotByPath.get('environment.air.temp') as Slot;
  const step = fc.oneof(
    fc.record({ read: fc.constantFrom(1, 1, 2, 255, 1e9, Number.NaN) }),
    fc.record({ set: fc.constantFrom(1, 2, 3) }),
    fc.record({ remove: fc.constant(true) }),
    fc.record({ privacy: fc.nat(2) }),
  );
  fc.assert(
    fc.property(fc.array(step, { maxLength: 40 }), (steps) => {
      const { status, mapping, read } = setUp([
        source('environment.air.temp', { invalid: [255] }),
        source('privacy.state', { map: { 0: 'None', 1: 'Geolocation', 2: 'Full' } }),
      ]);
      // Result of each step alone, without a memory of readings.
      let value: number | undefined;
      let full = false;
      let refused = 0;
      for (const [i, one] of steps.entries()) {
        const at = T + i;
        if ('read' in one) {
          mapping.reading(0, one.read, one.read, at);
          const valid = one.read === 1 || one.read === 2;
          if (valid && !full) {
            value = one.read;
            expect(status.seenAt(slot)).toBe(at);
          }
          if (!valid && one.read !== 255) refused++;
        } else if ('set' in one) {
          mapping.set(slot, one.set, at);
          if (!full) value = one.set;
        } else if ('remove' in one) {
          mapping.remove(slot, at);
          value = undefined;
        } else {
          mapping.reading(1, one.privacy, one.privacy, at);
          const becomes = one.privacy === 2;
          if (becomes && !full) value = undefined;
          full = becomes;
        }
        expect(read('environment.air.temp')).toBe(value);
        expect(mapping.rejected).toBe(refused);
      }
    }),
  );
});

test('a channel reports each change once, and when it was last seen, also through repeated frames', () => {
  const channel = channelByPath.get('alerts.FuelLevelLow') as Channel;
  const step = fc.oneof(fc.record({ read: fc.constantFrom(0, 1, 1, 2) }), fc.constant('again' as const));
  fc.assert(
    fc.property(fc.array(step, { maxLength: 30 }), (steps) => {
      const channels = new Channels();
      const told: unknown[] = [];
      channels.observe({
        channel: (_channel, value, at) => told.push([value, at]),
        channelAbsent: (_channel, at) => told.push([undefined, at]),
      });
      const sources = [source('alerts.FuelLevelLow', { invalid: [2] })];
      const mapping = new Mapping(new Status(), channels, { ...profile, sources, constants: {} });
      const group = mapping.group([0]);
      const expected: unknown[] = [];
      let value: boolean | undefined;
      let seen = Number.NEGATIVE_INFINITY;
      for (const [i, one] of steps.entries()) {
        const at = T + i;
        if (one === 'again') {
          mapping.aliveTogether(group, at);
          if (value !== undefined) seen = at;
        } else {
          mapping.reading(0, one.read, one.read, at);
          const next = one.read === 2 ? undefined : one.read === 1;
          if (value !== next || seen === Number.NEGATIVE_INFINITY) expected.push([next, at]);
          value = next;
          seen = at;
        }
        expect([channels.value(channel), channels.seenAt(channel)]).toEqual([value, seen]);
      }
      expect(told).toEqual(expected);
    }),
  );
});

describe('slots overruled by the agent', () => {
  const CAUSE = 'preconditioning.airConditioning.startingCause';
  const slot = slotByPath.get(CAUSE) as Slot;
  const setUp = () => {
    const status = new Status();
    const changes: unknown[] = [];
    status.observe({
      changed: (changed, value) => void (changed === slot && changes.push(value)),
      removed: (removed) => void (removed === slot && changes.push(undefined)),
    });
    const sources = [
      source(CAUSE, { map: { 1: 'Immediate', 2: 'Scheduled' }, invalid: [0] }),
      source('privacy.state', { map: { 0: 'None', 2: 'Full' } }),
    ];
    const mapping = new Mapping(status, new Channels(), { ...profile, sources, constants: {} });
    let at = T;
    const say = (raw: number, signal = 0): void => {
      mapping.reading(signal, raw, raw, ++at);
      mapping.settled(at);
    };
    const repeat = (): void => mapping.aliveTogether(mapping.group([0]), ++at);
    return { status, mapping, changes, say, repeat, value: () => status.value(slot), now: () => ++at };
  };

  test('an overruled slot shows the agent’s value, and after release the car’s latest value', () => {
    const { mapping, changes, say, repeat, value, now } = setUp();
    say(1);
    mapping.overrule(slot, 'Scheduled', now());
    for (const raw of [1, 1, 0, 1]) say(raw);
    repeat();
    expect(value()).toBe('Scheduled');
    expect(changes).toEqual(['Immediate', 'Scheduled']);
    mapping.release(slot, now());
    expect(value()).toBe('Immediate');
  });

  test('a released slot shows nothing if the car’s latest value is invalid', () => {
    const { mapping, say, value, now } = setUp();
    say(1);
    mapping.overrule(slot, 'Scheduled', now());
    say(0);
    mapping.release(slot, now());
    expect(value()).toBeUndefined();
    mapping.release(slot, now());
    say(1);
    expect(value()).toBe('Immediate');
  });

  test('a retracted value stays hidden until the car sends a different one', () => {
    const { mapping, say, repeat, value, now } = setUp();
    say(1);
    mapping.retract(slot, now());
    say(1);
    repeat();
    expect(value()).toBeUndefined();
    say(2);
    expect(value()).toBe('Scheduled');
    mapping.retract(slot, now());
    say(0);
    say(2);
    expect(value()).toBe('Scheduled');
    mapping.retract(slot, now());
    say(2);
    expect(value()).toBeUndefined();
    mapping.release(slot, now());
    expect(value()).toBe('Scheduled');
  });

  test('privacy hides an overruled value, which reappears when privacy ends', () => {
    const { mapping, say, repeat, value, now } = setUp();
    say(1);
    mapping.overrule(slot, 'Scheduled', now());
    say(2, 1);
    expect(value()).toBeUndefined();
    mapping.overrule(slot, 'Scheduled', now());
    expect(value()).toBeUndefined();
    say(0, 1);
    say(1);
    repeat();
    expect(value()).toBe('Scheduled');
  });
});

test('quantised values are the doubles nearest to their decimals', () => {
  const level = slotByPath.get('energies.Electric.level') as never;
  fc.assert(
    fc.property(fc.integer({ min: 0, max: 1000 }), (tenths) => {
      expect(quantise(level, tenths * 0.1)).toBe(Number((tenths / 10).toFixed(1)));
    }),
  );
});
