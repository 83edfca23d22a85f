import { describe, expect, it } from 'vitest';
import type { Side } from '../../../protocol/interface/operation.ts';
import { operationsOf } from '../../../protocol/interface/operations.ts';
import { refusalSchemas } from '../../../protocol/interface/refusal.ts';
import type { JsonSchema } from '../../../protocol/interface/schemas/json.ts';
import { requestBody } from '../../../protocol/interface/schemas/requests.ts';
import { type Published, published, publishedEnumerations } from '../schema/reference.ts';
import { factsOf, releases } from './published/facts.ts';

/**
 * Intended differences from the published schemas, by side, end of the path and kind of difference, with the reason.
 */
const exceptions: readonly (readonly [side: RegExp, place: RegExp, what: string, reason: string])[] = [
  [/./, /\.extendedEventParam$/, 'values', 'each kind of telemetry has a name as well'],
  [/./, /preconditioning\.airConditioning\.programs$/, 'start', 'Delete needs the slot only'],
];

interface Walk {
  readonly side: Side;
  readonly faults: string[];
  readonly values: Set<string>;
  members: number;
}

function compare(theirs: Published, ours: JsonSchema, path: string, walk: Walk): void {
  const fault = (what: string, text: string): void => {
    const meant = exceptions.some(([of, place, which]) => of.test(walk.side) && place.test(path) && which === what);
    if (!meant) walk.faults.push(`${path}: ${what}: ${text}`);
  };
  if (theirs.values !== undefined) {
    walk.values.add(theirs.key);
    const found = [...(ours.enum ?? [])].sort();
    const lacking = theirs.values.filter((value) => !found.includes(value));
    if (lacking.length > 0) walk.faults.push(`${path}: lacks the values ${lacking}`);
    if (JSON.stringify(found) !== JSON.stringify([...theirs.values].sort())) {
      fault('values', `${found} instead of ${theirs.values}`);
    }
  }
  const type = theirs.items !== undefined ? 'array' : (theirs.type ?? (theirs.members.size > 0 ? 'object' : undefined));
  if (type === 'string/date-time') {
    if (ours.format !== 'date-time') fault('type', 'is not a date-time');
  } else if (type !== undefined && !type.startsWith('string/') && ours.type !== type) {
    fault('type', `${ours.type} instead of ${type}`);
    return;
  }
  if (theirs.items !== undefined) compare(theirs.items, ours.items ?? {}, path, walk);
  for (const [name, { required, schema }] of theirs.members) {
    walk.members++;
    const member = ours.properties?.[name];
    if (member === undefined) fault(name, 'is missing');
    else {
      if (required && ours.required?.includes(name) !== true) fault(name, 'is required there');
      // If there are several forms, the first is the published one.
      compare(schema, member.anyOf?.[0] ?? member, `${path}.${name}`, walk);
    }
  }
}

describe('schemas of the published interface', () => {
  for (const side of ['fleet', 'user'] as const) {
    const release = releases[side];
    const walk = (): Walk => ({ side, faults: [], values: new Set(), members: 0 });

    it(`contain all members of every answer of ${release}`, () => {
      const found = walk();
      const ours = new Map(operationsOf(side).map((one) => [`${one.method} ${one.path}`, one]));
      for (const { method, path, schema } of factsOf(release).operations) {
        if (schema === undefined) continue;
        const [answer] = Object.values(ours.get(`${method} ${path}`)?.answers ?? {});
        compare(published(release, schema), (answer?.schema ?? {}) as JsonSchema, schema, found);
      }
      compare(published(release, 'xError'), refusalSchemas[side], 'xError', found);
      expect([...new Set(found.faults)]).toEqual([]);
      expect(found.members).toBeGreaterThan(500);
    });

    it(`contain all members of every request body of ${release}`, () => {
      const found = walk();
      const names =
        side === 'fleet'
          ? ['MonitorParameter', 'RemoteCallbackSubscribe', 'Remote']
          : ['MonitorParameter', 'CallbackSubscribe', 'Remote'];
      const bodies = ['Monitor', 'Callback', 'Remote'].map((name) => requestBody(`${side}${name}` as 'fleetMonitor'));
      for (const [index, name] of names.entries()) compare(published(release, name), bodies[index] ?? {}, name, found);
      compare(published(release, 'MonitorStatusSetter'), requestBody('statusSetter'), 'MonitorStatusSetter', found);
      expect([...new Set(found.faults)]).toEqual([]);
      const known = publishedEnumerations(release);
      expect([...found.values].filter((name) => known[name] === undefined)).toEqual([]);
    });
  }
});
