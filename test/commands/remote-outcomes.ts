/**
 * Every kind of command with every outcome: simulated car, real agent, real broker. Impossible combinations state their
 * reason. All others are reached by a condition of the car or of its profile.
 */

import { renameSync } from 'node:fs';
import { expect } from 'vitest';
import type { InjectionTime, Scene } from '../../adapters/simulated/index.ts';
import type { LedgerData } from '../../agent/remotes/ledger.ts';
import type { Vehicle } from '../../assembly/vehicle.ts';
import { defined } from '../../protocol/defined.ts';
import { type FailureCause, failureCauses } from '../../protocol/errors.ts';
import { type RemoteType, remoteTypes } from '../../protocol/remote/table.ts';
import { madeOnce } from '../rig/run.ts';
import { makeKeys, type OrderOptions, RemoteCar } from './remote-car.ts';

export type Outcome = 'Success' | 'AlreadyDone' | FailureCause;
export const outcomes: readonly Outcome[] = ['Success', 'AlreadyDone', ...failureCauses];

/** Conditions that lead to an outcome. */
interface Way {
  /** Body of the command. Default: the usual body of its kind. */
  readonly body?: object | Uint8Array;
  readonly options?: (car: RemoteCar) => OrderOptions;
  readonly scene?: Partial<Scene>;
  /** A scene that happens when a part of the car is asked. */
  readonly meanwhile?: readonly [Partial<Scene>, InjectionTime];
  /** Time for which the car stays in its scene, ms. */
  readonly wait?: number;
  readonly before?: (car: RemoteCar) => Promise<unknown>;
  readonly ledger?: (now: number) => Partial<LedgerData>;
  /** The profile requires an untrue condition with this cause. */
  readonly profile?: true;
  /** States before the outcome. */
  readonly states?: readonly string[];
}

/** A kind with its usual body, and the part of the car and the action of the profile that it uses. */
interface Kind {
  readonly body: object;
  readonly action?: string;
  readonly part?: InjectionTime['asked'];
  readonly ways: Readonly<Partial<Record<Outcome, Way | string>>>;
}

const SENT = ['Accepted', 'SentToVehicle'];
const WOKEN = ['Accepted', 'WakingUpVehicle'];
/** A parked car, plugged in and not charging, without a key in it. */
const quiet: Partial<Scene> = { charging: false, keyPresent: false };
const opened: Partial<Scene> = { driverDoorOpen: true };
const switchedOn: Partial<Scene> = { ignition: 'StartUp' };

/** A car with a sleeping network. Without its transceiver it cannot be woken. */
const asleep: Way = { scene: { network: 'Asleep' }, wait: 6_000 };
const dead: Way = { scene: { network: 'Asleep', deaf: ['Network'] }, wait: 6_000 };

const moving: Way = { scene: { rolling: 30 }, states: SENT };
const noPart = 'it asks no part of the car for anything, and no action of it can be given conditions by a profile';
const byProfile: Way = { profile: true, states: SENT };

/** Ways for every kind. Times of an earlier run may be in the future, because a slow disk takes time of the car. */
const always = (type: RemoteType): Readonly<Partial<Record<Outcome, Way>>> => ({
  AlreadyDone: { before: (car) => car.order(type, kinds[type].body), states: SENT },
  GeneralError: { before: async (car) => car.refuseDisk() },
  WrongCommand: { body: Uint8Array.of(0) },
  VehicleConnectionTimeout: { options: (car) => ({ issued: car.clock.now() - 2_000, expires: car.clock.now() - 1 }) },
  MissingRights: { options: () => ({ key: `but-${type}` }) },
  NotPossibleDueToVehicleBatteryLevel: { scene: { battery12V: 19 } },
  NotPossibleDueToVehiclePrivacyLevel: { scene: { privacy: 'Full' } },
  TooManyWakeUpsOverMonth: { ...asleep, ledger: (now) => ({ wakeUps: new Array(100).fill(now - 60_000) }) },
  TooManyRequestInShortTime: {
    // Ten in each of the next thirty seconds, so that the limit is reached whenever the command arrives.
    ledger: (now) => ({
      accepted: Array.from({ length: 300 }, (_, n) => ({ type, at: now + Math.floor(n / 10) * 1000 })),
    }),
  },
  TooManyRequestSent: {
    ledger: (now) => ({ accepted: new Array(500).fill({ type, at: now - 3_600_000 }) }),
  },
  NotPossibleDueToVehicleStolenState: { before: (car) => car.order('Stolen', { stolen: true }) },
});

