import { Ajv2020 } from 'ajv/dist/2020.js';
import { describe, expect, test } from 'vitest';
import { classes, classOf, expiryOf } from '../../../protocol/classes.ts';
import { remoteBodies } from '../../../protocol/remote/table.ts';
import {
  type BodyKind,
  bodies,
  envelopeSchema,
  kinds,
  type Message,
  messageSchema,
} from '../../../protocol/schema/message.ts';
import { statusSchema } from '../../../protocol/schema/status.ts';

interface Node {
  readonly title?: string;
  readonly type?: string;
  readonly description?: string;
  readonly properties?: Readonly<Record<string, Node>>;
  readonly items?: Node;
  readonly prefixItems?: readonly Node[];
  readonly const?: string;
  readonly 'x-key'?: number;
  readonly 'x-unit'?: string;
  readonly 'x-resolution'?: number;
}

const all: Record<string, Node> = {
  status: statusSchema as unknown as Node,
  envelope: envelopeSchema as unknown as Node,
  ...(remoteBodies as unknown as Record<string, Node>),
  ...Object.fromEntries(Object.keys(bodies).map((kind) => [kind, messageSchema(kind as BodyKind) as unknown as Node])),
};

/** Every node of a schema with its path. */
function* nodes(node: Node, path: string): Iterable<[string, Node]> {
  yield [path, node];
  for (const [name, member] of Object.entries(node.properties ?? node.prefixItems ?? {})) {
    yield* nodes(member, `${path}.${name}`);
  }
  if (node.items !== undefined) yield* nodes(node.items, `${path}[]`);
}

const envelope = { version: 1, seq: 4, boot: 2, at: 1_700_000_000_000, clock: 'gnss' } as const;

type Position = NonNullable<Message<'alert'>['body']['startPosition']>;

const position: Position = {
  type: 'Feature',
  geometry: { type: 'Point', coordinates: [2.3, 48.8] },
  properties: { createdAt: 1_700_000_000_000, type: 'Acquire' },
};

