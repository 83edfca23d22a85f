/** Lines that the bench prints about the messages that the broker has acknowledged. */
import { beforeEach, expect, test } from 'vitest';
import { BenchReport } from '../../commands/bench-report.ts';
import { encodeMessage } from '../../protocol/cbor/message.ts';
import type { BodyKind } from '../../protocol/schema/message.ts';
import { upTopic } from '../../protocol/topics.ts';

const VIN = 'VF3VGEBENCH000001';
const NOON = Date.UTC(2026, 0, 1, 12, 0, 5);
const id = (last: number) => `00000000-0000-4000-8000-${String(last).padStart(12, '0')}`;
let lines: string[];
let report: BenchReport;
let seq: number;
beforeEach(() => {
  lines = [];
  seq = 0;
  report = new BenchReport(
    () => NOON,
    (line) => lines.push(line),
  );
});

const publish = (kind: BodyKind, body: object): void =>
  report.published(
    upTopic(VIN, kind),
    encodeMessage({ version: 1, kind, seq: seq++, boot: 1, at: NOON, clock: 'ntp', body }),
  );
/** Lines other than those for the first message of a topic. */
const events = () => lines.filter((line) => !line.startsWith('published'));

test('the first message of each topic is printed with its size', () => {
  for (const active of [true, false]) {
    publish('alert', { id: id(1), createdAt: NOON, active, type: 'FuelLevelLow', startedAt: NOON });
  }
  expect(lines.filter((line) => line.startsWith('published'))).toEqual([
    expect.stringMatching(/^published vigie\/1\/VF3VGEBENCH000001\/up\/alert \(\d+ bytes of CBOR\)$/),
  ]);
});

test('the bytes of all messages are counted, and those of the same messages as JSON', () => {
  const body = { id: id(5), createdAt: NOON, active: true, type: 'FuelLevelLow', startedAt: NOON };
  const message = { version: 1, kind: 'alert', seq: 0, boot: 1, at: NOON, clock: 'ntp', body } as const;
  const payload = encodeMessage(message);
  report.published(upTopic(VIN, 'alert'), payload);
  const { bytes, json } = report.sizes;
  expect(bytes).toBe(payload.byteLength);
  expect(json).toBe(JSON.stringify(message).length);
  expect(json).toBeGreaterThan(2 * bytes);
  report.published(upTopic(VIN, 'alert'), payload);
  expect(report.sizes).toEqual({ bytes: 2 * bytes, json: 2 * json });
});

test('a capture is not counted, because its JSON form has no frames', () => {
  const columns = new Uint8Array(1000);
  const times = { at: NOON, from: NOON, to: NOON, start: NOON };
  const parts = { part: 0, last: true, buses: ['body'], frames: 1, size: 4000, columns };
  publish('capture', { id: id(6), createdAt: NOON, cause: 'command', of: 'door', ...times, ...parts });
  expect(report.sizes).toEqual({ bytes: 0, json: 0 });
});

test('a trip is printed once at its start and once at its end, however often it is published', () => {
  const trip = { id: id(2), createdAt: NOON, startedAt: NOON };
  publish('trip', { ...trip, done: false });
  publish('trip', { ...trip, done: false, distance: 0.4, duration: 60 });
  publish('trip', { ...trip, done: true, distance: 1.6, duration: 142 });
  expect(events()).toEqual(['12:00:05 trip began', '12:00:05 trip ended: 1.6 km in 142 s']);
});

test('states of a command are printed with the cause of a failure', () => {
  const remote = { remoteActionId: 'a', type: 'Doors' };
  publish('remote', { ...remote, status: 'Accepted' });
  publish('remote', { ...remote, status: 'Failed', failureCause: 'VehicleInUse' });
  expect(events()).toEqual(['12:00:05 command Doors: Accepted', '12:00:05 command Doors: Failed (VehicleInUse)']);
});

test('an alert and a theft are printed when they begin and end', () => {
  for (const still of [true, false]) {
    publish('alert', { id: id(3), createdAt: NOON, active: still, type: 'FuelLevelLow', startedAt: NOON });
    publish('stolen', { id: id(4), createdAt: NOON, state: still, startedAt: NOON });
  }
  expect(events()).toEqual([
    '12:00:05 alert FuelLevelLow began',
    '12:00:05 the car counts as stolen',
    '12:00:05 alert FuelLevelLow ended',
    '12:00:05 the car no longer counts as stolen',
  ]);
});

test('the state of the car and the published messages are printed', () => {
  const status = {
    contents: () => ({
      kinetic: { createdAt: NOON, speed: 57.4 },
      ignition: { createdAt: NOON, type: 'Start' as const },
      doorsState: { createdAt: NOON, lockedStates: ['Locked' as const] },
    }),
  };
  publish('alert', { id: id(5), createdAt: NOON, active: true, type: 'FuelLevelLow', startedAt: NOON });
  lines = [];
  report.tell({ status, waiting: 0 });
  expect(lines).toEqual(['12:00:05 the car drives at 57 km/h, ignition Start, doors Locked; 1 message published']);
});

test('a missing acknowledgement by the broker is printed', () => {
  const status = { contents: () => ({}) };
  publish('alert', { id: id(6), createdAt: NOON, active: true, type: 'FuelLevelLow', startedAt: NOON });
  report.tell({ status, waiting: 1 });
  lines = [];
  report.tell({ status, waiting: 7 });
  expect(lines).toEqual(['12:00:05 the car stands; the broker acknowledges nothing, 7 messages wait for it']);
});
