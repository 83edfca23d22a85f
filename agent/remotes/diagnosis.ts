/** Why the car did not do what it was asked to: what it shows meanwhile, by action. */
import { channelByPath } from '../../protocol/channels.ts';
import type { ErrorCode } from '../../protocol/errors.ts';
import { type Slot, type SlotValue, slotByPath, slots } from '../../protocol/slots.ts';
import type { Channels } from '../channels.ts';
import type { StatusReader } from '../status.ts';
import type { Refusal } from './plan.ts';

/** A change of Status that ends an action before its time. */
export interface CommandEnd extends Refusal {
  readonly slot: Slot;
  readonly value: SlotValue;
}

const slot = (path: string): Slot => slotByPath.get(path) as Slot;
const CHARGING = 'energies.Electric.extension.electric.charging';
const charging = slot(`${CHARGING}.status`);
const plugged = slot(`${CHARGING}.plugged`);
const ignition = slot('ignition.type');
const preconditioningFailure = slot('preconditioning.airConditioning.failureCause');
const openings = slots.filter(({ path }) => path.startsWith('doorsState.opening.'));
const keyPresent = channelByPath.get('key.present');

const driver = (on: Slot, value: SlotValue, detail: string): CommandEnd => ({
  slot: on,
  value,
  code: 'command.canceled',
  detail,
});
const started = [
  driver(ignition, 'StartUp', 'the ignition was switched on meanwhile'),
  driver(ignition, 'Start', 'the engine was started meanwhile'),
];
const chargingFault: CommandEnd = {
  slot: charging,
  value: 'Failure',
  code: 'command.chargingFault',
  detail: 'the car reports a fault of its charging',
};
const noPower: CommandEnd = {
  slot: charging,
  value: 'Disconnected',
  code: 'command.chargingStation',
  detail: 'the cable gives no power',
};

/** By the car's own word for why preconditioning failed. */
const preconditioningFailures: Readonly<Record<string, ErrorCode>> = {
  DoorOpened: 'command.doorsOpen',
  WindowsRoofOpened: 'command.doorsOpen',
  HoodOpened: 'command.doorsOpen',
  LowBattery: 'command.batteryLow',
  LowFuelLevel: 'command.batteryLow',
  NotParked: 'command.vehicleInUse',
  TooManyUnusedProg: 'command.unconfirmed',
  Defect: 'command.unconfirmed',
  OtherFailures: 'command.unconfirmed',
};

const ends: Readonly<Record<string, readonly CommandEnd[]>> = {
  'doors.lock': [...openings.map((opening) => driver(opening, 'Open', 'a door was opened meanwhile')), ...started],
  'lights.on': started,
  'horn.on': started,
  'immobilization.on': started,
  'charging.start': [driver(plugged, false, 'the cable was pulled out meanwhile'), chargingFault, noPower],
  'preconditioning.start': [
    driver(ignition, 'Start', 'the engine was started meanwhile'),
    ...Object.entries(preconditioningFailures).map(([cause, code]) => ({
      slot: preconditioningFailure,
      value: cause,
      code,
      detail: `the car reports ${cause}`,
    })),
  ],
};

/** The changes of Status that end an action. */
export function endsOf(action: string): readonly CommandEnd[] {
  return ends[action] ?? [];
}

export interface Evidence {
  readonly status: StatusReader;
  readonly channels: Pick<Channels, 'value' | 'fresh'> | undefined;
  /** Paths that the profile feeds, channels included. */
  readonly fed: ReadonlySet<string>;
  /** UTC ms. */
  readonly now: number;
}

/** What the car shows when an action was not confirmed in time; undefined when it shows nothing that explains it. */
export function diagnose(action: string, evidence: Evidence): Refusal | undefined {
  const { status, now } = evidence;
  const shows = (on: Slot, value: SlotValue): boolean => status.current(on, now) && status.value(on) === value;
  if (action === 'doors.lock') return unlocked(evidence, shows);
  return endsOf(action).find(({ slot: on, value, code }) => code !== 'command.canceled' && shows(on, value));
}

/** A lock that stays open: a door in the way, or a key that must not be locked in. */
function unlocked(
  { channels, fed, now }: Evidence,
  shows: (on: Slot, value: SlotValue) => boolean,
): Refusal | undefined {
  const open = openings.find((opening) => shows(opening, 'Open'));
  if (open !== undefined) return { code: 'command.doorsOpen', detail: `${open.path} is Open` };
  if (keyPresent === undefined || channels === undefined || !fed.has(keyPresent.path)) return undefined;
  const key = channels.fresh(keyPresent, now) ? channels.value(keyPresent) : undefined;
  if (key === true) return { code: 'command.keyInside', detail: 'a key is in the car' };
  if (key === undefined) return { code: 'command.keyPerhapsInside', detail: 'whether a key is in the car is unknown' };
  return undefined;
}