const examples: { [K in BodyKind]: Message<K> } = {
  vehicle: {
    ...envelope,
    kind: 'vehicle',
    body: {
      createdAt: 1_600_000_000_000,
      updatedAt: 1_700_000_000_000,
      motorization: 'Hybrid',
      brand: 'Bench',
      label: 'Bench car',
      pictures: ['https://pictures.example/1.png'],
      callCenters: [{ country: 'BR', phoneNumber: '+55 11 4000 0000' }],
      data: ['data:telemetry', 'data:trip'],
      actions: ['doors.lock'],
      commands: true,
      catalog: '0123456789abcdef',
    },
  },
  text: {
    ...envelope,
    kind: 'text',
    body: { at: 1_699_999_999_000, name: 'Vehicle.Ecu.PartNumber', text: '8W0 907 115 Ä' },
  },
  status: {
    ...envelope,
    kind: 'status',
    body: { full: false, status: { kinetic: { createdAt: 1_700_000_000_000, speed: 50.5 } }, removed: ['stolen'] },
  },
  telemetry: {
    ...envelope,
    kind: 'telemetry',
    body: { start: 1_700_000_000_000, size: 12, columns: new Uint8Array([1, 2, 3]) },
  },
  waypoint: {
    ...envelope,
    kind: 'waypoint',
    body: { points: [{ at: 1_700_000_000_000, latitude: 48.8, longitude: 2.3, type: 'Acquire', fixStatus: '3D' }] },
  },
  trip: {
    ...envelope,
    kind: 'trip',
    body: {
      createdAt: 1_700_000_000_000,
      id: '18bcfe56800-1',
      done: true,
      startedAt: 1_699_999_000_000,
      stoppedAt: 1_700_000_000_000,
      startPosition: position,
      duration: 1000,
      distance: 12.34,
      distanceSource: 'Odometer',
      startEnergies: [{ type: 'Electric', subType: 'ElectricEnergy', level: 80.5, autonomy: 200 }],
      energyConsumptions: [{ type: 'Electric', consumption: 1800, avgConsumption: 14_586.7 }],
      kinetic: { avgSpeed: 44.4, maxSpeed: 91.2 },
      segments: [{ propulsion: 'Electric', percent: 100, distance: 12.34 }],
      faults: [{ fault: 'DataLacking', cause: 'Connection' }],
    },
  },
  alert: {
    ...envelope,
    kind: 'alert',
    body: {
      createdAt: 1_700_000_000_000,
      id: '18bcfe56800-2',
      active: true,
      type: 'AdBlueFault',
      severity: 'Warning',
      startedAt: 1_700_000_000_000,
      startPosition: position,
      tid: '18bcfe56800-1',
    },
  },
  collision: {
    ...envelope,
    kind: 'collision',
    body: {
      createdAt: 1_700_000_000_000,
      id: '18bcfe56800-3',
      details: [{ side: 'Front', severity: 'Minor' }],
      tippedOver: false,
      longitudinalChange: -21.5,
      pulse: { start: 1_699_999_999_000, interval: 5, longitudinal: [0, -120.5], lateral: [0.1, 3] },
    },
  },
  maintenance: {
    ...envelope,
    kind: 'maintenance',
    body: {
      createdAt: 1_700_000_000_000,
      id: '18bcfe56800-4',
      daysBeforeMaintenance: -3,
      mileageBeforeMaintenance: 120.5,
    },
  },
  alarm: {
    ...envelope,
    kind: 'alarm',
    body: {
      createdAt: 1_700_000_000_000,
      id: '18bcfe56800-5',
      trigger: { createdAt: 1_700_000_000_000, type: 'VehicleLifting', startAt: 1_700_000_000_000 },
    },
  },
  stolen: {
    ...envelope,
    kind: 'stolen',
    body: {
      createdAt: 1_700_000_000_000,
      id: '18bcfe56800-6',
      state: true,
      startedAt: 1_700_000_000_000,
      origin: 'Alarm',
    },
  },
  event: {
    ...envelope,
    kind: 'event',
    body: {
      id: '18bcfe56800-1',
      monitorId: 'too-fast',
      at: 1_700_000_000_000,
      refresh: false,
      triggers: ['fast'],
      values: [{ data: 'vehicle.kinetic.speed', literal: '131', previous: '129' }],
      extensions: [{ type: 'vehicle.status', status: { kinetic: { createdAt: 1_700_000_000_000, speed: 131 } } }],
    },
  },
  monitor: {
    ...envelope,
    kind: 'monitor',
    body: { version: 3, monitors: [{ monitorId: 'too-fast', status: 'Running', updatedAt: 1_700_000_000_000 }] },
  },
  remote: {
    ...envelope,
    kind: 'remote',
    body: { remoteActionId: 'a1', type: 'Doors', status: 'Failed', failureCause: 'VehicleInUse', detail: 'it drives' },
  },
  gap: {
    ...envelope,
    kind: 'gap',
    body: { class: 5, lost: 'telemetry', count: 3, bytes: 700, from: 1_600_000_000_000, to: 1_700_000_000_000 },
  },
  hello: {
    ...envelope,
    kind: 'hello',
    body: { version: '1.0.0', protocol: 1, boot: 2, profile: 'bench 1', startedAt: 1_700_000_000_000 },
  },
  catalog: {
    ...envelope,
    kind: 'catalog',
    body: {
      catalog: Uint8Array.from([1, 2, 3, 4, 5, 6, 7, 8]),
      part: 0,
      parts: 1,
      entries: [
        { number: 1, name: 'Vehicle.Cabin.Temperature', kind: 'quantity', unit: '°C', resolution: 0.5, offset: -40 },
        { number: 2, name: 'Vehicle.Gear', kind: 'enumeration', names: [{ count: -1, name: 'Reverse' }] },
      ],
    },
  },
  fault: {
    ...envelope,
    kind: 'fault',
    body: {
      createdAt: 1_699_990_000_000,
      id: '18bcfe56800-7',
      updatedAt: 1_700_000_000_000,
      active: false,
      code: 'P0143',
      unit: '7E8',
      group: 'Powertrain',
      status: ['Stored', 'Permanent'],
      firstSeenAt: 1_699_990_000_000,
      lastSeenAt: 1_699_999_000_000,
      odometer: 45_678.9,
      text: 'Lambda sensor 3: voltage too low',
      freezeFrame: [{ name: 'EngineSpeed', value: 1726.25, unit: 'rpm' }],
    },
  },
  capture: {
    ...envelope,
    kind: 'capture',
    body: {
      id: 'ca-1',
      part: 0,
      last: true,
      cause: 'monitor',
      of: 'e-1',
      monitorId: 'cell-voltage',
      at: 1_600_000_000_000,
      from: 1_599_999_970_000,
      to: 1_600_000_010_000,
      since: 1_599_999_980_000,
      lost: 4,
      buses: ['can'],
      frames: 0,
      start: 1_599_999_970_000,
      size: 2,
      columns: Uint8Array.from([99, 96, 0, 0]),
      broken: true,
    },
  },
};

