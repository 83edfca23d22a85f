/** Compares command bodies with the published interface, and tests their wire form. */
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { decodeBody, encodeBody } from '../../../protocol/command.ts';
import { secondsOfDay } from '../../../protocol/remote/programs.ts';
import { remoteBodies, remoteKindOf, remoteTypes } from '../../../protocol/remote/table.ts';
import { vigieCddl } from '../../../protocol/vigie-cddl.ts';
import { valuesOf } from '../cbor/arbitrary.ts';
import { matchCddl } from '../cddl/matcher.ts';
import { type Published, published } from './reference.ts';

interface Ours {
  readonly type?: string;
  readonly properties?: Record<string, Ours>;
  readonly required?: readonly string[];
  readonly items?: Ours;
  readonly prefixItems?: readonly Ours[];
  readonly const?: string;
  readonly minimum?: number;
  readonly maximum?: number;
  readonly minItems?: number;
  readonly maxItems?: number;
  readonly 'x-values'?: readonly string[];
}

const names = {
  ThermalPreconditioning: 'RemotePreconditioning',
  ElectricBatteryChargingRequest: 'RemoteCharging',
  Horn: 'RemoteHorn',
  Doors: 'RemoteDoorsState',
  Lights: 'RemoteLights',
  Immobilization: 'RemoteSetImmobilization',
  Stolen: 'RemoteStolen',
  WakeUp: 'RemoteWakeUp',
  Navigation: 'RemoteNavigation',
} as const;

/** Requirements that a rule in rules.ts expresses better than the schema. */
const byRule = ['RemotePreconditioning.airConditioning.programs.start is required'];

function faultsOf(theirs: Published, mine: Ours, path: string): string[] {
  const faults: string[] = [];
  const values = mine['x-values'] ?? (mine.const === undefined ? undefined : [mine.const]);
  if (theirs.values !== undefined && JSON.stringify(theirs.values) !== JSON.stringify(values)) {
    faults.push(`${path} has the values ${values}, not ${theirs.values}`);
  }
  for (const bound of ['minimum', 'maximum'] as const) {
    if (theirs[bound] !== undefined && theirs[bound] !== mine[bound])
      faults.push(`${path} has the ${bound} ${mine[bound]}`);
  }
  if (theirs.items !== undefined) {
    if (mine.prefixItems !== undefined) return faults;
    if (mine.items === undefined) return [...faults, `${path} is not a list`];
    return [...faults, ...faultsOf(theirs.items, mine.items, path)];
  }
  const plain = ['object', 'boolean', 'integer', 'string'];
  if (plain.includes(theirs.type ?? '') && theirs.type !== mine.type) faults.push(`${path} is of type ${mine.type}`);
  for (const [name, { required, schema }] of theirs.members) {
    const member = mine.properties?.[name];
    if (member === undefined) faults.push(`${path} lacks ${name}`);
    else {
      if (required && !mine.required?.includes(name)) faults.push(`${path}.${name} is required`);
      faults.push(...faultsOf(schema, member, `${path}.${name}`));
    }
  }
  const known = new Set(theirs.members.keys());
  for (const name of Object.keys(mine.properties ?? {})) {
    if (theirs.members.size > 0 && !known.has(name)) faults.push(`${path}.${name} is not published`);
  }
  return faults;
}

describe('bodies of commands compared with the published interface', () => {
  test.each(remoteTypes)('%s has the same members, types, limits and enumerations', (type) => {
    const name = names[type];
    const theirs = published('fleet-3.19.2', name);
    expect(theirs.members.size).toBeGreaterThan(0);
    const faults = faultsOf(theirs, remoteBodies[type] as unknown as Ours, name);
    expect(faults.filter((fault) => !byRule.includes(fault))).toEqual([]);
    if (type === 'ThermalPreconditioning') expect(faults).toEqual(byRule);
  });
});

describe('the wire form of a command body', () => {
  const cddl = vigieCddl();
  test.each(remoteTypes)('of %s is read back, and matches the CDDL', (type) => {
    fc.assert(
      fc.property(valuesOf(remoteBodies[type]), (body) => {
        const bytes = encodeBody(type, body);
        expect(decodeBody(type, bytes)).toEqual(body);
        expect(matchCddl(cddl, 'command-body', bytes)).toEqual([]);
        // The rules must accept any body that matches the schema.
        expect(typeof (remoteKindOf(type).fault?.(body) ?? '')).toBe('string');
      }),
      { numRuns: 60 },
    );
  });

  test.each([
    ['Lights', { on: true }, 'a101f5'],
    ['Horn', { state: 'Unactivated' }, 'a10101'],
    ['WakeUp', {}, 'a0'],
    ['Immobilization', { activate: false }, 'a101f4'],
    ['Stolen', { trackingPeriod: { running: 5, shutdown: 60 } }, 'a102a2010502183c'],
    ['ElectricBatteryChargingRequest', { preferences: { level: 'Level3', type: 'Full' } }, 'a103a201020201'],
    [
      'ThermalPreconditioning',
      { airConditioning: { programs: [{ slot: 2, actionsType: 'Delete' }] } },
      'a101a10281a201020600',
    ],
    ['Navigation', { positions: [{ type: 'Point', coordinates: [0, -0.0000001] }] }, 'a10181a101820020'],
  ] as const)('golden: %s %j', (type, body, hex) => {
    expect(Buffer.from(encodeBody(type, body)).toString('hex')).toBe(hex);
    expect(decodeBody(type, new Uint8Array(Buffer.from(hex, 'hex')))).toEqual(body);
  });

  test.each([
    ['Stolen', { trackingPeriod: { running: 4 } }, /at least 5/],
    ['Stolen', { trackingPeriod: { shutdown: 59 } }, /at least 60/],
    ['Navigation', { positions: [] }, /at least 1/],
    ['Navigation', { positions: Array(11).fill({ type: 'Point', coordinates: [0, 0] }) }, /at most 10/],
    ['Navigation', { positions: [{ type: 'Point', coordinates: [48.85, 148] }] }, /at most 90/],
    ['ThermalPreconditioning', { airConditioning: { programs: [{ slot: 5 }] } }, /at most 4/],
    ['ThermalPreconditioning', {}, /airConditioning/],
    ['ElectricBatteryChargingRequest', { schedule: { programs: [{ end: 'PT1H' }] } }, /start/],
  ] as const)('%s %j is refused', (type, body, message) => {
    expect(() => encodeBody(type, body)).toThrow(
      expect.objectContaining({ code: 'command.malformed', message: expect.stringMatching(message) }),
    );
  });
});

test('times of day are durations below 24 hours', () => {
  expect(['PT0S', 'PT14H30M', 'PT23H59M59S', 'PT90M'].map(secondsOfDay)).toEqual([0, 52_200, 86_399, 5_400]);
  const none = ['PT24H', 'PT', 'P1D', 'PT1.5H', '14:30', '', 'PT1M1H', 'PT-1H'];
  expect(none.map(secondsOfDay)).toEqual(none.map(() => undefined));
});
