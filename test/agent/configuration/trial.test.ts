import { expect, test } from 'vitest';
import {
  type DeliveringSource,
  judgeTrial,
  type TrialObservation,
  type TrialSource,
} from '../../../agent/configuration/trial.ts';

const body = { kind: 'frames', name: 'body' } as const;
const motor = { kind: 'frames', name: 'motor' } as const;
const obd = { kind: 'requests', name: 'requests' } as const;
const gnss = { kind: 'receiver', name: 'receiver' } as const;

function source(of: DeliveringSource, more: Partial<TrialSource> = {}): TrialSource {
  return { ...of, state: 'running', speaks: false, readings: 0, ...more };
}
const good = (of: DeliveringSource): TrialSource => source(of, { speaks: true, readings: 5 });
const judged = (
  sources: readonly TrialSource[],
  before: readonly DeliveringSource[],
  more: Partial<TrialObservation> = {},
  known: readonly string[] = [],
) => judgeTrial({ sources, inUse: false, asleep: false, faults: {}, ...more }, before, known);

test.each([
  ['every source delivers again', [good(body), good(gnss)], [body, gnss]],
  ['nothing delivered before', [source(body)], []],
  ['a source that never delivered is still silent', [good(body), source(obd)], [body]],
  ['a source was dropped on purpose', [good(body)], [body, gnss]],
  ['another bus delivers instead', [good(motor)], [body]],
])('a configuration is good if %s', (_, sources, before) => {
  expect(judged(sources, before, { inUse: true })).toEqual({ state: 'good' });
});

test.each([
  ['its adapter does not exist', [source(body, { state: 'waiting', reason: 'there is no such interface' })], /no such/],
  ['the bus carries no signal of the profile', [source(body, { speaks: true })], /^body carries data, but no signal/],
  ['one of two buses is silent in a car in use', [good(motor), source(body)], /^body delivers nothing while/],
  ['no answer comes in a car in use', [good(body), source(obd, { state: 'waiting' })], /^requests does not run/],
  ['the bus has another name, and its profile is wrong', [source(motor, { speaks: true })], /^motor carries data/],
])('a configuration is wrong if %s', (_, sources, why) => {
  const before = [body, motor, obd].filter(({ kind, name }) => {
    return sources.some((one) => one.kind === kind && (one.name === name || sources.length === 1));
  });
  expect(judged(sources, before, { inUse: sources.length > 1 })).toEqual({
    state: 'wrong',
    why: expect.stringMatching(why),
  });
});

test('a silent bus of a parked car proves nothing', () => {
  expect(judged([source(body)], [body])).toMatchObject({ state: 'parked' });
  expect(judged([source(body)], [body], { asleep: true })).toMatchObject({ state: 'parked' });
});

test('what the unit closes while it sleeps proves nothing, but a bus that does not open is wrong', () => {
  const waiting = { state: 'waiting', reason: 'the unit sleeps' } as const;
  expect(judged([good(body), source(gnss, waiting)], [body, gnss], { asleep: true })).toMatchObject({
    state: 'parked',
  });
  expect(judged([source(body, waiting)], [body], { asleep: true })).toMatchObject({ state: 'wrong' });
});

test('a fault that the last good configuration did not have is wrong', () => {
  const faults = { interface: 'the port is taken' };
  expect(judged([good(body)], [body], { faults })).toEqual({ state: 'wrong', why: 'the port is taken' });
  expect(judged([good(body)], [body], { faults }, ['interface'])).toEqual({ state: 'good' });
});
