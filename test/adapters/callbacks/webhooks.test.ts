/** Validates the notifications that the car posts against `webhooks` of the committed OpenAPI document. */
import { readFileSync } from 'node:fs';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { describe, expect, test } from 'vitest';
import { failureCauses } from '../../../protocol/errors.ts';
import { notificationKinds } from '../../../protocol/interface/schemas/notifications.ts';
import type { MonitorEvent } from '../../../protocol/schema/event.ts';
import { extensionTypes } from '../../../protocol/schema/monitor/extensions.ts';
import { remoteStatuses } from '../../../protocol/schema/remote.ts';
import { CallbackRig, failed, webhook } from '../../agent/callbacks/rig.ts';

interface Schema {
  additionalProperties?: boolean;
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly items?: Schema;
  readonly anyOf?: readonly Schema[];
  readonly oneOf?: readonly Schema[];
}
interface Document {
  readonly webhooks: Readonly<
    Record<string, { readonly post: { readonly requestBody: { content: Record<string, { schema: Schema }> } } }>
  >;
  readonly components: { readonly schemas: Readonly<Record<string, Schema>> };
}

const file = new URL('../../../protocol/generated/openapi.json', import.meta.url);

/** The OpenAPI document with `additionalProperties: false` on every object. */
function closedDocument(): Document {
  const document = JSON.parse(readFileSync(file, 'utf8')) as Document;
  for (const schema of Object.values(document.components.schemas)) close(schema);
  for (const { post } of Object.values(document.webhooks ?? {})) {
    for (const { schema } of Object.values(post.requestBody.content)) close(schema);
  }
  return document;
}

function close(schema: Schema): void {
  if (schema.properties !== undefined) schema.additionalProperties = false;
  const inner = [...Object.values(schema.properties ?? {}), ...(schema.anyOf ?? []), ...(schema.oneOf ?? [])];
  for (const one of schema.items === undefined ? inner : [...inner, schema.items]) close(one);
}

const document = closedDocument();
const isMoment = (text: string): boolean => /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/.test(text);
const ajv = new Ajv2020({ strict: false, allErrors: true, formats: { 'date-time': isMoment, uri: true } });
ajv.addSchema(document, 'document');

/** Schema violations in the body of a notification. */
function faultsOf(kind: string, body: unknown): string[] {
  const at = `document#/webhooks/${kind}/post/requestBody/content/application~1json/schema`;
  const validate = ajv.getSchema(at) ?? ajv.compile({ $ref: at });
  validate(body);
  return (validate.errors ?? []).map(
    ({ instancePath, message, params }) => `${instancePath} ${message} ${JSON.stringify(params)}`,
  );
}

const at = Date.UTC(2026, 0, 1, 12);
const lastPosition = {
  type: 'Feature' as const,
  geometry: { type: 'Point' as const, coordinates: [2.35, 48.85] as [number, number] },
  properties: { createdAt: at - 1000, type: 'Acquire' as const, fixStatus: '3D' as const },
};
const alert = {
  id: 'a1',
  createdAt: at,
  active: true,
  type: 'CoolantLevellow' as const,
  startedAt: at,
  startPosition: lastPosition,
};
const collision = {
  id: 'c1',
  createdAt: at,
  position: lastPosition,
  details: [{ side: 'Front' as const, severity: 'Minor' as const }],
  pulse: { start: at, interval: 1, lateral: [1, 2] },
};
const values: NonNullable<MonitorEvent['values']> = [
  { data: 'vehicle.odometer', literal: '12000.5', previous: '12000' },
  { data: 'vehicle.alert', alerts: [alert] },
  { data: 'vehicle.collision.side', collision },
];
const status = {
  lastPosition,
  doorsState: { createdAt: at, lockedStates: ['Locked' as const] },
  odometer: { createdAt: at, mileage: 7 },
  kinetic: { createdAt: at, speed: 50, moving: true },
  privacy: { createdAt: at, state: 'None' as const },
  ignition: { createdAt: at, type: 'Start' as const },
};
const extensions: NonNullable<MonitorEvent['extensions']> = [
  { type: 'vehicle.position', status },
  { type: 'vehicle.doorsState', status },
  { type: 'vehicle.status', status },
  { type: 'vehicle.telemetry', section: 'vehicle', status },
  { type: 'vehicle.alerts', alerts: [alert] },
  {
    type: 'vehicle.maintenance',
    maintenance: { id: 'e1', createdAt: at, updatedAt: at, daysBeforeMaintenance: 30, mileageBeforeMaintenance: 900 },
  },
  { type: 'vehicle.collisions', collision },
  { type: 'vehicle.trip', trip: { id: 'd1', createdAt: at, done: true, startPosition: lastPosition } },
  {
    type: 'vehicle.stolen',
    stolen: { id: 'f1', createdAt: at, state: true, startedAt: at, startPosition: lastPosition },
  },
  {
    type: 'vehicle.alarm',
    alarm: {
      id: 'f2',
      createdAt: at,
      trigger: { createdAt: at, type: 'FrontRightDoorBreakIn', startAt: at, position: lastPosition },
    },
  },
];
const event = { values, extensions, refresh: true };
/** An event in which no value and no extension is known. */
const empty = { values: [], extensions: extensionTypes.map((type) => ({ type })) };

