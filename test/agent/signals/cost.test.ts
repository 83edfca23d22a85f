/** Size of a reading on the wire. */
import { expect, test } from 'vitest';
import { encodeMessage } from '../../../protocol/cbor/message.ts';
import { slotByPath } from '../../../protocol/slots.ts';
import { bareProfile } from '../../rig/bare-profile.ts';
import { custom, type Run, run } from './car.ts';

/**
 * Extra bytes of a message of custom signals compared with one of paths: the catalog hash and a second set of columns.
 */
const BESIDE = 18;
const READINGS = 3_000;

/** A random walk in hundredths. */
function walk(): number[] {
  let state = 7;
  let value = 5_000;
  return Array.from({ length: READINGS }, () => {
    state = (Math.imul(state, 1103515245) + 12345) >>> 0;
    value += ((state >>> 8) % 41) - 20;
    return value;
  });
}

async function cost(car: Run, signal: string): Promise<{ messages: number; bytes: number }> {
  for (const value of walk()) {
    car.give({ [signal]: value / 100 });
    await car.pass(100);
  }
  await car.pass(5_000);
  const telemetry = car.published.filter(({ message }) => message.kind === 'telemetry');
  await car.drop();
  return {
    messages: telemetry.length,
    bytes: telemetry.reduce((sum, { message }) => sum + encodeMessage(message).length, 0),
  };
}

test('a custom signal costs as many bytes as a path with the same values, plus the catalog hash', async () => {
  const source = {
    scale: 1,
    offset: 0,
    invalid: [],
    priority: 0,
    message: 'M',
    path: 'kinetic.speed',
    signal: 'Speed',
  };
  const rule = { interval: 0, deadBand: 0, heartbeat: 60_000 };
  const profile = { ...bareProfile([source]), telemetry: { default: rule } };
  const resolution = slotByPath.get('kinetic.speed')?.resolution as number;
  const path = await cost(await run([], { profile }), 'Speed');
  const signal = await cost(await run([custom('Vehicle.Speed', { raw: false, resolution })]), 'Vehicle.Speed');
  expect(path.messages).toBeGreaterThan(50);
  expect(signal.messages).toBe(path.messages);
  const beside = (signal.bytes - path.bytes) / path.messages;
  expect(beside).toBeLessThanOrEqual(BESIDE);
});
