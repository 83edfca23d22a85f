import { describe, expect, test } from 'vitest';
import { failureCauses } from '../../../protocol/errors.ts';
import { remoteBodies, remoteTypes } from '../../../protocol/remote/table.ts';
import { remoteStatuses } from '../../../protocol/schema/remote.ts';
import { statusSchema } from '../../../protocol/schema/status.ts';
import { type Published, published, publishedEnumerations } from './reference.ts';

/** Keywords of our schemas that are compared. */
interface Ours {
  readonly type?: string;
  readonly properties?: Record<string, Ours>;
  readonly required?: readonly string[];
  readonly items?: Ours;
  readonly prefixItems?: readonly Ours[];
  readonly const?: string;
  readonly minimum?: number;
  readonly maximum?: number;
  readonly 'x-values'?: readonly string[];
  readonly 'x-instant'?: boolean;
}

const ours = statusSchema as unknown as Ours;

/** Members of the interface that the model lacks, with the reason. */
const notModelled: Record<string, string> = {
  _links: 'HAL, made by the HTTP interface',
  _embedded: 'HAL, made by the HTTP interface',
  preconditionning: 'twin of preconditioning on the user line, HTTP only',
  energy: 'twin of energies on the user line, HTTP only',
  'stolen._links': 'HAL, made by the HTTP interface',
  'energies.extension.fuel.consumption': 'deprecated twin of consumptions.instant on the user line, HTTP only',
  'energies.extension.electric.residual': 'deprecated twin of battery.load.residual on the user line, HTTP only',
  'energies.extension.electric.battery.capacity':
    'deprecated twin of battery.load.capacity on the user line, HTTP only',
  'engines.oil': 'deprecated twin of extension.thermic.oil on the user line, HTTP only',
};

/** Members of the model that no published schema has, with the reason. */
const added: Record<string, string> = {
  autonomy: 'the range on all energies, an addition',
  'transmission.createdAt': 'every object says how old it is',
  'adas.createdAt': 'every object says how old it is; the service sends it',
  'lastPosition.geometry.coordinates.0': 'the items of coordinates are not described',
  'lastPosition.geometry.coordinates.1': 'the items of coordinates are not described',
  'lastPosition.geometry.coordinates.2': 'the items of coordinates are not described',
};

/** Differences of the user line from the fleet line, which we follow. */
const differs: Record<string, string> = {
  'adas.aebs': 'the user line writes off for Off',
};

interface Comparison {
  readonly release: string;
  readonly faults: string[];
  readonly enumerations: Map<string, Published>;
  readonly leftOut: Set<string>;
  members: number;
}

function compare(theirs: Published, schema: Ours, path: string, into: Comparison): void {
  const fault = (text: string): void => {
    into.faults.push(`${path}: ${text}`);
  };
  if (theirs.values !== undefined) {
    into.enumerations.set(path, theirs);
    const values = schema.const === undefined ? schema['x-values'] : [schema.const];
    const excepted = into.release.startsWith('user-') && differs[path] !== undefined;
    if (!excepted && JSON.stringify(values) !== JSON.stringify(theirs.values)) {
      fault(`has the values ${values}, published are ${theirs.values}`);
    }
  }
  if (theirs.items !== undefined) {
    if (schema.type !== 'array') fault('is not an array');
    if (schema.items !== undefined) compare(theirs.items, schema.items, path, into);
    return;
  }
  if (theirs.type === 'string/date-time' && schema['x-instant'] !== true) fault('is not an instant');
  if (['object', 'boolean', 'integer', 'number', 'string'].includes(theirs.type ?? '') && schema.type !== theirs.type) {
    fault(`is of type ${schema.type}, published is ${theirs.type}`);
  }
  if (theirs.minimum !== undefined && schema.minimum !== theirs.minimum) fault(`has the minimum ${schema.minimum}`);
  if (theirs.maximum !== undefined && schema.maximum !== theirs.maximum) fault(`has the maximum ${schema.maximum}`);
  for (const [name, member] of theirs.members) {
    const below = path === '' ? name : `${path}.${name}`;
    if (notModelled[below] !== undefined) {
      into.leftOut.add(below);
      continue;
    }
    const mine = schema.properties?.[name];
    into.members++;
    if (mine === undefined) fault(`lacks ${name}`);
    else {
      if (member.required && !schema.required?.includes(name)) fault(`${name} is required`);
      compare(member.schema, mine, below, into);
    }
  }
}

