import { beforeAll, describe, expect, test } from 'vitest';
import { parse } from 'yaml';
import { DbcDecoder } from '../../../adapters/can/dbc/index.ts';
import { SimulatedCar } from '../../../adapters/simulated/index.ts';
import { Channels } from '../../../agent/model/channels.ts';
import { Mapping } from '../../../agent/model/mapping.ts';
import { Status } from '../../../agent/model/status.ts';
import { interlocks } from '../../../agent/remotes/interlocks.ts';
import { channelByPath } from '../../../protocol/channels.ts';
import type { SourceMapping } from '../../../protocol/profile.ts';
import { type Slot, slotByPath, slots } from '../../../protocol/slots.ts';
import { VirtualClock } from '../../rig/clock.ts';
import { codec, database, messageOf, profileText, rawValues, signalOf } from './network.ts';

interface Entry {
  readonly signal: string;
  readonly timeout?: string;
  readonly map?: Readonly<Record<string, string | boolean | readonly string[]>>;
  readonly invalid?: readonly number[];
}

interface Actuation {
  readonly send: {
    readonly message: string;
    readonly signals: Readonly<Record<string, number | string>>;
    readonly counter?: string;
    readonly checksum?: { readonly signal: string; readonly method: string };
  };
  readonly confirm: { readonly path: string; readonly includes?: string; readonly equals?: string | boolean };
}

interface Profile {
  readonly constants: Readonly<Record<string, string>>;
  readonly status: Readonly<Record<string, Entry>>;
  readonly alerts: Readonly<Record<string, Entry>>;
  readonly maintenance: Readonly<Record<string, Entry>>;
  readonly collision: Readonly<Record<string, Entry>>;
  readonly acceleration: Readonly<Record<string, Entry>>;
  readonly key: Readonly<Record<string, Entry>>;
  readonly horn: Readonly<Record<string, Entry>>;
  readonly immobilizer: Readonly<Record<string, Entry>>;
  readonly navigation: Readonly<Record<string, Entry>>;
  readonly telemetry: Readonly<Record<string, { readonly deadBand?: number }>>;
  readonly commands: Readonly<Record<string, Readonly<Record<string, Actuation>>>>;
}

const profile = parse(profileText) as Profile;
const channelSections = [
  'alerts',
  'maintenance',
  'collision',
  'acceleration',
  'key',
  'horn',
  'immobilizer',
  'navigation',
] as const;

/** Splits `MESSAGE.Signal`. */
function split(name: string): [message: string, signal: string] {
  const [message = '', signal = ''] = name.split('.');
  return [message, signal];
}

function slotOf(path: string): Slot {
  const slot = slotByPath.get(path);
  if (slot === undefined) throw new Error(`Status has no path ${path}`);
  return slot;
}