const attributes = [{ type: 'Body', key: 'k', value: 'v' }];

const addUser = (rig: CallbackRig): string =>
  rig.callbacks.add('user', { callback: { webhook: { ...webhook, attributes } } }).callbackId;
const addFleet = (rig: CallbackRig): string =>
  rig.callbacks.add('fleet', { callback: { webhook: { ...webhook, attributes } }, remoteTypes: ['Horn', 'Doors'] })
    .callbackId;

/** Reports every state of a command and every cause of a failure. */
function reports(rig: CallbackRig, callbackId: string): void {
  const states = [
    ...remoteStatuses.filter((one) => one !== 'Failed').map((one) => ({ status: one })),
    ...failureCauses.map((failureCause) => ({ status: 'Failed' as const, failureCause })),
  ];
  for (const [index, state] of states.entries()) {
    const remoteActionId = `a${index}`;
    rig.callbacks.setOrigin(remoteActionId, { callbackId });
    rig.callbacks.remote({ remoteActionId, type: 'Horn', ...state });
  }
}

const happenings: Readonly<Record<string, (rig: CallbackRig) => void>> = {
  fleetMonitor: (rig) => {
    rig.monitor('ab', { subscribeParam: { callback: { webhook: { ...webhook, attributes } } } });
    rig.event('ab', event);
    rig.event('ab', empty);
  },
  fleetRemote: (rig) => reports(rig, addFleet(rig)),
  userMonitor: (rig) => {
    rig.monitor('ab', { subscribeParam: { callbackId: addUser(rig) } });
    rig.event('ab', event);
  },
  userRemote: (rig) => {
    const callbackId = addUser(rig);
    rig.callbacks.setOrigin('a0', { callbackId });
    rig.callbacks.remote({ remoteActionId: 'a0', type: 'Doors', status: 'Failed', failureCause: failureCauses[0] });
  },
};

/** Returns the posted bodies. */
async function posted(set: (rig: CallbackRig) => void): Promise<unknown[]> {
  const rig = new CallbackRig();
  set(rig);
  await rig.pass(0);
  expect(rig.bodies.length).toBeGreaterThan(0);
  return rig.bodies;
}

test('the OpenAPI document has one webhook for each kind of notification', () => {
  expect(Object.keys(document.webhooks)).toEqual([...notificationKinds]);
  expect(Object.keys(happenings)).toEqual([...notificationKinds]);
});

test('the events in this file contain every extension', () => {
  expect(extensions.map(({ type }) => type).toSorted()).toEqual([...extensionTypes].toSorted());
});

describe.each(notificationKinds)('a notification of kind %s', (kind) => {
  test('follows the schema of its webhook, which describes every member', async () => {
    for (const body of await posted(happenings[kind] as (rig: CallbackRig) => void)) {
      expect([body, faultsOf(kind, body)]).toEqual([body, []]);
    }
  });

  test('is refused by the schemas of the other webhooks', async () => {
    for (const body of await posted(happenings[kind] as (rig: CallbackRig) => void)) {
      // An array of messages may contain both kinds of the user side.
      if (Array.isArray(body)) continue;
      const others = notificationKinds.filter((other) => other !== kind);
      expect(others.filter((other) => faultsOf(other, body).length === 0)).toEqual([]);
    }
  });
});

test('one request with several messages of the user side follows the schemas of both webhooks', async () => {
  const rig = new CallbackRig();
  const callbackId = addUser(rig);
  rig.answer = () => failed;
  rig.monitor('ab', { subscribeParam: { callbackId } });
  rig.event('ab', event);
  rig.event('ab', empty);
  reports(rig, callbackId);
  await rig.pass(0);
  const [body] = rig.bodies;
  expect(Array.isArray(body)).toBe(true);
  expect([faultsOf('userMonitor', body), faultsOf('userRemote', body)]).toEqual([[], []]);
});
