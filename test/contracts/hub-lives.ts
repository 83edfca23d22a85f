/** Messages of a car with a wiped data directory, at a hub on any database. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { type HubOptions, startHub } from '../../hub/start/hub.ts';
import { classOf } from '../../protocol/classes.ts';
import { TestClock } from '../commands/remote-car.ts';
import { DrivingCar } from '../hub/driving-car.ts';
import { MemoryLog } from '../rig/log.ts';

// biome-ignore lint/suspicious/noExplicitAny: parsed JSON, which only the expectations read.
type Json = any;

const VIN = 'VF3VGEHVBL0000001';
/** Number of messages in the first start after the directory was wiped. */
const MESSAGES = 11;

/** Database of a hub whose directory is `data`. */
export interface StoredMessages {
  readonly options: Pick<HubOptions, 'database'>;
  /** Payloads of all messages of a stopped hub. */
  payloads(data: string): Promise<readonly Uint8Array[]>;
}

export function hubLivesContract(name: string, create: () => Promise<StoredMessages>): void {
  test(`a hub on ${name} stores every message of a car whose data directory was wiped`, async () => {
    const data = mkdtempSync(join(tmpdir(), 'vigie-hub-lives-'));
    onTestFinished(() => rmSync(data, { recursive: true, force: true }));
    const database = await create();
    const clock = new TestClock();
    const log = new MemoryLog();
    const hub = await startHub({ data, ...database.options, port: 0, http: 0, clock, log });
    onTestFinished(() => hub.stop());
    const car = new DrivingCar({ vin: VIN, url: hub.broker, scenario: 'parked', clock });
    onTestFinished(() => car.remove());
    await car.start();
    await car.until(() => car.acknowledged.length >= 2 * MESSAGES);
    await car.wipe();

    const before = car.acknowledged.length;
    await car.start();
    await car.until(() => car.acknowledged.length >= before + MESSAGES);
    await car.stop();
    const shown = await fetch(`${hub.interface.url}/vigie/v1/vehicles/${VIN}/numbers`);
    const { lives, classes } = (await shown.json()) as Json;
    await hub.stop();

    const boots = [...new Set(car.acknowledged.map(({ message }) => message.boot))];
    expect(boots).toHaveLength(2);
    expect(lives.map(({ first }: Json) => first)).toEqual(boots);
    expect(log.lines.filter(({ event }) => event === 'hub.life.new')).toMatchObject([
      { level: 'warn', fields: { vin: VIN, first: boots[1] } },
    ]);
    expect(log.lines.filter(({ event }) => event === 'hub.number.conflict')).toEqual([]);
    const ofStatus = car.acknowledged.filter(({ message }) => message.boot === boots[1] && classOf(message.kind) === 3);
    const last = Math.max(...ofStatus.map(({ message }) => message.seq));
    expect(classes.find((one: Json) => one.class === 3)).toMatchObject({ arrived: [[0, last]], missing: [] });

    const stored = new Set((await database.payloads(data)).map((payload) => Buffer.from(payload).toString('hex')));
    const lost = car.acknowledged.filter(({ payload }) => !stored.has(Buffer.from(payload).toString('hex')));
    expect(lost.map(({ message: { kind, seq, boot } }) => `${kind} ${seq} of start ${boot}`)).toEqual([]);
  });
}
