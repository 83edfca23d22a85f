import { expect, it } from 'vitest';
import { FixReadings } from '../../../adapters/gnss/index.ts';
import type { ReadingSink } from '../../../agent/ports.ts';

it('a fix delivers its wanted signals by their index, then is settled', () => {
  const calls: unknown[] = [];
  const sink: ReadingSink = {
    reading: (...reading) => calls.push(reading),
    settled: (at) => calls.push(at),
    alive: () => calls.push('alive'),
  };
  const wanted = [
    { message: 'ENGINE', signal: 'speed' },
    ...['longitude', 'latitude', 'fix', 'satellites', 'altitude', 'pressure'].map((signal) => ({
      message: 'GNSS',
      signal,
    })),
  ];
  const readings = new FixReadings(wanted, sink);
  readings.deliver({ latitude: 48.5, longitude: -3.25, speed: 10, fix: '3D', satellites: 8 }, 1000);
  readings.deliver({ fix: 'none' }, 2000);
  expect(calls).toEqual([
    [1, -3.25, -3.25, 1000],
    [2, 48.5, 48.5, 1000],
    [3, 3, 3, 1000],
    [4, 8, 8, 1000],
    1000,
    [3, 0, 0, 2000],
    2000,
  ]);
});