/** Ways for kinds that use a part of the car. */
const acting = (type: RemoteType): Readonly<Partial<Record<Outcome, Way>>> => {
  const { part, action } = kinds[type];
  const deaf = part === undefined ? {} : { deaf: [part] };
  return {
    Success: { states: SENT },
    VehicleError: { scene: deaf, states: SENT },
    SameActionInProgress: {
      scene: deaf,
      before: async (car) => {
        const id = await car.send(type, kinds[type].body);
        await car.until(() => car.states(id).includes('SentToVehicle'));
      },
    },
    // For other causes, the profile can require a condition.
    ...(action === undefined ? {} : Object.fromEntries(failureCauses.map((cause) => [cause, byProfile]))),
  };
};

const kinds: Readonly<Record<RemoteType, Kind>> = {
  WakeUp: {
    body: {},
    ways: {
      Success: { ...asleep, states: [...WOKEN, 'SentToVehicle'] },
      VehicleError: {
        ...dead,
        states: WOKEN,
        options: () => ({ id: 'interrupted' }),
        // The agent restarts while it wakes the car. The same command is then answered with the outcome.
        before: async (car) => {
          await car.send('WakeUp', {}, { id: 'interrupted' });
          await car.until(() => car.states('interrupted').includes('WakingUpVehicle'));
          await car.halt();
          await car.boot();
        },
      },
      VehicleConnectionTimeout: { ...dead, states: WOKEN },
      SameActionInProgress: {
        ...dead,
        before: async (car) => {
          const id = await car.send('WakeUp', {});
          await car.until(() => car.states(id).includes('WakingUpVehicle'));
        },
      },
      NotPossibleDueToVehiclePrivacyLevel: 'it is carried out in full privacy too: it shows nothing of the car',
      NotPossibleDueToVehicleStolenState: 'it is carried out in a stolen car too: a stolen car must be reachable',
      VehicleInUse: noPart,
      DoorsOpen: noPart,
      VehicleErrorOrCidInside: noPart,
      CidInside: noPart,
      ExternalChargingSystemError: noPart,
      VehicleChargingSystemError: noPart,
      VehicleIsNotLocked: noPart,
      CanceledByDriver: noPart,
    },
  },
  Doors: {
    body: { state: 'Locked' },
    action: 'doors.lock',
    part: 'Lock',
    ways: {
      VehicleInUse: {
        ...moving,
        body: { state: 'Unlocked' },
        before: (car) => car.order('Doors', { state: 'Locked' }),
      },
      DoorsOpen: { scene: { ...opened, deaf: ['Lock'] }, states: SENT },
      CidInside: { scene: { keyPresent: true, deaf: ['Lock'] }, states: SENT },
      VehicleErrorOrCidInside: { scene: { silent: ['BODY'], deaf: ['Lock'] }, states: SENT },
      CanceledByDriver: { scene: { deaf: ['Lock'] }, meanwhile: [opened, { asked: 'Lock', after: 300 }], states: SENT },
    },
  },
  Lights: {
    body: { on: true },
    action: 'lights.on',
    part: 'Hazard',
    ways: {
      VehicleInUse: moving,
      CanceledByDriver: { scene: { deaf: ['Hazard'] }, meanwhile: [switchedOn, { asked: 'Hazard' }], states: SENT },
    },
  },
  Horn: {
    body: { state: 'Activated' },
    action: 'horn.on',
    part: 'Horn',
    ways: {
      VehicleInUse: moving,
      CanceledByDriver: { scene: { deaf: ['Horn'] }, meanwhile: [switchedOn, { asked: 'Horn' }], states: SENT },
    },
  },
  ElectricBatteryChargingRequest: {
    body: { immediate: true },
    action: 'charging.start',
    part: 'Charger',
    ways: {
      ExternalChargingSystemError: { scene: { plugged: false }, states: SENT },
      VehicleChargingSystemError: { scene: { chargingFault: 'Failure' }, states: SENT },
      CanceledByDriver: {
        scene: { late: 2_000 },
        meanwhile: [{ plugged: false }, { asked: 'Charger', after: 100 }],
        states: SENT,
      },
    },
  },
  ThermalPreconditioning: {
    body: { airConditioning: { immediate: true } },
    action: 'preconditioning.start',
    part: 'Climate',
    ways: {
      VehicleInUse: moving,
      DoorsOpen: { scene: opened, states: SENT },
      CanceledByDriver: { meanwhile: [{ ignition: 'Start' }, { asked: 'Climate' }], states: SENT },
    },
  },
  Navigation: {
    body: { positions: [{ type: 'Point', coordinates: [2.35, 48.85] }] },
    action: 'navigation.send',
    part: 'Navigation',
    ways: {
      AlreadyDone: 'a destination is handed over each time: the car does not say which one it has',
    },
  },
  Stolen: {
    body: { immobilization: { activate: true } },
    action: 'immobilization.on',
    part: 'Immobilizer',
    ways: {
      // A stolen car is immobilized even with a low service battery or under privacy. The profile can forbid it.
      NotPossibleDueToVehicleBatteryLevel: byProfile,
      NotPossibleDueToVehiclePrivacyLevel: byProfile,
      NotPossibleDueToVehicleStolenState: { body: { trackingPeriod: { running: 10 } }, states: SENT },
      VehicleInUse: moving,
      CanceledByDriver: {
        scene: { deaf: ['Immobilizer'] },
        meanwhile: [switchedOn, { asked: 'Immobilizer' }],
        states: SENT,
      },
    },
  },
  Immobilization: {
    body: { activate: true },
    action: 'immobilization.on',
    part: 'Immobilizer',
    ways: {
      // A stolen car is immobilized nevertheless. The profile can forbid it.
      NotPossibleDueToVehicleStolenState: byProfile,
      VehicleInUse: moving,
      CanceledByDriver: {
        scene: { deaf: ['Immobilizer'] },
        meanwhile: [switchedOn, { asked: 'Immobilizer' }],
        states: SENT,
      },
    },
  },
};

