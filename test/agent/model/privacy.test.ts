import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { Channels } from '../../../agent/model/channels.ts';
import { Mapping } from '../../../agent/model/mapping.ts';
import { hiddenFrom } from '../../../agent/model/privacy.ts';
import { Status, type StatusObserver } from '../../../agent/model/status.ts';
import { channelByPath, channels } from '../../../protocol/channels.ts';
import type { SourceMapping } from '../../../protocol/profile.ts';
import { type Slot, slotByPath, slots } from '../../../protocol/slots.ts';

const T = Date.UTC(2026, 0, 1);
const states = { 0: 'None', 1: 'Geolocation', 2: 'Full' };

const paths = [
  'privacy.state',
  'kinetic.speed',
  'odometer.mileage',
  'safety.beltStatus.Driver.belt',
  'lastPosition.latitude',
  'lastPosition.longitude',
  'alerts.FuelLevelLow',
  'collision.detected',
] as const;
type Path = (typeof paths)[number];

const maps: Partial<Record<Path, SourceMapping['map']>> = {
  'privacy.state': states,
  'safety.beltStatus.Driver.belt': { 0: 'Normal', 1: 'Omission' },
  'alerts.FuelLevelLow': { 0: false, 1: true },
};

function setUp(seen: StatusObserver = { changed: () => undefined }) {
  const status = new Status();
  const heard = new Channels();
  status.observe(seen);
  const mapping = new Mapping(status, heard, {
    name: 'test',
    sources: paths.map((path) => {
      const map = maps[path];
      const plain = { path, message: 'M', signal: path, scale: 1, offset: 0, invalid: [], priority: 0 };
      return map === undefined ? plain : { ...plain, map };
    }),
    constants: { 'energies.Electric.subType': 'ElectricEnergy' },
    telemetry: {},
    waypoints: { interval: 1, distance: 1, heading: 1, error: 10 },
    commands: {},
  });
  const index = (path: Path): number => paths.indexOf(path);
  return {
    status,
    mapping,
    give: (path: Path, value: number, at: number) => {
      mapping.reading(index(path), value, value, at);
      mapping.settled(at);
    },
    locate: (latitude: number, at: number) => {
      mapping.reading(index('lastPosition.latitude'), latitude, latitude, at);
      mapping.reading(index('lastPosition.longitude'), 2, 2, at);
      mapping.settled(at);
    },
    alive: (path: Path, at: number) => mapping.alive([index(path)], at),
    value: (path: string) => status.value(slotByPath.get(path) as Slot),
    channel: (path: string) => heard.value(channelByPath.get(path) as never),
  };
}

