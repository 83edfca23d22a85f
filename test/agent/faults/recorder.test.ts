/** Fault codes of control units as records, from the bus to the published message. */
import { expect, onTestFinished, test } from 'vitest';
import { RecordedDisk } from '../../adapters/store/recorded-disk.ts';
import { type Answers, EVERY, type FaultCar, type Start, startFaultCar } from './car.ts';

const START = Date.UTC(2026, 0, 1, 12);
/** A reading takes some seconds, because each functional request waits for further control units. */
const READ = 8_000;

async function start(options: Start): Promise<FaultCar> {
  const car = await startFaultCar({ at: START, ...options });
  onTestFinished(() => car.drop());
  return car;
}

/** An engine with one stored and one pending code. */
const faulty = (): Answers => ({
  '0101': '4101 81 00 00 00',
  '03': '43 01 0143',
  '07': '47 01 C100',
  '020200': '4202 00 0143',
  '020000': '4200 00 48 08 00 00',
  '020500': '4205 00 7B',
  '020D00': '420D 00 32',
});
const sound = (): Answers => ({ '0101': '4101 00 00 00 00', '03': '43 00', '07': '47 00', '0A': '4A 00' });

test('a new fault code becomes a record with list, group, text, odometer and freeze frame', async () => {
  const car = await start({
    units: { 2024: faulty(), 2025: sound() },
    paths: ['odometer.mileage'],
    texts: { P0143: 'Lambda sensor 3: voltage too low' },
  });
  car.give('odometer.mileage', 45_678);
  await car.pass(READ);
  const at = car.told('fault')[0]?.createdAt as number;
  expect(at).toBeGreaterThan(START);
  expect(car.told('fault')).toEqual([
    {
      createdAt: at,
      id: expect.any(String),
      active: true,
      code: 'P0143',
      unit: '7E8',
      group: 'Powertrain',
      status: ['Stored'],
      firstSeenAt: at,
      lastSeenAt: at,
      odometer: 45_678,
      text: 'Lambda sensor 3: voltage too low',
      freezeFrame: [
        { name: 'CoolantTemperature', value: 83, unit: 'celsius' },
        { name: 'VehicleSpeed', value: 50, unit: 'kilometersPerHour' },
      ],
    },
    expect.objectContaining({ code: 'U0100', group: 'Network', status: ['Pending'], active: true }),
  ]);
  expect(car.told('fault')[1]).not.toHaveProperty('text');
  expect(car.told('fault')[1]).not.toHaveProperty('freezeFrame');
});

test('a fault code that changes lists or disappears updates its record, and an unchanged one is sent once', async () => {
  const engine = faulty();
  const car = await start({ units: { 2024: engine } });
  await car.pass(READ);
  const [first] = car.told('fault');
  Object.assign(engine, { '07': '47 00', '0A': '4A 01 0143' });
  await car.pass(EVERY + READ);
  const changed = car.told('fault').slice(2);
  expect(changed.map(({ code, status, active }) => [code, status, active])).toEqual([
    ['P0143', ['Stored', 'Permanent'], true],
    ['U0100', ['Pending'], false],
  ]);
  expect(changed[0]).toMatchObject({ id: first?.id, firstSeenAt: first?.firstSeenAt, freezeFrame: first?.freezeFrame });
  expect(changed[0]?.lastSeenAt).toBeGreaterThan((first?.lastSeenAt ?? 0) + EVERY - READ);
  await car.pass(2 * (EVERY + READ));
  expect(car.told('fault')).toHaveLength(4);
  // The code was seen again: local readers see that although nothing was sent.
  const kept = car.view.all().find(({ code }) => code === 'P0143');
  expect(kept?.lastSeenAt).toBeGreaterThanOrEqual(START + 3 * EVERY);
  Object.assign(engine, sound());
  await car.pass(EVERY + READ);
  const gone = car.told('fault')[4];
  expect(gone).toMatchObject({ id: first?.id, active: false, status: ['Stored', 'Permanent'] });
  expect(gone?.updatedAt).toBeGreaterThan(gone?.lastSeenAt ?? 0);
  expect(
    car.view
      .all()
      .map(({ code, active }) => [code, active])
      .sort(),
  ).toEqual([
    ['P0143', false],
    ['U0100', false],
  ]);
});

test('a fault code that returns is a new record', async () => {
  const engine = faulty();
  const car = await start({ units: { 2024: engine } });
  await car.pass(READ);
  Object.assign(engine, sound());
  await car.pass(EVERY + READ);
  Object.assign(engine, faulty());
  await car.pass(EVERY + READ);
  const [first, , , , again] = car.told('fault');
  expect(again).toMatchObject({ code: 'P0143', active: true });
  expect(again?.id).not.toBe(first?.id);
  expect(again?.firstSeenAt).toBeGreaterThan((first?.firstSeenAt ?? 0) + EVERY);
});

test('a control unit or list that does not answer keeps its fault codes', async () => {
  const engine = faulty();
  const gearbox: Answers = { '0101': '4101 00 00 00 00', '03': '43 01 0700' };
  const car = await start({ units: { 2024: engine, 2025: gearbox } });
  await car.pass(READ);
  delete engine['07'];
  for (const request of Object.keys(gearbox)) delete gearbox[request];
  await car.pass(EVERY + READ);
  expect(car.told('fault')).toHaveLength(3);
  expect(car.view.all().map(({ active }) => active)).toEqual([true, true, true]);
});