describe('schemas', () => {
  test.each(Object.entries(all))('%s: each member has a unique key and a description', (name, schema) => {
    for (const [path, node] of nodes(schema, name)) {
      expect(node.description?.length ?? 0, `description of ${path}`).toBeGreaterThan(0);
      const keys = Object.values(node.properties ?? {}).map((member) => member['x-key']);
      expect(
        keys.every((key) => Number.isSafeInteger(key)),
        `keys of ${path}`,
      ).toBe(true);
      expect(new Set(keys).size, `keys of ${path}`).toBe(keys.length);
      // A custom signal has any scale, because it comes from its DBC.
      const scales = /^catalog\.body\.entries\[\]\.(resolution|offset)$/.test(path);
      if (node.type === 'number' && !scales) expect(node['x-resolution'], `resolution of ${path}`).toBeGreaterThan(0);
      if (node['x-resolution'] !== undefined) expect(node['x-unit'], `unit of ${path}`).toBeTruthy();
    }
  });

  test('each title belongs to one shape', () => {
    const shapes = new Map<string, string>();
    for (const [name, schema] of Object.entries(all)) {
      for (const [path, node] of nodes(schema, name)) {
        if (node.title === undefined) continue;
        const shape = JSON.stringify(node.properties);
        expect(shapes.get(node.title) ?? shape, `${node.title} at ${path}`).toBe(shape);
        shapes.set(node.title, shape);
      }
    }
  });

  test('createdAt is key 0 of every object of Status', () => {
    const stamps = [...nodes(all['status'] as Node, 'status')].filter(
      ([path]) => path.endsWith('.createdAt') && path !== 'status.createdAt',
    );
    expect(stamps.length).toBeGreaterThan(20);
    for (const [path, node] of stamps) expect(node['x-key'], path).toBe(0);
  });
});

describe('messages', () => {
  const ajv = new Ajv2020({ strict: false, allErrors: true });

  test.each(Object.values(examples))('of kind $kind match their schema', (message) => {
    const valid = ajv.compile(messageSchema(message.kind));
    expect(valid(message), JSON.stringify(valid.errors)).toBe(true);
    const { body: _, ...headless } = message;
    expect(valid(headless)).toBe(false);
    expect(valid({ ...message, clock: 'sundial' })).toBe(false);
    expect(valid({ ...message, unheardOf: true })).toBe(true);
  });

  test('kinds keep their positions on the wire', () => {
    expect(kinds).toEqual([
      'status',
      'telemetry',
      'waypoint',
      'trip',
      'alert',
      'collision',
      'maintenance',
      'alarm',
      'stolen',
      'event',
      'remote',
      'monitor',
      'gap',
      'hello',
      'catalog',
      'fault',
      'capture',
      'text',
      'vehicle',
    ]);
    expect([...kinds].sort()).toEqual(Object.keys(bodies).sort());
  });
});

describe('priority classes', () => {
  test('every kind belongs to one class', () => {
    expect(classes.flatMap((priority) => priority.kinds).sort()).toEqual([...kinds].sort());
  });

  test('are ordered: results, emergencies, records, state, waypoints, telemetry, captures', () => {
    const order = ['remote', 'collision', 'trip', 'status', 'waypoint', 'telemetry', 'capture'] as const;
    expect(order.map(classOf)).toEqual([0, 1, 2, 3, 4, 5, 6]);
    expect([classOf('event'), classOf('gap'), classOf('stolen'), classOf('maintenance'), classOf('fault')]).toEqual([
      0, 3, 1, 2, 2,
    ]);
  });

  test('give every message an expiry', () => {
    for (const kind of kinds) expect(expiryOf(classOf(kind))).toBeGreaterThan(0);
    expect(() => expiryOf(classes.length)).toThrowError(expect.objectContaining({ code: 'input.unknown' }));
  });
});