/** Additional ways to outcomes that already have one. */
const also: readonly (readonly [RemoteType, Outcome, Way])[] = [
  [
    'ElectricBatteryChargingRequest',
    'ExternalChargingSystemError',
    { scene: { chargingFault: 'NoPower' }, states: SENT },
  ],
  [
    'ThermalPreconditioning',
    'DoorsOpen',
    { meanwhile: [{ climateFault: 'HoodOpened' }, { asked: 'Climate' }], states: SENT },
  ],
  [
    'ThermalPreconditioning',
    'VehicleError',
    { meanwhile: [{ climateFault: 'Defect' }, { asked: 'Climate' }], states: SENT },
  ],
  [
    'Navigation',
    'VehicleError',
    {
      // A confirmation that is still shown for the last destination does not confirm this one.
      before: async (car) => {
        await car.order('Navigation', kinds.Navigation.body);
        car.simulation.inject({ silent: ['NAVIGATION'] });
        await car.pass(100);
      },
      states: SENT,
    },
  ],
  ['Navigation', 'Success', { before: (car) => car.order('Navigation', kinds.Navigation.body), states: SENT }],
  ['Stolen', 'Success', { body: { stolen: true }, states: SENT }],
  [
    'Stolen',
    'AlreadyDone',
    { body: { stolen: true }, before: (car) => car.order('Stolen', { stolen: true }), states: SENT },
  ],
  [
    'Stolen',
    'Success',
    {
      body: { trackingPeriod: { running: 10 } },
      before: (car) => car.order('Stolen', { stolen: true }),
      states: SENT,
    },
  ],
  ['Immobilization', 'Success', { before: (car) => car.order('Stolen', { stolen: true }), states: SENT }],
  ['Doors', 'Success', { ...asleep, states: [...WOKEN, 'CheckingVehicle', 'SentToVehicle'] }],
  ['Doors', 'Success', { scene: { late: 2_000 }, states: SENT }],
  ['Doors', 'Success', { scene: opened, meanwhile: [switchedOn, { asked: 'Lock' }], states: SENT }],
  ['Doors', 'VehicleError', { scene: { late: 6_000 }, states: SENT }],
  ['Horn', 'VehicleInUse', { scene: { silent: ['MOTION'] }, wait: 6_000, states: SENT }],
  [
    'ElectricBatteryChargingRequest',
    'Success',
    { body: { preferences: { level: 'Level2', type: 'Partial' } }, states: SENT },
  ],
  [
    'ElectricBatteryChargingRequest',
    'AlreadyDone',
    { body: { immediate: false }, scene: { plugged: false }, states: SENT },
  ],
];

