/** Compares the records of the car with the published interface. */
import { describe, expect, test } from 'vitest';
import { alarmRecordSchema } from '../../../protocol/schema/alarm.ts';
import { alertSchema } from '../../../protocol/schema/alert.ts';
import { alertTypes } from '../../../protocol/schema/alert-types.ts';
import { collisionSchema } from '../../../protocol/schema/collision.ts';
import { maintenanceSchema } from '../../../protocol/schema/maintenance.ts';
import { theftSchema } from '../../../protocol/schema/theft.ts';
import { tripSchema, tripState, tripStates } from '../../../protocol/schema/trip.ts';
import { type Published, published, publishedEnumerations } from './reference.ts';

interface Ours {
  readonly properties?: Record<string, Ours>;
  readonly required?: readonly string[];
  readonly items?: Ours;
  readonly prefixItems?: readonly Ours[];
  readonly 'x-values'?: readonly string[];
  readonly 'x-instant'?: boolean;
}

/** Members that the HTTP interface adds: links, and the VIN, which is in the topic. */
const overHttp = new Set(['_links', 'vin']);

const records: readonly [name: string, schema: Ours, added: readonly string[]][] = [
  ['Trip', tripSchema as unknown as Ours, ['distanceSource']],
  ['Alert', alertSchema as unknown as Ours, ['tid']],
  [
    'Collision',
    collisionSchema as unknown as Ours,
    ['tid', 'position', 'longitudinalChange', 'lateralChange', 'pulse', 'readings'],
  ],
  ['Maintenance', maintenanceSchema as unknown as Ours, ['id']],
  ['Stolen', theftSchema as unknown as Ours, ['origin']],
  ['AlarmDetails', alarmRecordSchema as unknown as Ours, ['createdAt', 'updatedAt']],
];

function faultsOf(theirs: Published, mine: Ours, path: string): string[] {
  const faults: string[] = [];
  if (theirs.values !== undefined && JSON.stringify(theirs.values) !== JSON.stringify(mine['x-values'])) {
    // A GeoJSON constant is not an enumeration of ours.
    if (theirs.values.length > 1) faults.push(`${path} has the values ${mine['x-values']}, not ${theirs.values}`);
  }
  if (theirs.type === 'string/date-time' && mine['x-instant'] !== true) faults.push(`${path} is not an instant`);
  if (theirs.items !== undefined) {
    // Coordinates are a separate sequence.
    if (mine.prefixItems !== undefined) return faults;
    if (mine.items === undefined) return [...faults, `${path} is not a list`];
    return [...faults, ...faultsOf(theirs.items, mine.items, path)];
  }
  for (const [name, { required, schema }] of theirs.members) {
    if (overHttp.has(name)) continue;
    const member = mine.properties?.[name];
    if (member === undefined) faults.push(`${path} lacks ${name}`);
    else {
      if (required && !mine.required?.includes(name)) faults.push(`${path}.${name} is required`);
      faults.push(...faultsOf(schema, member, `${path}.${name}`));
    }
  }
  return faults;
}

describe('records compared with the published interface', () => {
  test.each(records)('%s has every member, instant and enumeration', (name, schema) => {
    const theirs = published('fleet-3.19.2', name);
    expect(theirs.members.size).toBeGreaterThan(2);
    expect(faultsOf(theirs, schema, name)).toEqual([]);
  });

  test.each(records)('%s has only published members and our documented additions', (name, schema, added) => {
    const known = new Set(published('fleet-3.19.2', name).members.keys());
    const more = Object.keys(schema.properties ?? {}).filter((member) => !known.has(member));
    expect(more.sort()).toEqual([...added].sort());
  });

  test('the 104 types of alert and the states of trips equal the published ones, in order', () => {
    const enumerations = publishedEnumerations('fleet-3.19.2');
    expect(alertTypes).toEqual(enumerations['AlertMsgEnum']);
    expect(tripStates).toEqual(enumerations['TripStateEnum']);
    expect(publishedEnumerations('user-4.17.2')['AlertMsgEnum']).toEqual(enumerations['AlertMsgEnum']);
  });
});

describe('the state of a trip', () => {
  test('is its first fault', () => {
    const trip = { createdAt: 0, id: 'a' };
    expect(tripState(trip)).toBe('Nominal');
    expect(tripState({ ...trip, faults: [{ fault: 'Unfinished', cause: 'Connection' }] })).toBe('Unfinished');
  });
});
