import { Ajv2020 } from 'ajv/dist/2020.js';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { type StatusContents, statusContentsSchema, statusSchema } from '../../../protocol/schema/status.ts';
import {
  assemble,
  disassemble,
  type Slot,
  type SlotValue,
  slotById,
  slotByPath,
  slots,
  statusObjects,
} from '../../../protocol/slots.ts';
import { knowledge } from './arbitrary.ts';
import slotIds from './slot-ids.json' with { type: 'json' };

const ajv = new Ajv2020({ strict: false, allErrors: true });
const validStatus = ajv.compile(statusSchema);
const validContents = ajv.compile(statusContentsSchema);

/** Objects that exist only with these slots, which the interface requires. */
const required: Record<string, readonly string[]> = {
  lastPosition: ['lastPosition.longitude', 'lastPosition.latitude'],
  'alarm.trigger': ['alarm.trigger.type', 'alarm.trigger.startAt'],
  stolen: ['stolen.state', 'stolen.id', 'stolen.startedAt'],
};

const slotOf = (path: string): Slot => {
  const slot = slotByPath.get(path);
  if (slot === undefined) throw new Error(`no slot ${path}`);
  return slot;
};

interface Known {
  slot: Slot;
  value: SlotValue;
  at: number;
}

/** The part of random values that a Status can show. */
function shown(values: readonly (SlotValue | undefined)[], createdAt: readonly number[]): Known[] {
  return slots.flatMap((slot) => {
    const value = values[slot.index];
    const at = createdAt[slot.object] as number;
    const needed = required[statusObjects[slot.object]?.path ?? ''] ?? [];
    const exists = needed.every((path) => values[slotOf(path).index] !== undefined);
    return value === undefined || Number.isNaN(at) || !exists ? [] : [{ slot, value, at }];
  });
}

const pathsAndValues = (known: Iterable<Known>) =>
  Array.from(known, ({ slot, value, at }) => ({ path: slot.path, value, at }));

/** Values and times of a few slots by path. */
function knowing(values: Record<string, SlotValue>, at: number): [(SlotValue | undefined)[], Float64Array] {
  const all: (SlotValue | undefined)[] = slots.map((slot) => values[slot.path]);
  const createdAt = new Float64Array(statusObjects.length).fill(Number.NaN);
  for (const path of Object.keys(values)) createdAt[slotOf(path).object] = at;
  return [all, createdAt];
}