function wayOf(type: RemoteType, outcome: Outcome): Way | string | undefined {
  const own = kinds[type].ways[outcome];
  if (own !== undefined) return own;
  const general = always(type)[outcome];
  return general ?? (kinds[type].action === undefined ? undefined : acting(type)[outcome]);
}

export const table = remoteTypes.flatMap((type) =>
  outcomes.map((outcome) => [type, outcome, wayOf(type, outcome)] as const),
);
export const cases = [...table, ...also].flatMap(([type, outcome, way]) =>
  typeof way === 'object' ? [[type, outcome, way] as const] : [],
);

async function carFor(url: string, type: RemoteType, outcome: Outcome, way: Way): Promise<RemoteCar> {
  const { ledger, profile } = way;
  const keys = await madeOnce('remote-keys', async (path) => renameSync(await makeKeys(), path));
  const car = await RemoteCar.start({
    url,
    keys,
    ...defined({ ledger }),
    ...(profile === undefined
      ? {}
      : { profile: (bench) => demanding(bench, kinds[type].action as string, outcome as FailureCause) }),
  });
  car.simulation.inject({ ...quiet, ...way.scene });
  if (way.meanwhile !== undefined) car.simulation.inject(...way.meanwhile);
  await car.pass(way.wait ?? 1_200);
  return car;
}

/** The profile requires night, and it is day. */
function demanding(profile: Vehicle['profile'], action: string, cause: FailureCause): Vehicle['profile'] {
  const command = profile.commands[action];
  if (command === undefined) throw new Error(`the profile has no ${action}`);
  const requires = [{ path: 'environment.luminosity.day', equals: false, cause }];
  return { ...profile, commands: { ...profile.commands, [action]: { ...command, requires } } };
}

/** Sends the command and compares all received states. The schema has already checked them. */
export async function reached(url: string, type: RemoteType, outcome: Outcome, way: Way): Promise<void> {
  const car = await carFor(url, type, outcome, way);
  try {
    await way.before?.(car);
    const options = way.options?.(car);
    const id = options?.id ?? crypto.randomUUID();
    const states = await car.order(type, way.body ?? kinds[type].body, { ...options, id });
    // Navigation reports nothing before it is sent.
    const quietly = (state: string) => type === 'Navigation' && ['Accepted', 'WakingUpVehicle'].includes(state);
    expect(states).toEqual([...(way.states ?? []).filter((state) => !quietly(state)), outcome]);
    for (const report of car.reports(id)) {
      expect(report.type).toBe(type);
      expect(report.failureCause !== undefined).toBe(report.status === 'Failed');
    }
  } finally {
    await car.close();
  }
}
