import { describe, expect, it } from 'vitest';
import type { Operation, Parameter, Side } from '../../../protocol/interface/operation.ts';
import { scopeNames } from '../../../protocol/interface/operations/scopes.ts';
import { accept, operationById, operations, operationsOf } from '../../../protocol/interface/operations.ts';
import { namesIn } from '../../../protocol/interface/parameters/path.ts';
import { telemetryTypes } from '../../../protocol/interface/parameters/query.ts';
import { publishedEnumerations } from '../schema/reference.ts';
import { factsOf, type PublishedOperation, releases } from './published/facts.ts';

/** Operations from the requirements and the pages of the real service that the published operations of 4.17.2 lack. */
const trips = '/user/vehicles/{id}/trips';
const unpublished = [
  trips,
  `${trips}/{tid}`,
  `${trips}/{tid}/alerts`,
  `${trips}/{tid}/alerts/{aid}`,
  `${trips}/{tid}/collisions`,
  `${trips}/{tid}/collisions/{cid}`,
  `${trips}/{tid}/wayPoints`,
  `${trips}/{tid}/telemetry`,
].map((path) => `GET ${path}`);

/** Operations below a fleet that the requirements list as removed. */
const removed = [
  'trips/{tid}',
  'trips/{tid}/collisions',
  'trips/{tid}/alerts',
  'trips/{tid}/alerts/{aid}',
  'trips/{tid}/wayPoints',
  'trips/{tid}/telemetry',
  'telemetries',
].map((path) => `/fleets/{fid}/${path}`);

const key = ({ method, path }: { method: string; path: string }): string => `${method} ${path}`;
const wire = ({ in: place, name }: { in: string; name: string }): string => `${place} ${name}`;

describe('operations', () => {
  it('have unique ids, methods and paths', () => {
    expect(operationById.size).toBe(operations.length);
    expect(new Set(operations.map((one) => `${one.side} ${key(one)}`)).size).toBe(operations.length);
    expect(operations.map(({ id }) => id)).toEqual(
      operations.map(({ id, side }) => expect.stringMatching(new RegExp(`^${side}\\.[a-zA-Z]+\\.[a-zA-Z]+$`)) && id),
    );
  });

  it('declare each parameter of their path, and none twice', () => {
    for (const { id, path, parameters } of operations) {
      const inPath = parameters.filter((one) => one.in === 'path').map(({ name }) => name);
      expect([id, inPath]).toEqual([id, namesIn(path)]);
      expect([id, new Set(parameters.map(wire)).size]).toEqual([id, parameters.length]);
    }
  });

  it('have a body for POST and PUT, a media type for every answer body, and known scopes', () => {
    for (const { id, method, body, bodyName, answers, scopes } of operations) {
      expect([id, body !== undefined, bodyName !== undefined]).toEqual([
        id,
        ...Array(2).fill(method === 'POST' || method === 'PUT'),
      ]);
      for (const { media, schema } of Object.values(answers))
        expect([id, media === undefined]).toEqual([id, schema === undefined]);
      expect(accept[id]?.includes('application/json')).toBe(method !== 'DELETE');
      expect(scopeNames).toEqual(expect.arrayContaining([...scopes.required, ...scopes.optional]));
    }
  });

  it('exclude removed ones', () => {
    const paths = operations.map(({ path }) => path);
    expect(paths.filter((path) => removed.includes(path))).toEqual([]);
  });
});

const asked = (parameters: readonly Parameter[]): readonly Parameter[] =>
  parameters.filter((one) => one.in !== 'header');

function compare(ours: Operation, theirs: PublishedOperation): void {
  const place = key(ours);
  expect([place, ours.deprecated ?? false]).toEqual([place, theirs.deprecated]);
  expect([place, [...ours.scopes.required, ...ours.scopes.optional].sort()]).toEqual([
    place,
    [...theirs.scopes].sort(),
  ]);
  expect([place, Object.keys(ours.answers).map(Number)]).toEqual([place, theirs.statuses]);
  expect([place, Object.values(ours.answers)[0]?.media]).toEqual([place, theirs.media]);
  expect([place, ours.body === undefined]).toEqual([place, theirs.body === undefined]);
  const added =
    ours.id === 'fleet.stolenWaypoints.list' ? ['query indexRange', 'query pageSize', 'query pageToken'] : [];
  expect([place, asked(ours.parameters).map(wire).sort()]).toEqual([
    place,
    [...theirs.parameters.map(wire), ...added].sort(),
  ]);
  for (const parameter of theirs.parameters) {
    const schema = ours.parameters.find((one) => wire(one) === wire(parameter))?.schema as Record<string, unknown>;
    for (const word of ['type', 'minimum', 'maximum', 'default', 'minItems', 'maxItems'] as const) {
      const value = parameter.schema[word];
      if (value === undefined) continue;
      expect([place, parameter.name, word, schema[word]]).toEqual([place, parameter.name, word, value]);
    }
  }
}

describe('operations of the published interface', () => {
  for (const side of ['fleet', 'user'] as const) {
    it(`are those of ${releases[side]}`, () => {
      const theirs = factsOf(releases[side]).operations;
      expect(theirs.length).toBeGreaterThan(25);
      const ours = new Map(operationsOf(side).map((one) => [key(one), one]));
      const beyond = side === 'user' ? unpublished : [];
      expect([...ours.keys()].sort()).toEqual([...theirs.map(key), ...beyond].sort());
      for (const one of theirs) compare(ours.get(key(one)) as Operation, one);
    });
  }

  it('accept the published names in their queries', () => {
    const names = (side: Side, id: string, parameter: string): unknown => {
      const schema = operationById.get(`${side}.${id}`)?.parameters.find(({ name }) => name === parameter)?.schema as {
        readonly enum?: readonly string[];
        readonly items?: { readonly enum?: readonly string[] };
      };
      return [...(schema.items?.enum ?? schema.enum ?? [])].sort();
    };
    for (const side of ['fleet', 'user'] as const) {
      const theirs = publishedEnumerations(releases[side]);
      const sorted = (name: string): unknown => [...(theirs[name] ?? [])].sort();
      expect([...telemetryTypes[side]].sort()).toEqual(sorted('TelemetryEnum'));
      expect(names(side, 'telemetry.list', 'extension')).toEqual(sorted('TelemetryExtensionType'));
      expect(names(side, 'alarms.list', 'type')).toEqual(sorted('AlarmTypeEnum'));
      expect(names(side, 'trips.list', 'states')).toEqual(sorted('TripStateEnum'));
      expect(names(side, 'vehicles.get', 'extension')).toEqual(sorted('VehicleExtensionType'));
      if (side === 'fleet') {
        expect(names(side, 'vehicles.list', 'extension')).toEqual(sorted('VehiclesExtensionType'));
        expect(names(side, 'callbacks.list', 'types')).toEqual(sorted('RemoteType'));
        expect(names(side, 'status.get', 'profile')).toEqual(sorted('DataProfile'));
      } else {
        expect(names(side, 'callbacks.list', 'types')).toEqual(sorted('CallbackType'));
        expect(names(side, 'vehicles.list', 'country')).toEqual(sorted('CountryEnum'));
      }
    }
  });
});