describe('the list of slots', () => {
  test('has the paths used in profiles', () => {
    for (const path of [
      'kinetic.speed',
      'energies.Electric.level',
      'energies.Fuel.subType',
      'energies.Electric.extension.electric.charging.plugged',
      'engines.Thermic.speed',
      'engines.Thermic.extension.thermic.coolant.temp',
      'doorsState.opening.Driver.state',
      'doorsState.lockedStates',
      'safety.beltStatus.Driver.belt',
      'lightingSystem.turn.LeftFront.status',
      'environment.air.temp',
      'lastPosition.latitude',
      'lastPosition.altitude',
      'lastPosition.heading',
      'lastPosition.fixStatus',
      'preconditioning.airConditioning.status',
      'stolen.startPosition',
    ]) {
      expect(slotByPath.get(path)?.path).toBe(path);
    }
  });

  test('excludes members without a signal, and members of other kinds of energy or engine', () => {
    const odd = slots.filter(({ path }) =>
      /createdAt|updatedAt|identifier|\.vin$|^autonomy|Fuel\.extension\.electric|Electric\.extension\.(fuel|thermic)/.test(
        path,
      ),
    );
    expect(odd.map(({ path }) => path)).toEqual([]);
  });

  test('contains the kind, unit and values of each slot', () => {
    expect(slotOf('kinetic.speed')).toMatchObject({ kind: 'quantity', unit: 'km/h', resolution: 0.01, minimum: 0 });
    expect(slotOf('doorsState.lockedStates')).toMatchObject({ kind: 'set' });
    expect(slotOf('adas.parkAssist.rear').values).toContain('TrailerInhibition');
    expect(slotOf('ignition.type')).toMatchObject({ kind: 'enumeration', values: ['Stop', 'StartUp', 'Start'] });
    expect(slotOf('alarm.trigger.startAt').kind).toBe('instant');
    expect(slotOf('energies.Electric.extension.electric.charging.remainingTime')).toMatchObject({
      kind: 'text',
      duration: true,
    });
    expect(slotOf('preconditioning.airConditioning.programs').kind).toBe('value');
    for (const { path, kind, minimum, maximum, resolution } of slots) {
      if (kind === 'quantity') expect([path, minimum, maximum, resolution]).not.toContain(undefined);
    }
  });

  test('has consecutive indexes, and unique ids and paths', () => {
    expect(slots.map(({ index }) => index)).toEqual(slots.map((_, index) => index));
    expect(statusObjects.map(({ index }) => index)).toEqual(statusObjects.map((_, index) => index));
    expect(slotById.size).toBe(slots.length);
    expect(slotByPath.size).toBe(slots.length);
    for (const { id } of slots) expect(Number.isSafeInteger(id) && id > 0).toBe(true);
  });

  test('has ids made of the octal digits of the keys', () => {
    expect(slotOf('kinetic.speed').id).toBe(0x11);
    // energies 4, identity Electric 1, level 2
    expect(slotOf('energies.Electric.level').id).toBe(0x412);
    // powertrain 8 has two digits: 9 0
    expect(slotOf('powertrain.status').id).toBe(0x901);
    // lightingSystem 12 has two digits: 9 4; turn 1, Left 0, Rear 1, status 3
    expect(slotOf('lightingSystem.turn.LeftRear.status').id).toBe(0x941013);
  });

  test('has ids that never change, because cars and receivers of all versions share them', () => {
    const now = Object.fromEntries(slots.map(({ path, id }) => [path, id]));
    expect(now).toEqual(slotIds);
  });

  test('contains every object with a separate time by its path', () => {
    const paths = statusObjects.map(({ path }) => path);
    expect(paths).toEqual(
      expect.arrayContaining([
        'lastPosition',
        'energies.Fuel',
        'energies.Electric',
        'energies.Electric.extension.electric.battery.load',
        'energies.Electric.extension.electric.battery.health',
        'environment.air',
        'environment.luminosity',
        'alarm.status',
        'alarm.trigger',
        'preconditioning.airConditioning',
        'transmission',
        'adas',
      ]),
    );
    expect(paths).not.toContain('environment');
    expect(paths).not.toContain('lastPosition.properties');
  });
});