/** Paths of all members, without array indexes. */
function* paths(schema: Ours, path: string): Iterable<string> {
  if (schema.items !== undefined) yield* paths(schema.items, path);
  for (const [name, member] of Object.entries(schema.properties ?? schema.prefixItems ?? {})) {
    const below = path === '' ? name : `${path}.${name}`;
    yield below;
    yield* paths(member, below);
  }
}

function* publishedPaths(theirs: Published, path: string): Iterable<string> {
  if (theirs.items !== undefined) yield* publishedPaths(theirs.items, path);
  for (const [name, member] of theirs.members) {
    const below = path === '' ? name : `${path}.${name}`;
    yield below;
    yield* publishedPaths(member.schema, below);
  }
}

describe('Status compared with the published interface', () => {
  const compared = (release: string): Comparison => {
    const comparison: Comparison = { release, faults: [], enumerations: new Map(), leftOut: new Set(), members: 0 };
    compare(published(release, 'Status'), ours, '', comparison);
    return comparison;
  };

  test.each(['fleet-3.19.2', 'user-4.17.2'])('has every member, type, limit and enumeration of %s', (release) => {
    const { faults, enumerations, members } = compared(release);
    expect(faults).toEqual([]);
    // Minimum size of the published schema.
    expect(members).toBeGreaterThan(90);
    expect(enumerations.size).toBeGreaterThan(20);
  });

  test('the published enumerations agree with the published models', () => {
    const listed = publishedEnumerations('fleet-3.19.2');
    for (const [path, theirs] of compared('fleet-3.19.2').enumerations) {
      // Names of enumerations omit members called `properties`.
      const name = theirs.key.replace('.properties', '');
      expect(listed[name], `${path} as ${name}`).toEqual(theirs.values);
    }
  });

  test('every exception is still needed', () => {
    const fleet = compared('fleet-3.19.2');
    const user = compared('user-4.17.2');
    expect(Object.keys(notModelled).filter((path) => !fleet.leftOut.has(path) && !user.leftOut.has(path))).toEqual([]);
    for (const path of Object.keys(differs)) {
      expect(user.enumerations.get(path)?.values).not.toEqual(fleet.enumerations.get(path)?.values);
    }
  });

  test('has only published members and our documented additions', () => {
    const known = new Set([
      ...publishedPaths(published('fleet-3.19.2', 'Status'), ''),
      ...publishedPaths(published('user-4.17.2', 'Status'), ''),
    ]);
    const inventions = [...paths(ours, '')].filter((path) => !known.has(path));
    const places = ['alarm.trigger.position', 'stolen.startPosition', 'stolen.endPosition', 'lastPosition'];
    const expected = Object.keys(added).flatMap((path) =>
      path.startsWith('lastPosition.') ? places.map((place) => path.replace('lastPosition', place)) : [path],
    );
    expect(inventions.sort()).toEqual(expected.sort());
  });
});

describe('remote commands compared with the published interface', () => {
  const enumerations = (): ReturnType<typeof publishedEnumerations> => publishedEnumerations('fleet-3.19.2');

  test('have the published types, states, causes and door states, in order', () => {
    expect(remoteTypes).toEqual(enumerations()['RemoteType']);
    expect(remoteStatuses).toEqual(enumerations()['RemoteActionStatus']);
    expect(failureCauses).toEqual(enumerations()['RemoteFailedEventStatus']);
    expect((remoteBodies.Doors as unknown as Ours).properties?.['state']?.['x-values']).toEqual(
      enumerations()['RemoteDoorsState.state'],
    );
  });
});
