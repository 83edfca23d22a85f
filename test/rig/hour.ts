/** An hour of the bench car as published by its agent, with custom signals, a collision and the frames around it. */
import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { type CloudLink, createAgent } from '../../assembly/library/index.ts';
import { simulatedCar, VirtualClock } from '../../assembly/library/testing.ts';
import { madeOnce } from './run.ts';

const VIN = 'VF3VGEBENCH000001';
const bench = fileURLToPath(new URL('../../config/vehicles/bench', import.meta.url));
const additions = `
signals:
  Vehicle.Test.Motion.*: { signal: MOTION.*, interval: 1s }
  Vehicle.Test.Modes.*: { signal: MODES.* }
captures:
  collision: { before: 5s, after: 5s }
`;
const MINUTE = 60_000;

export interface HourMessage {
  readonly topic: string;
  /** Hexadecimal. */
  readonly payload: string;
}

/** Messages in the order of publication. The hour is run once for all test files. */
export async function hourOfTheBench(): Promise<readonly HourMessage[]> {
  const file = await madeOnce('hour.json', async (path) => writeFileSync(path, JSON.stringify(await live())));
  return JSON.parse(readFileSync(file, 'utf8'));
}

async function live(): Promise<HourMessage[]> {
  const profile = mkdtempSync(join(tmpdir(), 'vigie-hour-'));
  cpSync(bench, profile, { recursive: true });
  writeFileSync(join(profile, 'profile.yaml'), additions, { flag: 'a' });
  const messages: HourMessage[] = [];
  const link: CloudLink = {
    connected: true,
    open: (events) => events.up(),
    publish: async ({ topic, payload }) => {
      messages.push({ topic, payload: Buffer.from(payload).toString('hex') });
    },
    close: async () => undefined,
  };
  const clock = new VirtualClock();
  const car = simulatedCar({ clock });
  const agent = await createAgent({ vin: VIN, profile, sources: [car], link, clock });
  await agent.start();
  await clock.settle(52 * MINUTE, 1000);
  car.play('crash');
  await clock.settle(8 * MINUTE, 1000);
  await agent.stop();
  rmSync(profile, { recursive: true });
  return messages;
}