describe('assemble and disassemble', () => {
  test('return the original values', () => {
    fc.assert(
      fc.property(knowledge, ({ values, createdAt }) => {
        const status = assemble(values, createdAt);
        expect(pathsAndValues(disassemble(status))).toEqual(pathsAndValues(shown(values, createdAt)));
      }),
      { numRuns: 300 },
    );
  });

  test('yield a valid Status for any values', () => {
    fc.assert(
      fc.property(knowledge, ({ values, createdAt }) => {
        const contents = assemble(values, createdAt);
        expect(validContents(contents), JSON.stringify(validContents.errors)).toBe(true);
        // Without any value the tree is empty. A tree never contains empty objects.
        expect(JSON.stringify(contents).slice(1)).not.toContain('{}');
        const status = { vin: 'VF3ABCDEFGH123456', createdAt: 1, ...contents };
        expect(validStatus(status), JSON.stringify(validStatus.errors)).toBe(true);
      }),
      { numRuns: 300 },
    );
  });

  test('yield a valid tree with only the requested objects', () => {
    const some = fc.record({
      known: knowledge,
      wanted: fc.uniqueArray(fc.integer({ min: 0, max: statusObjects.length - 1 })),
    });
    fc.assert(
      fc.property(some, ({ known: { values, createdAt }, wanted }) => {
        const contents = assemble(values, createdAt, new Set(wanted));
        const expected = shown(values, createdAt).filter(({ slot }) => wanted.includes(slot.object));
        expect(pathsAndValues(disassemble(contents))).toEqual(pathsAndValues(expected));
        expect(validContents(contents), JSON.stringify(validContents.errors)).toBe(true);
      }),
      { numRuns: 300 },
    );
  });

  test('order members as in the schema, so that equal values yield equal texts', () => {
    const [values, createdAt] = knowing(
      {
        'doorsState.opening.Trunk.state': 'Open',
        'doorsState.opening.Driver.state': 'Closed',
        'ignition.type': 'Stop',
      },
      5,
    );
    expect(JSON.stringify(assemble(values, createdAt))).toBe(
      '{"ignition":{"createdAt":5,"type":"Stop"},"doorsState":{"createdAt":5,"opening":[{"identifier":"Driver","state":"Closed"},{"identifier":"Trunk","state":"Open"}]}}',
    );
  });

  test("yield positions as GeoJSON Features, with GeoJSON's order of coordinates", () => {
    const position = { 'lastPosition.latitude': 48.8, 'lastPosition.longitude': 2.3, 'lastPosition.heading': 90 };
    expect(assemble(...knowing(position, 7.4))).toEqual({
      lastPosition: {
        type: 'Feature',
        geometry: { type: 'Point', coordinates: [2.3, 48.8] },
        properties: { createdAt: 7, heading: 90 },
      },
    });
    expect(assemble(...knowing({ ...position, 'lastPosition.altitude': 35 }, 7))).toMatchObject({
      lastPosition: { geometry: { coordinates: [2.3, 48.8, 35] } },
    });
    expect(assemble(...knowing({ 'lastPosition.latitude': 48.8, 'lastPosition.heading': 1 }, 7))).toEqual({});
  });

  test('include the parents of an inner object, with their own times', () => {
    const residual = 'energies.Electric.extension.electric.battery.load.residual';
    const [values, createdAt] = knowing({ [residual]: 30_000 }, 9);
    const inner = { extension: { electric: { battery: { load: { createdAt: 9, residual: 30_000 } } } } };
    expect(assemble(values, createdAt)).toEqual({ energies: [{ createdAt: 9, type: 'Electric', ...inner }] });
    const health = slotOf('energies.Electric.extension.electric.battery.health.capacity');
    values[health.index] = 93;
    createdAt[health.object] = 5;
    expect(assemble(values, createdAt).energies?.[0]?.createdAt).toBe(9);
    const level = slotOf('energies.Electric.level');
    values[level.index] = 80;
    createdAt[level.object] = 4;
    const load = slotOf(residual).object;
    expect(assemble(values, createdAt, new Set([load]))).toEqual({
      energies: [{ createdAt: 4, type: 'Electric', ...inner }],
    });
  });

  test('compute the range of the car as the sum over its energies', () => {
    const ranges = { 'energies.Fuel.autonomy': 500, 'energies.Electric.autonomy': 40 };
    const [values, createdAt] = knowing({ ...ranges, 'ignition.type': 'Stop' }, 1);
    expect(assemble(values, createdAt).autonomy).toBe(540);
    const electric = slotOf('energies.Electric.autonomy').object;
    expect(assemble(values, createdAt, new Set([electric])).autonomy).toBe(540);
    const ignition = slotOf('ignition.type').object;
    expect(assemble(values, createdAt, new Set([ignition]))).toEqual({
      ignition: { createdAt: 1, type: 'Stop' },
    });
    expect(assemble(...knowing({ 'energies.Fuel.level': 10 }, 1))).not.toHaveProperty('autonomy');
  });

  test('accept documents of other versions and of the real service, as far as they are known', () => {
    const document = {
      createdAt: 3,
      _links: { self: {} },
      adas: { esp: true, unheardOf: 1 },
      energies: [
        { createdAt: 1, type: 'Steam', level: 5 },
        { createdAt: 2, type: 'Electric', level: 82.0, extension: { electric: { charging: { schedule: [] } } } },
        null,
      ],
      ignition: { createdAt: 4, type: 'Contact' },
      kinetic: { createdAt: null, speed: null, moving: false },
      doorsState: { createdAt: 6, opening: 'none', lockedStates: ['Locked'] },
      lastPosition: { type: 'Feature', geometry: { coordinates: [2, 48, 0] }, properties: { createdAt: 8 } },
    };
    expect(pathsAndValues(disassemble(document))).toEqual([
      { path: 'kinetic.moving', value: false, at: 3 },
      { path: 'lastPosition.longitude', value: 2, at: 8 },
      { path: 'lastPosition.latitude', value: 48, at: 8 },
      { path: 'lastPosition.altitude', value: 0, at: 8 },
      { path: 'energies.Electric.level', value: 82, at: 2 },
      { path: 'doorsState.lockedStates', value: ['Locked'], at: 6 },
      { path: 'adas.esp', value: true, at: 3 },
    ]);
    expect([...disassemble({})]).toEqual([]);
  });

  test('have the type of the schema', () => {
    const status: StatusContents = assemble(...knowing({ 'kinetic.speed': 50.5 }, 1));
    expect(status.kinetic?.speed).toBe(50.5);
  });
});