test('an active fault code keeps its first time and id after a power cut, and nothing is sent twice', async () => {
  const engine = faulty();
  const first = await startFaultCar({ at: START, units: { 2024: engine } });
  await first.pass(READ);
  const before = first.told('fault').find(({ code }) => code === 'P0143');
  await first.drop();
  const disk = new RecordedDisk(first.disk.after(first.disk.moments, (most) => most));
  const car = await start({ units: { 2024: engine }, disk, at: START + 3_600_000, boot: 2 });
  await car.pass(READ);
  expect(car.asked).toContain('7E8 03');
  expect(car.told('fault')).toEqual([]);
  expect(car.view.all().find(({ code }) => code === 'P0143')).toEqual({
    ...before,
    lastSeenAt: expect.toSatisfy((at: number) => at >= START + 3_600_000),
  });
  Object.assign(engine, sound());
  await car.pass(EVERY + READ);
  expect(car.told('fault').find(({ code }) => code === 'P0143')).toMatchObject({
    id: before?.id,
    firstSeenAt: before?.firstSeenAt,
    active: false,
  });
});

const readings = (car: FaultCar): number => car.asked.filter((one) => one === '7E8 03').length;

test('codes are read at the start, at the interval, at ignition on and when control units are found', async () => {
  const car = await start({ units: { 2024: sound() }, paths: ['ignition.type'] });
  car.give('ignition.type', 2);
  await car.pass(READ);
  expect(readings(car)).toBe(1);
  await car.pass(EVERY - READ);
  expect(readings(car)).toBe(1);
  await car.pass(READ);
  expect(readings(car)).toBe(2);
  car.give('ignition.type', 0);
  await car.pass(READ);
  expect(readings(car)).toBe(2);
  car.give('ignition.type', 1);
  await car.pass(READ);
  expect(readings(car)).toBe(3);
  car.give('ignition.type', 2);
  await car.pass(READ);
  expect(readings(car)).toBe(3);
  car.found();
  await car.pass(READ);
  expect(readings(car)).toBe(4);
});

test('a car that is off is asked every half minute until it answers, with one log entry', async () => {
  const engine: Answers = {};
  const car = await start({ units: { 2024: engine } });
  await car.pass(95_000);
  expect(car.asked.filter((one) => one === '7E8 0101')).toHaveLength(4);
  expect(car.log.lines.filter(({ event }) => event === 'faults.unread')).toHaveLength(1);
  Object.assign(engine, faulty());
  await car.pass(30_000);
  expect(car.told('fault')).toHaveLength(2);
});

test('under Full privacy no control unit is asked, and recording resumes when privacy ends', async () => {
  const car = await start({ units: { 2024: faulty() }, paths: ['privacy.state'] });
  car.give('privacy.state', 2);
  await car.pass(EVERY + READ);
  expect(car.asked).toEqual([]);
  car.give('privacy.state', 0);
  await car.pass(READ);
  expect(car.told('fault')).toHaveLength(2);
});

test('the emission lamp of any control unit raises the alert EngineFault until all lamps are off', async () => {
  const engine = sound();
  const gearbox = { ...sound(), '0101': '4101 80 00 00 00' };
  const car = await start({ units: { 2024: engine, 2025: gearbox } });
  await car.pass(10_000);
  expect(car.told('alert').map(({ type, active }) => [type, active])).toEqual([['EngineFault', true]]);
  Object.assign(gearbox, sound());
  await car.pass(EVERY + 10_000);
  expect(car.told('alert').map(({ type, active }) => [type, active])).toEqual([
    ['EngineFault', true],
    ['EngineFault', false],
  ]);
});

test('a profile that maps EngineFault itself is the only source of that alert', async () => {
  const engine = { ...sound(), '0101': '4101 80 00 00 00' };
  const car = await start({ units: { 2024: engine }, paths: ['alerts.EngineFault'] });
  await car.pass(10_000);
  expect(readings(car)).toBe(1);
  expect(car.told('alert')).toEqual([]);
  car.give('alerts.EngineFault', 1);
  await car.pass(10_000);
  expect(car.told('alert')).toMatchObject([{ type: 'EngineFault', active: true }]);
});

test('a command reads the codes at once and ends when they are recorded', async () => {
  const engine = sound();
  const car = await start({ units: { 2024: engine } });
  await car.pass(READ);
  expect(car.told('fault')).toEqual([]);
  Object.assign(engine, faulty());
  let isDone = false;
  const done = car.readNow().then(() => {
    isDone = true;
  });
  await car.pass(500);
  expect(isDone).toBe(false);
  await car.pass(READ);
  await done;
  expect(car.told('fault').map(({ code }) => code)).toEqual(['P0143', 'U0100']);
});

test('a command during a reading starts another reading after it', async () => {
  const car = await start({ units: { 2024: sound() } });
  const readings = (): number => car.asked.filter((one) => one === '7E8 0101').length;
  while (car.asked.length === 0) await car.pass(10);
  const done = car.readNow();
  await car.pass(2 * READ);
  await done;
  expect(readings()).toBe(2);
  await car.pass(2 * READ);
  expect(readings()).toBe(2);
});

test('a read command fails if no control unit answers, under Full privacy, and when the unit stops', async () => {
  const units: Record<number, Answers> = { 2024: {} };
  const car = await start({ units, paths: ['privacy.state'] });
  const silent = car.readNow().catch((error: unknown) => error);
  await car.pass(READ);
  expect(await silent).toMatchObject({
    code: 'command.unconfirmed',
    message: expect.stringMatching(/no control unit/),
  });
  const hidden = car.readNow().catch((error: unknown) => error);
  car.give('privacy.state', 2);
  await car.pass(2_000);
  expect(await hidden).toMatchObject({ code: 'command.private' });
  await expect(car.readNow()).rejects.toMatchObject({ code: 'command.private' });
  car.give('privacy.state', 0);
  const stopped = car.readNow().catch((error: unknown) => error);
  const ended = car.agent.stop();
  expect(await stopped).toMatchObject({ code: 'command.interrupted' });
  await car.pass(10_000);
  await ended;
});