describe('the profile of the bench car', () => {
  test.each(Object.entries(profile.status))('entry %s fits its signal and its slot', (path, entry) => {
    const slot = slotOf(path);
    const signal = signalOf(...split(entry.signal));
    const named = [...(signal.choices ?? new Map()).keys()];
    for (const [raw, value] of Object.entries(entry.map ?? {})) {
      expect(named, `raw ${raw} of ${entry.signal}`).toContain(Number(raw));
      const names = typeof value === 'object' ? value : [value];
      for (const name of names) {
        if (slot.kind === 'flag') expect(name).toBeTypeOf('boolean');
        else expect(slot.values, `${path}: ${String(name)}`).toContain(name);
      }
      expect(Array.isArray(value)).toBe(slot.kind === 'set');
    }
    // Durations are converted from seconds. Every other text or enumeration needs a map.
    if (slot.kind !== 'quantity' && slot.duration !== true) expect(entry.map).toBeDefined();
    // "Not available" must never reach Status: it has no map entry and is listed in `invalid`.
    for (const raw of rawValues(signal, 'SNA')) {
      if (entry.map === undefined) expect(entry.invalid).toContain(raw);
      else expect(Object.keys(entry.map)).not.toContain(String(raw));
    }
    // A value that means "not available" must be a named one, because other values are physical.
    for (const raw of entry.invalid ?? []) expect(named, `invalid ${raw}`).toContain(raw);
  });

  test.each(
    channelSections.flatMap((section) =>
      Object.entries(profile[section]).map(([name, entry]) => [`${section}.${name}`, entry] as const),
    ),
  )('entry %s fits its signal and its channel', (path, entry) => {
    const channel = channelByPath.get(path);
    const signal = signalOf(...split(entry.signal));
    const named = [...(signal.choices ?? new Map()).keys()];
    for (const [raw, value] of Object.entries(entry.map ?? {})) {
      expect(named, `raw ${raw} of ${entry.signal}`).toContain(Number(raw));
      if (channel?.kind === 'flag') expect(value).toBeTypeOf('boolean');
      else expect(channel?.values, `${path}: ${String(value)}`).toContain(value);
    }
    for (const raw of rawValues(signal, 'SNA')) {
      if (entry.map === undefined) expect(entry.invalid).toContain(raw);
      else expect(Object.keys(entry.map)).not.toContain(String(raw));
    }
  });

  test('has only existing names in constants, telemetry and commands', () => {
    for (const [path, value] of Object.entries(profile.constants)) expect(slotOf(path).values).toContain(value);
    for (const path of Object.keys(profile.telemetry)) {
      if (path !== 'default') expect(Object.keys(profile.status)).toContain(slotOf(path).path);
    }
    for (const { send, confirm } of Object.values(profile.commands).flatMap((actions) => Object.values(actions))) {
      for (const name of [...Object.keys(send.signals), send.counter, send.checksum?.signal]) {
        if (name === undefined) continue;
        expect(messageOf(send.message).signals.map((signal) => signal.name)).toContain(name);
      }
      const [section, member = ''] = confirm.path.split('.') as [(typeof channelSections)[number], string?];
      const shown = profile.status[confirm.path] ?? profile[section][member];
      expect(Object.values(shown?.map ?? {}).flat(), confirm.path).toContain(confirm.includes ?? confirm.equals);
    }
  });

  test('has every action of every kind', () => {
    const actions = Object.entries(profile.commands).flatMap(([kind, some]) =>
      Object.keys(some).map((action) => `${kind}.${action}`),
    );
    expect(actions).toEqual([
      'wakeUp.wake',
      'doors.lock',
      'doors.unlock',
      'lights.on',
      'lights.off',
      'horn.on',
      'horn.off',
      'charging.start',
      'charging.stop',
      ...[1, 2, 3, 4, 5].map((level) => `charging.level${level}`),
      'charging.partial',
      'charging.full',
      'preconditioning.start',
      'preconditioning.stop',
      'immobilization.on',
      'immobilization.off',
      'navigation.send',
    ]);
  });

  test('has a timeout for every path that interlocks and confirmations use', () => {
    const asked = new Set(interlocks.flatMap(({ any }) => any.map(({ path }) => path)));
    for (const { confirm } of Object.values(profile.commands).flatMap((actions) => Object.values(actions))) {
      asked.add(confirm.path);
    }
    const entries = channelSections.flatMap((section) =>
      Object.entries(profile[section]).map(([name, entry]) => [`${section}.${name}`, entry] as const),
    );
    for (const [path, entry] of [...Object.entries(profile.status), ...entries]) {
      if (asked.has(path)) expect(entry.timeout, path).toBeDefined();
    }
  });
});

describe('Status of the bench car after one loop', () => {
  const status = new Status();
  let mapping: Mapping;

  beforeAll(async () => {
    const sources = Object.entries(profile.status).map(([path, entry]): SourceMapping => {
      const [message, signal] = split(entry.signal);
      const { map, invalid = [] } = entry;
      const plain = { path, message, signal, scale: 1, offset: 0, invalid, priority: 0 };
      return map === undefined ? plain : { ...plain, map };
    });
    mapping = new Mapping(status, new Channels(), {
      name: 'bench',
      sources,
      constants: profile.constants,
      telemetry: { default: { interval: 1000, deadBand: 0, heartbeat: 60_000 } },
      waypoints: { interval: 10_000, distance: 50, heading: 15, error: 10 },
      commands: {},
    });
    const clock = new VirtualClock();
    const car = new SimulatedCar({ clock, codec });
    const decoder = new DbcDecoder(mapping.wanted, [{ bus: 'body', database }], car.buses);
    expect(decoder.problems).toEqual([]);
    await car.start((batch) => decoder.decode(batch, mapping));
    clock.advance(car.period);
  });

  test('contains every reading', () => {
    expect(mapping.rejected).toBe(0);
  });

  test('has a value for every mapped path except for events that did not happen', () => {
    const empty = Object.keys(profile.status).filter((path) => status.value(slotOf(path)) === undefined);
    expect(empty).toEqual([
      'preconditioning.airConditioning.startingCause',
      'preconditioning.airConditioning.failureCause',
    ]);
  });

  test('contains the final position and state of the car', () => {
    const value = (path: string) => status.value(slotOf(path));
    expect(value('lastPosition.latitude')).toBeCloseTo(48.85628, 5);
    expect(value('lastPosition.longitude')).toBeCloseTo(2.29292, 5);
    expect(value('lastPosition.fixStatus')).toBe('3D');
    expect(value('doorsState.lockedStates')).toEqual(['Unlocked']);
    expect(value('kinetic.moving')).toBe(false);
    expect(value('odometer.mileage')).toBeCloseTo(12_348.6, 1);
    expect(value('energies.Electric.extension.electric.charging.status')).toBe('InProgress');
    expect(value('energies.Electric.subType')).toBe('ElectricEnergy');
    expect(value('battery.voltage')).toBe(91);
    expect(slots.filter((slot) => status.value(slot) !== undefined).length).toBeGreaterThan(80);
  });
});
