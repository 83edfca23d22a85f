import { beforeEach, expect, test } from 'vitest';
import { renewalBefore, renewalOf } from '../../assembly/renewal.ts';

let now = 0;
let left: number | undefined;
let begun = 0;
let dial: () => void;
const after = (ms: number): number => {
  now += ms;
  dial();
  return begun;
};

beforeEach(() => {
  [now, left, begun] = [0, 0.9, 0];
  dial = renewalBefore({ left: () => left, now: () => now, begin: () => begun++ });
});

test('a car with a long-lived certificate does not renew it when it connects', () => {
  expect(after(0)).toBe(0);
  expect(after(3_600_000)).toBe(0);
  expect(after(86_400_000)).toBe(0);
});

test('a certificate with a third of its time left is renewed before the car connects', () => {
  left = 0.33;
  expect(after(0)).toBe(1);
});

test('an unreadable certificate is renewed', () => {
  left = undefined;
  expect(after(0)).toBe(1);
});

test('a car that the broker refuses asks the hub at most once an hour, whatever its clock shows', () => {
  expect(after(0)).toBe(0);
  expect(after(2_000)).toBe(1);
  for (let time = 0; time < 29; time++) expect(after(120_000)).toBe(1);
  expect(after(120_000)).toBe(2);
});

test('a car without a hub certificate renews nothing', () => {
  expect(renewalOf({ url: 'mqtts://broker', ca: 'a', cert: 'b', key: 'c' } as never, () => undefined)).toBeUndefined();
});
