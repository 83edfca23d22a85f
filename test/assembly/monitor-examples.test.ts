/** Every published form of a monitor, sent over HTTP to a car: the car watches it, or refuses it with a reason. */

import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { callbackChannels } from '../../adapters/callbacks/index.ts';
import { SystemClock } from '../../adapters/clock/system.ts';
import { type Car, startCar } from '../../assembly/car.ts';
import { loadVehicle } from '../../assembly/vehicle.ts';
import type { Side } from '../../protocol/interface/operation.ts';
import { type DataName, dataNames, dataRules } from '../../protocol/schema/monitor/data.ts';
import { agentSettings } from '../../protocol/settings.ts';
import { fetchJson } from '../adapters/http/rig.ts';
import { operatorsByData } from '../protocol/interface/published/facts.ts';
import { MemoryLog } from '../rig/log.ts';
import { type MonitorRules, monitorRules } from './monitor-rules.ts';

const VIN = 'VF3EXAMPLECAR0001';
const sides: readonly Side[] = ['fleet', 'user'];

let folder: string;
let car: Car;
const places: Record<Side, string> = { fleet: '', user: '' };

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'vigie-examples-'));
  const clock = new SystemClock();
  car = await startCar({
    vin: VIN,
    vehicle: loadVehicle('bench'),
    data: folder,
    sources: [],
    // An address without a broker. An offline car accepts monitors too.
    mqtt: { url: 'mqtt://127.0.0.1:1' },
    settings: agentSettings(),
    notificationChannels: callbackChannels({ networks: [], allowHttp: false, now: () => clock.now() }),
    http: { local: true, port: 0 },
    log: new MemoryLog(),
    clock,
  });
  const { url = '' } = car.interface ?? {};
  const fleets = await ask('GET', `${url}/connectedcar/v3/fleets`);
  places.fleet = `${url}/connectedcar/v3/fleets/${fleets.body._embedded?.fleets?.[0]?.id}/monitors`;
  const vehicles = await ask('GET', `${url}/connectedcar/v4/user/vehicles`);
  const links = vehicles.body._embedded?.vehicles?.[0]?._links;
  const made = await ask('POST', links?.callbacks?.href ?? '', {
    label: 'mine',
    type: ['Monitor'],
    callback: { webhook: { name: 'n', target: 'https://receiver.example/' } },
  });
  expect(made.status).toBe(200);
  places.user = (links?.monitors?.href ?? '').replace('{cbid}', made.body.callbackId ?? '');
});
afterAll(async () => {
  await car.stop();
  rmSync(folder, { recursive: true, force: true });
});

interface Linked {
  readonly id: string;
  readonly _links?: Readonly<Partial<Record<'callbacks' | 'monitors', { readonly href: string }>>>;
}

/** Members of the answers that the tests read. */
interface Body {
  readonly message?: string;
  readonly monitorId?: string;
  readonly callbackId?: string;
  readonly status?: string;
  readonly monitor?: { readonly triggerParam: unknown };
  readonly _embedded?: Readonly<Record<'fleets' | 'vehicles', readonly Linked[] | undefined>>;
}

async function ask(method: string, url: string, body?: object): Promise<{ status: number; body: Body }> {
  const { status, json } = await fetchJson(url, {
    method: method as 'GET',
    ...(body === undefined ? {} : { headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) }),
  });
  return { status, body: (json ?? {}) as Body };
}

const webhook = { name: 'n', target: 'https://receiver.example/' };
const cold = { name: 'cold', data: { data: 'environment.air.temp', op: 'lowerThan', value: ['3'] } };

/** A monitor of the side with these triggers, all of which the expression requires. */
function monitorOf(side: Side, triggers: readonly { readonly name: string }[], more: object = {}): object {
  return {
    label: 'an example',
    ...(side === 'fleet' ? { subscribeParam: { callback: { webhook } } } : {}),
    triggerParam: { triggers, boolExp: triggers.map(({ name }) => name).join(' & ') },
    ...more,
  };
}

/** Sends the monitor to the car. Undefined if it runs unchanged, otherwise the reason of the refusal. */
async function refusal(side: Side, monitor: object): Promise<string | undefined> {
  const { status, body } = await ask('POST', places[side], monitor);
  if (status === 400) {
    expect(body.message).toMatch(/.{10,}/);
    return body.message;
  }
  expect([status, body.status]).toEqual([202, 'Running']);
  const shown = await ask('GET', `${places[side]}/${body.monitorId}`);
  expect(shown.status).toBe(200);
  expect(car.agent.monitors.get(body.monitorId ?? '')?.status).toBe('Running');
  // A user can have at most five monitors per vehicle.
  const removed = await ask('DELETE', `${places[side]}/${body.monitorId}`);
  expect(removed.status).toBeLessThan(300);
  return undefined;
}

const bare = (name: string): string => name.replace(/^vehicle\./, '');
const rules = (): Record<Side, MonitorRules> => ({ fleet: monitorRules('fleet'), user: monitorRules('user') });

/** A possible value of the data. */
function someValue(data: string): string {
  const { values } = dataRules[data as DataName];
  return values === 'number' || values === undefined ? '1' : (values[0] as string);
}

