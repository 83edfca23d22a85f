/** A command that a control unit carries out by diagnostics, from the cloud through the agent and back. */
import { rmSync } from 'node:fs';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import type { Vehicle } from '../../assembly/vehicle.ts';
import { commands, type Manner, networkOf, S3 } from '../adapters/obd/uds/unit.ts';
import { AedesRig } from '../rig/aedes.ts';
import { finalStates, makeKeys, RemoteCar } from './remote-car.ts';

const SENT = ['Accepted', 'SentToVehicle'];
const lights = { on: true };

/** The lamps are an output of a control unit, not set by frames. */
function diagnosed(profile: Vehicle['profile']): Vehicle['profile'] {
  const { confirm } = profile.commands['lights.on'] ?? {};
  if (confirm === undefined) throw new Error('the profile has no lights.on');
  const { uds, within } = commands['lights.on'];
  return {
    ...profile,
    commands: { ...profile.commands, 'lights.on': { uds: { ...uds, line: 1 }, confirm, within, line: 1 } },
  };
}

let broker: AedesRig;
let keys: string;
let car: RemoteCar;
let network: ReturnType<typeof networkOf>;

beforeAll(async () => {
  broker = new AedesRig();
  await broker.start();
  keys = await makeKeys();
});

afterAll(async () => {
  await broker.stop();
  rmSync(keys, { recursive: true, force: true });
});

/** If `light` is false, the lamps obey but the car does not show it. */
async function start(light = true): Promise<void> {
  car = await RemoteCar.start({
    url: broker.url,
    keys,
    profile: diagnosed,
    diagnosed: (clock, simulation) => {
      network = networkOf(clock, { shows: (on) => simulation.inject({ indicator: on && light ? 'Right' : 'None' }) });
      return network.requesters;
    },
  });
}

afterEach(() => car.close());

describe('outcomes of diagnostic commands', () => {
  const cases: [what: string, manners: Manner[], outcome: string, taken: number][] = [
    ['the control unit obeys', [], 'Success', 1],
    ['the control unit obeys without an answer', ['proper', 'proper', 'proper', 'mute'], 'Success', 1],
    [
      'the control unit confirms but the car does not show it',
      ['proper', 'proper', 'proper', { raw: Uint8Array.of(0x6f, 0xd0, 0x10, 3) }],
      'VehicleError',
      0,
    ],
    ['the control unit does not answer', Array<Manner>(6).fill('deaf'), 'VehicleError', 0],
    ['the engine runs', ['proper', 'proper', 'proper', { refuse: 0x83 }], 'VehicleInUse', 0],
    [
      'the voltage is too low',
      ['proper', 'proper', 'proper', { refuse: 0x93 }],
      'NotPossibleDueToVehicleBatteryLevel',
      0,
    ],
    ['the control unit has no such output', ['proper', 'proper', 'proper', { refuse: 0x31 }], 'WrongCommand', 0],
    ['the control unit rejects the key', ['proper', 'proper', { refuse: 0x35 }], 'VehicleError', 0],
  ];
  test.each(cases)('a diagnostic command gets its outcome when %s', async (_, manners, outcome, taken) => {
    await start();
    network.unit.manners = [...manners];
    expect(await car.order('Lights', lights)).toEqual([...SENT, outcome]);
    expect(network.unit).toMatchObject({ idle: true, taken, violations: [] });
  });

  test('a diagnostic command fails when the car drives off while the control unit is being unlocked', async () => {
    await start();
    network.unit.manners = ['proper', 'proper', { late: 450 }];
    const id = await car.send('Lights', lights);
    await car.until(() => network.unit.requests.length === 3);
    car.simulation.inject({ rolling: 30 });
    await car.until(() => car.reports(id).some(({ status }) => finalStates.has(status)));
    expect(car.states(id)).toEqual([...SENT, 'VehicleInUse']);
    expect(network.unit).toMatchObject({ idle: true, taken: 0 });
  });

  test('a diagnostic command fails when only its own bus sleeps', async () => {
    await start();
    network.talk(false);
    await car.pass(3_500);
    const asked = network.bus.sent.length;
    expect(await car.order('Lights', lights)).toEqual(['Accepted', 'WakingUpVehicle', 'VehicleConnectionTimeout']);
    expect(network.bus.sent.length).toBe(asked);
  });
});

describe('diagnostic commands in progress when the agent ends', () => {
  async function underWay(): Promise<[id: string, again: Uint8Array]> {
    const [id, payload] = await car.sign('Lights', lights);
    await car.cloud.publish(`vigie/1/${car.vin}/down/remote`, payload);
    await car.until(() => network.unit.controlled);
    expect(car.states(id)).toEqual(SENT);
    return [id, payload];
  }

  /** Checks that the command has one end after the next start, and that no action was repeated. */
  async function resolved(id: string, payload: Uint8Array): Promise<void> {
    await car.boot();
    await car.until(() => car.reports(id).some(({ status }) => finalStates.has(status)));
    const told = car.states(id);
    expect(told.at(-1)).toBe('VehicleError');
    await car.cloud.publish(`vigie/1/${car.vin}/down/remote`, payload);
    await car.until(() => car.states(id).length > told.length);
    expect(car.states(id).at(-1)).toBe('VehicleError');
    expect(network.unit).toMatchObject({ idle: true, taken: 1, violations: [] });
    // Another command is carried out.
    await car.order('Lights', lights);
    expect(network.unit).toMatchObject({ idle: true, taken: 2, violations: [] });
  }

  test('an agent that stops in order returns control before it ends', async () => {
    await start(false);
    const [id, payload] = await underWay();
    await car.halt();
    expect(network.unit.idle).toBe(true);
    expect(network.unit.requests.slice(-2)).toEqual(['2FD01000', '1001']);
    expect(car.states(id)).toEqual(SENT);
    await resolved(id, payload);
  });

  test('after a power cut the control unit releases its output itself', async () => {
    await start(false);
    const [id, payload] = await underWay();
    // From here on no frame of the agent arrives.
    network.bus.fate = () => [];
    await car.halt();
    await car.pass(S3);
    expect(network.unit.idle).toBe(true);
    expect(network.unit.requests).not.toContain('2FD01000');
    network.bus.fate = () => [1];
    await car.pass(1_000);
    await resolved(id, payload);
  });
});