describe('privacy', () => {
  test('Geolocation privacy hides every position and nothing else', () => {
    const { give, locate, value } = setUp();
    give('kinetic.speed', 50, T);
    locate(48, T);
    give('privacy.state', 1, T + 1000);
    expect(value('lastPosition.latitude')).toBeUndefined();
    locate(48.001, T + 2000);
    expect(value('lastPosition.latitude')).toBeUndefined();
    expect(value('lastPosition.type')).toBeUndefined();
    expect(value('kinetic.speed')).toBe(50);
    give('privacy.state', 0, T + 3000);
    expect(value('lastPosition.latitude')).toBeUndefined();
    locate(48.002, T + 4000);
    expect(value('lastPosition.latitude')).toBe(48.002);
  });

  test('Full privacy leaves only the privacy state, belts and collisions', () => {
    const { give, value, channel } = setUp();
    give('kinetic.speed', 50, T);
    give('safety.beltStatus.Driver.belt', 0, T);
    give('privacy.state', 2, T + 1000);
    give('kinetic.speed', 60, T + 2000);
    give('safety.beltStatus.Driver.belt', 1, T + 2000);
    give('alerts.FuelLevelLow', 1, T + 2000);
    give('collision.detected', 1, T + 2000);
    expect(value('kinetic.speed')).toBeUndefined();
    expect(value('energies.Electric.subType')).toBeUndefined();
    expect(value('privacy.state')).toBe('Full');
    expect(value('safety.beltStatus.Driver.belt')).toBe('Omission');
    expect(channel('alerts.FuelLevelLow')).toBeUndefined();
    expect(channel('collision.detected')).toBe(true);
  });

  test('a value that stayed the same during privacy reappears when its frame repeats, with that time', () => {
    const { give, alive, value, status, channel } = setUp();
    give('odometer.mileage', 1000, T);
    give('alerts.FuelLevelLow', 1, T);
    give('privacy.state', 2, T + 1000);
    alive('odometer.mileage', T + 2000);
    expect(value('odometer.mileage')).toBeUndefined();
    give('privacy.state', 0, T + 3000);
    expect(value('odometer.mileage')).toBeUndefined();
    alive('odometer.mileage', T + 4000);
    alive('alerts.FuelLevelLow', T + 4000);
    expect(value('odometer.mileage')).toBe(1000);
    expect(status.contents().odometer?.createdAt).toBe(T + 4000);
    expect(channel('alerts.FuelLevelLow')).toBe(true);
    // The next decoded frame restores the constants.
    give('kinetic.speed', 1, T + 5000);
    expect(value('energies.Electric.subType')).toBe('ElectricEnergy');
  });

  test('a value that appeared and disappeared during privacy stays hidden afterwards', () => {
    const { give, alive, value, channel } = setUp();
    give('odometer.mileage', 1000, T);
    give('privacy.state', 2, T + 1000);
    give('alerts.FuelLevelLow', 1, T + 1000);
    // An invalid value is not a value of its slot: the car now reports that it has none.
    give('odometer.mileage', -1, T + 2000);
    give('alerts.FuelLevelLow', 2, T + 2000);
    give('privacy.state', 0, T + 3000);
    alive('odometer.mileage', T + 4000);
    alive('alerts.FuelLevelLow', T + 4000);
    expect(value('odometer.mileage')).toBeUndefined();
    expect(channel('alerts.FuelLevelLow')).toBeUndefined();
  });

  test('a repeated frame does not reveal a value that was hidden when it was read', () => {
    const { give, alive, value, channel } = setUp();
    give('privacy.state', 2, T);
    give('odometer.mileage', 1000, T + 1000);
    give('alerts.FuelLevelLow', 1, T + 1000);
    give('privacy.state', 0, T + 2000);
    give('odometer.mileage', 1001, T + 3000);
    give('alerts.FuelLevelLow', 0, T + 3000);
    alive('odometer.mileage', T + 4000);
    alive('alerts.FuelLevelLow', T + 4000);
    expect(value('odometer.mileage')).toBe(1001);
    expect(channel('alerts.FuelLevelLow')).toBe(false);
  });

  test('a stolen car shows everything, whatever privacy was chosen in it', () => {
    const { give, locate, mapping, value } = setUp();
    give('privacy.state', 2, T);
    mapping.expose(true, T + 1000);
    locate(48, T + 2000);
    give('kinetic.speed', 30, T + 2000);
    expect(value('lastPosition.latitude')).toBe(48);
    mapping.expose(false, T + 3000);
    expect(value('lastPosition.latitude')).toBeUndefined();
    expect(value('kinetic.speed')).toBeUndefined();
  });

  test('the stored privacy level applies from the first frame after a restart', () => {
    const { status, mapping, give, value } = setUp();
    status.restore({ privacy: { createdAt: T, state: 'Full' } });
    mapping.resume();
    give('kinetic.speed', 50, T + 1000);
    expect(value('kinetic.speed')).toBeUndefined();
  });

  test('Geolocation privacy hides every path that contains a place', () => {
    const places = [...slots, ...channels].filter(({ path }) => /position|latitude|longitude|altitude/i.test(path));
    expect(places.length).toBeGreaterThan(8);
    for (const { path } of places) expect(hiddenFrom(path), path).toBe(1);
  });

  test('no order of readings reveals data that privacy forbids', () => {
    const step = fc.oneof(
      fc.record({ path: fc.constantFrom(...paths), value: fc.integer({ min: 0, max: 2 }) }),
      fc.record({ path: fc.constantFrom(...paths), value: fc.constant(-1) }),
    );
    fc.assert(
      fc.property(fc.array(step, { maxLength: 60 }), (steps) => {
        let level = 0;
        const shown: string[] = [];
        const rig = setUp({ changed: (slot) => shown.push(slot.path) });
        for (const [n, { path, value }] of steps.entries()) {
          shown.length = 0;
          if (value < 0) rig.alive(path, T + n * 1000);
          else rig.give(path, value, T + n * 1000);
          if (path === 'privacy.state' && value >= 0) level = value;
          for (const seen of shown) expect(hiddenFrom(seen), seen).toBeGreaterThan(level);
          for (const slot of slots) {
            if (rig.status.value(slot) !== undefined) expect(hiddenFrom(slot.path), slot.path).toBeGreaterThan(level);
          }
        }
      }),
    );
  });
});
