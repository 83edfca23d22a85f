import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { decodeBody, encodeBody } from '../../../protocol/command.ts';
import { type ErrorCode, errors, VigieError } from '../../../protocol/errors.ts';
import { deprecatedMembers, readBody } from '../../../protocol/interface/bodies.ts';
import type { Operation } from '../../../protocol/interface/operation.ts';
import { reservedScopes, scopeNames } from '../../../protocol/interface/operations/scopes.ts';
import { operationById, operations } from '../../../protocol/interface/operations.ts';
import { refusalStatus, refusalStatuses, xError } from '../../../protocol/interface/refusal.ts';
import { askedRemote, remoteScopeOf } from '../../../protocol/interface/remotes.ts';
import { remoteTypes } from '../../../protocol/remote/table.ts';

const operation = (id: string): Operation => operationById.get(id) as Operation;
const fleetRemote = (body: unknown): unknown => readBody(operation('fleet.remotes.create'), body);
const program = { slot: 1, enabled: true, start: 'PT7H30M', occurence: { day: ['Mon'] } };

describe('the body of a request', () => {
  it('may have unknown members, and members with null are omitted', () => {
    const body = { door: { state: 'Locked', forced: true, other: 1 }, label: null, charging: null, more: {} };
    expect(fleetRemote(body)).toEqual({ door: { state: 'Locked', forced: true, other: 1 }, more: {} });
    expect(deprecatedMembers(operation('fleet.remotes.create'), body)).toEqual(['door.forced']);
    expect(deprecatedMembers(operation('user.remotes.create'), { navigation: { driverApproval: true } })).toEqual([
      'navigation.driverApproval',
    ]);
  });

  it('is refused with the member and the rule', () => {
    const refused = (id: string, body: unknown, rule: string): void => {
      expect(() => readBody(operation(id), body)).toThrow(rule);
    };
    refused('fleet.remotes.create', { door: { state: 'locked' } }, 'door.state: must be one of Unlocked, Locked');
    refused('fleet.remotes.create', { horn: {} }, 'horn.state: is missing');
    refused('fleet.remotes.create', { lights: { on: 'true' } }, 'lights.on: must be a boolean');
    refused(
      'user.remotes.create',
      { navigation: { positions: [{ coordinates: [2, '48'] }] } },
      'navigation.positions[0].coordinates[1]: must be a number',
    );
    refused(
      'fleet.remotes.create',
      { stolen: { trackingPeriod: { running: 4 } } },
      'stolen.trackingPeriod.running: must be at least 5',
    );
    refused('fleet.remotes.create', [], 'body: must be an object');
    refused('fleet.monitors.create', { label: 'l', triggerParam: {} }, 'subscribeParam: is missing');
    refused('user.monitors.create', { label: 1 }, 'triggerParam: is missing');
    refused('user.callbacks.create', { callback: 'x' }, 'callback: must be an object');
    refused('user.callbacks.setStatus', { status: 'Failed' }, 'status: must be one of Running, Paused');
  });

  it('causes at most input.malformed, whatever it is', () => {
    const writes = operations.filter(({ body }) => body !== undefined);
    fc.assert(
      fc.property(fc.constantFrom(...writes), fc.jsonValue({ maxDepth: 8 }), (one, body) => {
        try {
          readBody(one, body);
        } catch (error) {
          expect(error).toBeInstanceOf(VigieError);
          expect((error as VigieError).code).toBe('input.malformed');
        }
      }),
    );
    const deep = JSON.parse(`${'{"a":'.repeat(5000)}1${'}'.repeat(5000)}`);
    expect(() => fleetRemote(deep)).toThrow('in each other');
  });
});

describe('a remote', () => {
  const bodies = {
    ThermalPreconditioning: { preconditioning: { airConditioning: { immediate: true } } },
    ElectricBatteryChargingRequest: { charging: { schedule: { programs: [program] } } },
    Horn: { horn: { state: 'Activated' } },
    Doors: { door: { state: 'Locked' } },
    Lights: { lights: { on: true } },
    Immobilization: { immobilization: { activate: true } },
    Stolen: { stolen: { trackingPeriod: { running: 30 } } },
    WakeUp: { wakeUp: { action: 'WakeUp' } },
    Navigation: { navigation: { positions: [{ coordinates: [2.35, 48.85] }] } },
  } as const;

  it('of each kind becomes a command that can be signed', () => {
    for (const type of remoteTypes) {
      const asked = askedRemote('fleet', fleetRemote({ label: 'l', ...bodies[type] }));
      expect([asked.type, asked.label]).toEqual([type, 'l']);
      const bytes = encodeBody(type, asked.body as never);
      expect(decodeBody(type, bytes)).toMatchObject(asked.body);
    }
  });

  it('has exactly one kind, which its side supports and which is complete', () => {
    expect(() => askedRemote('fleet', { ...bodies.Horn, ...bodies.Doors })).toThrow('has horn and door');
    expect(() => askedRemote('fleet', {})).toThrow('has none');
    expect(() => askedRemote('user', bodies.Stolen)).toThrow('has none');
    expect(() => askedRemote('fleet', { charging: {} })).toThrow(/^charging: must have immediate/);
    const beyond = remoteTypes.map(remoteScopeOf).filter((scope) => !scopeNames.includes(scope));
    expect(beyond).toEqual(['remote:immobilization:write', 'remote:stolen:write']);
    expect(reservedScopes).toEqual(beyond);
  });
});

describe('a refusal', () => {
  const refused = { uuid: 'u', now: Date.parse('2026-01-31T08:00:00Z') };

  it('has the form of its side', () => {
    const error = new VigieError('input.malformed', 'must be one of a, b', { where: 'x.y' });
    expect(xError('fleet', error, refused)).toEqual({
      code: 40001,
      uuid: 'u',
      message: 'x.y: must be one of a, b',
      timestamp: '2026-01-31T08:00:00.000Z',
    });
    expect(xError('user', 'request.unknown', refused)).toEqual({
      code: 40400,
      debug: 'request.unknown u',
      message: 'there is nothing at this address',
    });
  });

  it('hides internal errors of the car', () => {
    const error = new VigieError('store.failed', 'EIO', { where: '/var/lib/vigie/00000001.journal' });
    expect(JSON.stringify(xError('fleet', error, refused))).not.toMatch(/EIO|journal/);
  });

  it('has a documented status, and a code that starts with it', () => {
    for (const code of Object.keys(errors) as ErrorCode[]) {
      const status = refusalStatus(code);
      expect(refusalStatuses).toContain(status);
      expect(Math.floor(xError('user', code, refused).code / 100)).toBe(status);
    }
  });
});
