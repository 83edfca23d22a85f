import { expect, test } from 'vitest';
import { incidentOfAddress } from '../../page/shared/addresses.ts';
import { notificationOf, type PushPayload } from '../../page/shared/push/notification.ts';
import { languages } from '../../protocol/words/languages.ts';
import { dictionaryOf } from '../../protocol/words/table.ts';

const AT = Date.parse('2026-11-27T10:00:00.000Z');
const date = new Date(AT).toISOString();
const literal = (data: string, literalValue: string, previous?: string) => ({
  data,
  value: { type: 'string', body: { literalValue } },
  ...(previous === undefined ? {} : { previous }),
});
const records = (data: string, ...objectValues: readonly object[]) => ({
  data,
  value: { type: 'obj', body: { objectValues } },
});
const payloadOf = (...values: readonly object[]) =>
  ({
    id: '19b7-2a',
    notification: { title: 'Incident' },
    message: {
      date,
      attributes: [
        { key: 'vin', value: 'VF3' },
        { key: 'car', value: 'My car' },
      ],
      monitorEvent: { values },
    },
  }) as PushPayload;
const titles = (payload: PushPayload) =>
  languages.map((language) => notificationOf(payload, dictionaryOf(language)).title);
const quiet = [literal('vehicle.alarm.trigger.type', 'NoBreakIn'), literal('stolen.state', 'false')];
const low = { id: 'a1', type: 'LowFuel', startedAt: date };
const older = { id: 'a0', type: 'SeatBelt', startedAt: new Date(AT - 60_000).toISOString() };

test('a notification names incident, car and time in the language of the page, and leads to the incident', () => {
  const alarm = payloadOf(
    literal('vehicle.alarm.trigger.type', 'VolumetricBreakIn', 'NoBreakIn'),
    literal('stolen.state', 'false'),
  );
  expect(titles(alarm)).toEqual([
    expect.stringMatching(/^Alarm: /),
    expect.stringMatching(/^Alarm: /),
    expect.stringMatching(/^Alarme: /),
  ]);
  expect(new Set(titles(alarm)).size).toBe(3);
  const { options } = notificationOf(alarm, dictionaryOf('de'));
  expect(options).toMatchObject({ lang: 'de', timestamp: AT, requireInteraction: true, tag: '19b7-2a' });
  const time = new Intl.DateTimeFormat('de', { dateStyle: 'medium', timeStyle: 'short' }).format(AT);
  expect(options.body).toBe(`My car, ${time}`);
  expect(incidentOfAddress(options.data.address)).toEqual({ vin: 'VF3', kind: 'Alarm', at: AT });
});

test('the changed value decides the incident: a theft, a collision, or the newest alert', () => {
  expect(
    titles(payloadOf(literal('vehicle.alarm.trigger.type', 'NoBreakIn'), literal('stolen.state', 'true', 'false'))),
  ).toEqual(languages.map((_, index) => ['Stolen', 'Gestohlen', 'Volée'][index]));
  const collision = records('vehicle.collision.side', {
    id: 'c1',
    createdAt: date,
    details: [{ side: 'Front', severity: 'Major' }],
  });
  expect(titles(payloadOf(collision, records('vehicle.alert', low), ...quiet))).toEqual([
    'Collision: at the front, severe, airbags fired',
    'Kollision: vorn, schwer, Airbags ausgelöst',
    'Collision: à l’avant, grave, airbags déclenchés',
  ]);
  expect(notificationOf(payloadOf(records('vehicle.alert', older, low), ...quiet)).options).toMatchObject({
    tag: 'a1',
  });
});

test('the end of an alert replaces its start, without asking for a click', () => {
  const over = { ...low, endAt: new Date(AT + 1_000).toISOString() };
  const { title, options } = notificationOf(payloadOf(records('vehicle.alert', older, over)), dictionaryOf('en'));
  expect(title).toMatch(/: ended$/);
  expect(options).toMatchObject({ tag: 'a1', timestamp: AT + 1_000, requireInteraction: false });
});

test('a push without values, or a browser without the stored words, shows the label of the monitor', () => {
  const { title, options } = notificationOf(payloadOf(), dictionaryOf('de'));
  expect([title, options.data.address]).toEqual(['Incident', '']);
  const wordless = notificationOf(payloadOf(records('vehicle.alert', low)));
  expect([wordless.title, wordless.options.body.startsWith('My car, ')]).toEqual(['Incident', true]);
});

test('the address of an incident is parsed, and other addresses are rejected', () => {
  for (const hash of [
    '',
    '#car',
    '#incident',
    '#incident/VF3/Trip/1',
    '#incident/VF3/Alarm/x',
    '#incident/%/Alarm/1',
  ]) {
    expect(incidentOfAddress(hash)).toBeUndefined();
  }
});
