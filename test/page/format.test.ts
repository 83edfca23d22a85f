import { expect, test } from 'vitest';
import { addressOfCar, carOfAddress } from '../../page/shared/addresses.ts';
import { numberOf, stepOf, textOf, unbroken } from '../../page/shared/format.ts';

test('a value has the decimals of its resolution, whatever was formatted before', () => {
  expect(numberOf(0)).toBe('0');
  expect(numberOf(0, 0.001)).toBe('0.000');
  expect(numberOf(0)).toBe('0');
  expect(numberOf(-1.5, 0.01)).toBe('−1.50');
});

test('engine speeds have no decimals and accelerations two, however fine the interface is', () => {
  expect(textOf(2208.25, stepOf('rpm', 0.125))).toBe('2,208');
  expect(textOf(0, stepOf('m/s²', 0.001))).toBe('0.00');
  expect(textOf(3.712, stepOf('V', 0.001))).toBe('3.712');
  expect(stepOf('rpm', undefined)).toBeUndefined();
});

test('a duration is worded, and a text that only looks like one is not', () => {
  expect(['PT30M', 'PT1H30M', 'P2DT4H', 'PT12.5S', 'PT0S'].map((one) => textOf(one))).toEqual([
    '30 min',
    '1 h 30 min',
    '2 d 4 h',
    '12.5 s',
    '0 s',
  ]);
  expect(['Petrol', 'P', 'PARK', 'P1Y'].map((one) => textOf(one))).toEqual(['Petrol', 'P', 'PARK', 'P1Y']);
});

test('a number and its unit stay on one line', () => {
  expect(unbroken('for 45 s: at least 20 %, at most 1 km/h')).toBe(
    'for 45\u00a0s: at least 20\u00a0%, at most 1\u00a0km/h',
  );
  expect(unbroken('the first 2 messages wait')).toBe('the first 2 messages wait');
});

test('an address leads to the car that it names, or to no car if it names none', () => {
  expect(carOfAddress(addressOfCar('VF3VGEBENCH000001', 'wire'))).toEqual({ vin: 'VF3VGEBENCH000001', view: 'wire' });
  expect(carOfAddress(addressOfCar('<img src=x>/"%'))).toEqual({ vin: '<img src=x>/"%', view: 'car' });
  expect(carOfAddress('#cars/VF3')).toEqual({ vin: 'VF3' });
  for (const nonsense of ['', '#cars', '#cars/%/car', '#cars/%4/car', '#cars/%ff/car']) {
    expect(carOfAddress(nonsense)).toEqual({});
  }
});
