/** Fault codes read by UDS as records, from the bus to the published message. */
import { expect, onTestFinished, test } from 'vitest';
import { RecordedDisk } from '../../adapters/store/recorded-disk.ts';
import { type Answers, EVERY, type FaultCar, type Start, startFaultCar } from './car.ts';

const START = Date.UTC(2026, 0, 1, 12);
const READ = 8_000;
/** CAN identifier of the battery's answers. */
const BATTERY = 0x7e9;
const CONFIRMED = '19020D';

async function start(options: Start): Promise<FaultCar> {
  const car = await startFaultCar({ at: START, uds: { [BATTERY]: 'Battery' }, ...options });
  onTestFinished(() => car.drop());
  return car;
}

/** This control unit does not answer OBD. */
const faulty = (): Answers => ({
  [CONFIRMED]: '5902FF 0A0B9209',
  '19040A0B92FF': '59040A0B9209 01 01 F40D 32',
  '19060A0B92FF': '59060A0B9209 01 05',
});

test('a UDS fault code of a unit without OBD becomes a record with failure type, status bits and freeze frame', async () => {
  const car = await start({
    units: { [BATTERY]: faulty() },
    paths: ['odometer.mileage'],
    texts: { P0A0B: 'Inverter', 'P0A0B-92': 'Inverter: performance' },
  });
  car.give('odometer.mileage', 45_678);
  await car.pass(READ);
  const [record] = car.told('fault');
  expect(car.told('fault')).toEqual([
    {
      createdAt: record?.firstSeenAt,
      id: expect.any(String),
      active: true,
      code: 'P0A0B-92',
      unit: '7E9',
      unitName: 'Battery',
      group: 'Powertrain',
      status: ['Stored', 'TestFailed'],
      firstSeenAt: record?.lastSeenAt,
      lastSeenAt: expect.toSatisfy((at: number) => at > START),
      odometer: 45_678,
      text: 'Inverter: performance',
      freezeFrame: [{ name: 'VehicleSpeed', value: 50, unit: 'kilometersPerHour' }],
      snapshot: '0101F40D32',
      extendedData: '0105',
    },
  ]);
});

test('a changed status bit is sent, and a fault code that is gone ends its record', async () => {
  const battery = faulty();
  const car = await start({ units: { [BATTERY]: battery }, texts: { P0A0B: 'Inverter' } });
  await car.pass(READ);
  battery[CONFIRMED] = '5902FF 0A0B9208';
  await car.pass(EVERY + READ);
  battery[CONFIRMED] = '5902FF';
  await car.pass(EVERY + READ);
  const told = car.told('fault');
  expect(told.map(({ status, active, text }) => [status, active, text])).toEqual([
    [['Stored', 'TestFailed'], true, 'Inverter'],
    [['Stored'], true, 'Inverter'],
    [['Stored'], false, 'Inverter'],
  ]);
  expect(new Set(told.map(({ id }) => id)).size).toBe(1);
  expect(told[2]?.lastSeenAt).toBeGreaterThan((told[0]?.firstSeenAt ?? 0) + EVERY - READ);
});

test('codes of one control unit by SAE J1979 and by UDS do not end each other', async () => {
  const engine: Answers = { ...faulty(), '0101': '4101 81 00 00 00', '03': '43 01 0143', '07': '47 00', '0A': '4A 00' };
  const car = await start({ units: { [BATTERY]: engine } });
  await car.pass(2 * (EVERY + READ));
  const shown = () => car.told('fault').map(({ code, status, active }) => [code, status, active]);
  const both = [
    ['P0143', ['Stored'], true],
    ['P0A0B-92', ['Stored', 'TestFailed'], true],
  ];
  expect(shown()).toEqual(both);
  engine[CONFIRMED] = '5902FF';
  await car.pass(EVERY + READ);
  expect(shown()).toEqual([...both, ['P0A0B-92', ['Stored', 'TestFailed'], false]]);
  expect(car.view.all().find(({ code }) => code === 'P0143')?.active).toBe(true);
});

test('a silent control unit keeps its fault codes, and a power cut keeps their first time', async () => {
  const battery = faulty();
  const first = await startFaultCar({ at: START, units: { [BATTERY]: battery }, uds: { [BATTERY]: 'Battery' } });
  await first.pass(READ);
  const [before] = first.told('fault');
  await first.drop();
  const disk = new RecordedDisk(first.disk.after(first.disk.moments, (most) => most));
  const silent: Answers = {};
  const car = await start({ units: { [BATTERY]: silent }, disk, at: START + 3_600_000, boot: 2 });
  await car.pass(READ);
  expect(car.view.all()).toEqual([before]);
  Object.assign(silent, { [CONFIRMED]: '5902FF' });
  await car.pass(EVERY);
  expect(car.told('fault')).toMatchObject([{ id: before?.id, firstSeenAt: before?.firstSeenAt, active: false }]);
});

test('Geolocation privacy keeps snapshot bytes in the control unit, and Full privacy sends no request', async () => {
  const car = await start({ units: { [BATTERY]: faulty() }, paths: ['privacy.state'] });
  car.give('privacy.state', 2);
  await car.pass(EVERY);
  expect(car.asked).toEqual([]);
  car.give('privacy.state', 1);
  await car.pass(READ);
  const [record] = car.told('fault');
  expect(record).toMatchObject({ code: 'P0A0B-92', freezeFrame: [{ name: 'VehicleSpeed', value: 50 }] });
  expect(record).not.toHaveProperty('snapshot');
  expect(record).not.toHaveProperty('extendedData');
});

test('control units are read at ignition on, at the interval and by command, and never cleared', async () => {
  const battery: Answers = { [CONFIRMED]: '5902FF' };
  const car = await start({ units: { [BATTERY]: battery }, paths: ['ignition.type'] });
  const readings = () => car.asked.filter((one) => one === `7E9 ${CONFIRMED}`).length;
  car.give('ignition.type', 0);
  await car.pass(READ);
  expect(readings()).toBe(1);
  car.give('ignition.type', 2);
  await car.pass(READ);
  expect(readings()).toBe(2);
  await car.pass(EVERY);
  expect(readings()).toBe(3);
  Object.assign(battery, faulty());
  const done = car.readNow();
  await car.pass(READ);
  await done;
  expect(car.told('fault').map(({ code }) => code)).toEqual(['P0A0B-92']);
  const services = new Set(car.asked.map((one) => one.slice(4, 6)));
  expect([...services].sort()).toEqual(['01', '19']);
});
