/** What is asked of the car as a whole before a command, whatever it is to do. */

import { DAY } from '../../protocol/calendar.ts';
import type { RemoteKind } from '../../protocol/remote/kind.ts';
import type { RemoteType } from '../../protocol/remote/table.ts';
import type { ClockQuality } from '../../protocol/schema/message.ts';
import { type Slot, slotByPath } from '../../protocol/slots.ts';
import type { StatusReader } from '../status.ts';
import type { EffectParts } from './effects.ts';
import type { Ledger } from './ledger.ts';
import type { Refusal } from './plan.ts';
import { BURST, type Limits, MONTH } from './power.ts';
import type { Thefts } from './tracking.ts';

const slot = (path: string): Slot => slotByPath.get(path) as Slot;
const stolenState = slot('stolen.state');
const privacyState = slot('privacy.state');
const batteryCharge = slot('battery.voltage');

interface Car {
  readonly status: StatusReader;
  readonly thefts: Thefts;
}

/** Clocks of sender and car may differ by this much, ms. */
export const SKEW = 5 * 60_000;

/** When a command may be carried out. */
export interface Validity {
  /** UTC ms. */
  readonly issued: number;
  readonly expires: number;
  /** It comes from the car itself. */
  readonly own?: boolean;
}

/**
 * Why the command is valid for too long (`validity`, ms) or too late, if it is. A car that does not know the time cannot
 * say that it is not too late.
 */
export function late(
  { issued, expires, own }: Validity,
  validity: number,
  now: number,
  quality: ClockQuality,
): Refusal | undefined {
  if (own !== true && expires - issued > validity) {
    const detail = `it is valid for ${Math.ceil((expires - issued) / 1000)} s; the limit is ${validity / 1000} s`;
    return { code: 'command.longLived', detail };
  }
  const refuse = (detail: string): Refusal => ({ code: 'command.expired', detail });
  if (quality === 'none') return refuse('the car does not know the time');
  if (now > expires) return refuse(`it expired ${Math.ceil((now - expires) / 1000)} s ago`);
  if (own === true || issued <= now + SKEW) return undefined;
  return refuse('it was issued in the future: the clocks of sender and car disagree');
}

/** What privacy hides at this moment. */
export function hidden({ status, thefts }: Car): ReturnType<EffectParts['hidden']> {
  if (thefts.current?.origin === 'Declared') return 'nothing';
  const state = status.value(privacyState);
  if (state === 'Full') return 'everything';
  return state === 'Geolocation' ? 'position' : 'nothing';
}

/** Why this kind is not carried out in a car that is stolen, or that hides itself. */
export function carRefuses(kind: RemoteKind, car: Car): Refusal | undefined {
  const stolen = car.thefts.current !== undefined || car.status.value(stolenState) === true;
  if (stolen && kind.whileStolen !== true) {
    return { code: 'command.stolen', detail: 'the car counts as stolen' };
  }
  if (hidden(car) === 'everything' && kind.whilePrivate !== true) {
    return { code: 'command.private', detail: 'full privacy is chosen in the car: what it does could not be seen' };
  }
  return undefined;
}

/** Why a sender has to wait. */
export function rateRefuses(
  kind: RemoteKind<RemoteType>,
  ledger: Ledger,
  limits: Limits,
  now: number,
): Refusal | undefined {
  if (ledger.accepted(now - BURST, now, kind.type) >= limits.burst) {
    return { code: 'command.tooFast', detail: `more than ${limits.burst} ${kind.type} within ${BURST / 1000} s` };
  }
  if (ledger.accepted(now - DAY, now) >= limits.daily) {
    return { code: 'command.tooMany', detail: `more than ${limits.daily} commands within a day` };
  }
  return undefined;
}

/** Why the car is not woken, or not used, for the sake of its service battery: by the last that is known of it. */
export function powerRefuses(
  kind: RemoteKind,
  car: Car & { readonly ledger: Ledger; readonly limits: Limits; readonly awake: boolean; readonly now: number },
): Refusal | undefined {
  const { ledger, limits, awake, now, status } = car;
  if (!awake && ledger.wakeUps(now - MONTH, now) >= limits.wakeUps) {
    return { code: 'command.wakeUpsUsed', detail: `woken ${limits.wakeUps} times within 30 days` };
  }
  const charge = status.value(batteryCharge);
  if (kind.withLowBattery !== true && typeof charge === 'number' && charge < limits.battery) {
    return { code: 'command.batteryLow', detail: `the 12 V battery is at ${charge} %, needed are ${limits.battery} %` };
  }
  return undefined;
}