describe('published forms of monitors', () => {
  test('the published interface states the operators of each data name', () => {
    const { fleet, user } = rules();
    const operators = operatorsByData();
    const names = new Set([...fleet.data, ...user.data]);
    expect([...names].sort()).toEqual([...dataNames].sort());
    expect([...names].map(bare).filter((name) => !operators.has(name))).toEqual([]);
    for (const [name, of] of operators) {
      expect(of.length, name).toBeGreaterThan(0);
      expect(of.filter((one) => !fleet.operators.includes(one))).toEqual([]);
    }
  });

  test.each(sides)(
    '%s: each data name with each operator is watched, or refused by name',
    async (side) => {
      const { data, operators } = rules()[side];
      const allowed = operatorsByData();
      const wrong: string[] = [];
      let taken = 0;
      for (const name of data) {
        for (const op of operators) {
          const value = op === 'onChange' ? {} : { value: [someValue(name)] };
          const why = await refusal(
            side,
            monitorOf(side, [{ name: 't', data: { data: name, op, ...value } }] as never),
          );
          const expected = allowed.get(bare(name))?.includes(op) === true;
          if (why === undefined) taken++;
          if (expected !== (why === undefined)) wrong.push(`${name} ${op}: ${why ?? 'was taken'}`);
          else if (why !== undefined) expect(why).toMatch(/\.op: of /);
        }
      }
      expect(wrong).toEqual([]);
      expect(taken).toBeGreaterThan(40);
    },
    120_000,
  );

  test.each(sides)(
    '%s: each extension, side of a zone, status and start state is accepted, or refused by name',
    async (side) => {
      const { extensions, transitions, statuses, previousOperators } = rules()[side];
      for (const extension of extensions) {
        const given = monitorOf(side, [cold], { extendedEventParam: [extension] });
        expect([extension, await refusal(side, given)]).toEqual([extension, undefined]);
      }
      expect(await refusal(side, monitorOf(side, [cold], { extendedEventParam: extensions }))).toBeUndefined();
      expect(await refusal(side, monitorOf(side, [cold], { extendedEventParam: ['vehicle.weather'] }))).toMatch(
        /extendedEventParam/,
      );
      const circle = { radius: 10, center: { longitude: 2.35, latitude: 48.85 } };
      for (const transition of transitions) {
        for (const place of ['place', 'circle']) {
          const zone = { name: 'z', zone: { transition, [place]: circle } };
          expect([transition, await refusal(side, monitorOf(side, [zone]))]).toEqual([transition, undefined]);
        }
      }
      for (const op of previousOperators) {
        const previous = { value: ['Stopped'], op };
        const data = { data: 'vehicle.powertrain.status', op: 'equalsTo', value: ['Running'], previous };
        expect([op, await refusal(side, monitorOf(side, [{ name: 'p', data }] as never))]).toEqual([op, undefined]);
      }
      const { body } = await ask('POST', places[side], monitorOf(side, [cold]));
      for (const status of [...statuses, ...statuses]) {
        const set = await ask('PUT', `${places[side]}/${body.monitorId}/status`, { status });
        expect([set.status, set.body.status]).toEqual([202, status]);
      }
      // A monitor can have this status, but a request cannot set it.
      const failed = await ask('PUT', `${places[side]}/${body.monitorId}/status`, { status: 'Failed' });
      expect(failed.status).toBe(400);
      expect(failed.body.message).toContain('status');
    },
    120_000,
  );
});

const daily = { recurrence: 'Daily', start: 'PT14H30M', duration: 'PT2H' };
const timeOf = (entry: object, more: object = {}) => [{ name: 't', time: { times: [entry], ...more } }];
const named = (name: string) => [{ ...cold, name }];
const three = ['a', 'b', 'c'].map((name, index) => ({ ...cold, name, data: { ...cold.data, value: [String(index)] } }));
const expression = (boolExp: string) => (side: Side) =>
  monitorOf(side, three, { triggerParam: { triggers: three, boolExp } });
const times =
  (entry: object, more: object = {}) =>
  (side: Side) =>
    monitorOf(side, timeOf(entry, more));
const subscribed = (more: object) => (side: Side) =>
  monitorOf(side, [cold], { subscribeParam: { ...(side === 'fleet' ? { callback: { webhook } } : {}), ...more } });
const data = (more: object) => (side: Side) =>
  monitorOf(side, [{ name: 'd', data: { ...cold.data, ...more } }] as never);

