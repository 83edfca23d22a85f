/** A car in several fleets sends each fleet only its own events. */
import { expect, test } from 'vitest';
import { envelopeOf } from '../../adapters/callbacks/attributes.ts';
import { fleetNotification } from '../../adapters/callbacks/notification.ts';
import { ownedId } from '../../adapters/http/resources/ids.ts';
import { ownerOfFleet } from '../../adapters/http/resources/owners.ts';
import { namesOf } from '../../assembly/view.ts';
import type { HttpConfiguration } from '../../config/http.ts';
import { vehicle } from '../rig/day.ts';

const VIN = 'VF3VGEBENCH000001';
const UUID = '00000000-0000-4000-8000-000000000001';
const user = { passwordFile: '', clientId: 'c' };
const http = {
  fleet: [
    { ...user, name: 'a', fleets: ['f1'] },
    { ...user, name: 'b', fleets: ['f2', 'f3'] },
  ],
  vehicle: {},
} as unknown as HttpConfiguration;

test.each([
  ['f1', ownedId(ownerOfFleet('f1'), UUID)],
  ['f2', ownedId(ownerOfFleet('f2'), UUID)],
  ['f3', ownedId(ownerOfFleet('f3'), UUID)],
  // Monitors added by command belong to no single fleet.
  ['f1', 'by-command'],
])('fleet %s is named in events of monitor %s', (fleet, monitorId) => {
  const names = namesOf({ vin: VIN, vehicle, http });
  const event = { id: 'e', monitorId, at: 0, refresh: false };
  const happened = { type: 'Monitor', event } as const;
  expect(fleetNotification(() => names, '', [], [happened])).toMatchObject({ monitorId, events: [{ fleetId: fleet }] });
  const attributes = [{ type: 'Header', key: 'f', value: '$FleetID' }] as const;
  expect(envelopeOf(attributes, names, {}, happened).headers).toEqual({ f: fleet });
  const report = { remoteActionId: 'r', type: 'Doors', status: 'Success' } as const;
  const remote = { type: 'Remote', report: { ...report, createdAt: 0 }, at: 0 } as const;
  expect(envelopeOf(attributes, names, { callbackId: monitorId }, remote).headers).toEqual({ f: fleet });
});
