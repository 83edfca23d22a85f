import { expect, test } from 'vitest';
import { labelOfEvent } from '../../page/hub/event-words.ts';
import { codeInWords, pathInWords, preferredLanguage, valueInWords } from '../../page/shared/words.ts';
import type { FleetEvent } from '../../protocol/interface/own/hub-overview.ts';

test('the language is the chosen one, else the browser’s first with words, else English', () => {
  expect(preferredLanguage('fr', ['de-AT'])).toBe('fr');
  expect(preferredLanguage(undefined, ['pt-BR', 'de-AT', 'fr'])).toBe('de');
  expect(preferredLanguage('nonsense', ['FR'])).toBe('fr');
  expect(preferredLanguage(undefined, ['pt', ''])).toBe('en');
});

test('abbreviations of the interface have words, and unknown names are split into words', () => {
  expect(pathInWords('adas.rlka')).toBe('Lane keeping, right');
  expect(valueInWords('wipingBlades.speed', 'Low')).toBe('slow');
  expect(valueInWords('adas.artiv', 'Unavailable')).toBe('not available');
  expect(valueInWords('kinetic.speed', 7.5, 0.1)).toBe('7.5');
  expect(pathInWords('custom.seatHeater.level')).toBe('Seat heater, level');
  expect(valueInWords('adas.artiv', 'Newer')).toBe('Newer');
  expect(codeInWords('alerts', 'SunroofLeaks')).toBe('sunroof leaks');
});

test('events of cars are described in words', () => {
  const textOf = (kind: FleetEvent['kind'], body: FleetEvent['body']): string =>
    labelOfEvent({ id: 1, vin: 'V', kind, at: 0, received: 0, body }).text;
  expect(textOf('alert', { type: 'CoolantLevellow', active: true })).toBe('warns: coolant low');
  expect(textOf('alarm', { trigger: { type: 'VolumetricBreakIn' } })).toBe('alarm: somebody inside');
  expect(textOf('alarm', { status: { activation: 'Active' } })).toBe('alarm armed');
  expect(textOf('collision', { details: [{ side: 'Front', severity: 'Major' }] })).toBe(
    'had a collision: at the front, severe, airbags fired',
  );
  expect(textOf('remote', { type: 'Horn', status: 'Failed', failureCause: 'VehicleInUse' })).toBe(
    'Horn: the car is in use',
  );
});