test.each<[what: string, monitor: (side: Side) => object, refused?: RegExp]>([
  ['a moment without an end', times({ recurrence: 'None', start: '2026-06-01T08:00:00+02:00' })],
  ['a moment with a duration', times({ recurrence: 'None', start: '2026-06-01T08:00:00Z', duration: 'P1D' })],
  ['a time of each day', times(daily, { timeZone: 'Europe/Paris' })],
  ['daily, when nothing else is said', times({ start: 'PT0S', duration: 'PT1H' })],
  ['days and weeks', times({ ...daily, occurence: { day: ['Mon', 'Sun'], week: ['w1', 'w40-w50'] } })],
  ['a day without a duration', times({ recurrence: 'Daily', start: 'PT8H' }), /duration/],
  ['a start at 24 hours', times({ ...daily, start: 'PT24H' }), /start/],
  ['a week 54', times({ ...daily, occurence: { week: ['w54'] } }), /week/],
  ['another day', times({ ...daily, occurence: { day: ['Monday'] } }), /day/],
  ['another time zone', times(daily, { timeZone: 'Mars/Olympus' }), /timeZone/],
  ['both', expression('a & b & c')],
  ['either', expression('a | b | c')],
  ['parentheses', expression('(a | b) & (c)')],
  ['not', expression('!a & (b | !c)')],
  ['without blanks', expression('a&b|!c')],
  ['one parenthesis too few', expression('(a & b | c'), /boolExp/],
  ['one parenthesis too many', expression('a & b) | c'), /boolExp/],
  ['always true', expression('a | !a | b | c'), /always true/],
  ['always false', expression('a & !a & b & c'), /always false|never/],
  ['the name of an unknown trigger', expression('a & b & c & d'), /"?d"?/],
  ['letters', (side) => monitorOf(side, named('abc'))],
  ['letters and digits', (side) => monitorOf(side, named('abc12'))],
  ['an underscore', (side) => monitorOf(side, named('abc_12'))],
  ['a full stop', (side) => monitorOf(side, named('abc.12'))],
  ['a name that begins with a digit', (side) => monitorOf(side, named('1abc')), /name/],
  ['a name in quotes', (side) => monitorOf(side, named('"abc"')), /name/],
  ['two triggers of one name', (side) => monitorOf(side, [cold, cold]), /name|twice|unique/],
  ['no trigger', (side) => monitorOf(side, [], { triggerParam: { triggers: [], boolExp: 'a' } }), /1 to 5/],
  [
    'six triggers',
    (side) =>
      monitorOf(
        side,
        ['a', 'b', 'c', 'd', 'e', 'f'].map((name) => ({ ...cold, name })),
      ),
    /1 to 5/,
  ],
  [
    'five triggers',
    (side) =>
      monitorOf(
        side,
        ['a', 'b', 'c', 'd', 'e'].map((name) => ({ ...cold, name })),
      ),
  ],
  ['a trigger of two kinds', (side) => monitorOf(side, [{ ...cold, ...timeOf(daily)[0] }]), /exactly one/],
  ['a comparison without a value', data({ value: [] }), /value/],
  ['a comparison with two values, of which the first counts', data({ value: ['1', '2'] })],
  ['a comparison with a word', data({ value: ['warm'] }), /value/],
  ['includedIn with a list', data({ data: 'privacy.state', op: 'includedIn', value: ['Full', 'None'] })],
  ['includedIn with an empty list', data({ data: 'privacy.state', op: 'includedIn', value: [] }), /value/],
  ['a value that the data cannot have', data({ data: 'privacy.state', op: 'equalsTo', value: ['Half'] }), /value/],
  ['unknown data', data({ data: 'vehicle.weather' }), /data/],
  ['the spelling doorsStates', data({ data: 'vehicle.doorsStates.opening', op: 'onChange', value: [] })],
  ['a refresh every minute', subscribed({ refreshEvent: 60 })],
  ['a refresh more than once a minute', subscribed({ refreshEvent: 59 }), /refreshEvent/],
])('a monitor is accepted, or refused with the reason: %s', async (_what, monitor, refused) => {
  for (const side of sides) {
    const why = await refusal(side, monitor(side));
    if (refused === undefined) expect([side, why]).toEqual([side, undefined]);
    else expect([side, why]).toEqual([side, expect.stringMatching(refused)]);
  }
});

test.each<[what: string, subscribeParam: object, refused?: RegExp]>([
  ['retry policy None', { retryPolicy: { policy: 'None' } }],
  ['three retries', { retryPolicy: { policy: 'Bounded', retryNumber: 3, retryDelay: 10 } }],
  ['unlimited retries', { retryPolicy: { policy: 'Always' } }],
  ['another policy', { retryPolicy: { policy: 'Sometimes' } }, /policy/],
  ['no retries', { retryPolicy: { policy: 'Bounded', retryNumber: 0 } }, /retryNumber/],
  ['batches of ten events', { batchNotify: { size: 10, timeWindow: 5 } }],
  ['batches of size 0', { batchNotify: { size: 0 } }, /size/],
  ['batches of four seconds', { batchNotify: { size: 10, timeWindow: 4 } }, /timeWindow/],
  ['no address', { callback: {} }, /webhook/],
  ['a loopback address', { callback: { webhook: { ...webhook, target: 'https://127.0.0.1/' } } }, /target|address/],
])('a fleet monitor is accepted, or refused with the reason: %s', async (_what, more, refused) => {
  const why = await refusal(
    'fleet',
    monitorOf('fleet', [cold], { subscribeParam: { callback: { webhook }, ...more } }),
  );
  if (refused === undefined) expect(why).toBeUndefined();
  else expect(why).toMatch(refused);
});
