/** Conditions against an action in the data on the buses, independent of the agent's Status. */
import type { SentCommand } from './caller.ts';
import { EFFECTS, type Part, type Shown, TIMEOUT } from './car.ts';

/** Highest speeds at which actions are allowed, km/h (docs/commands.md). */
const SPEEDS: Readonly<Record<string, number>> = {
  'doors.unlock': 6,
  'lights.on': 1,
  'horn.on': 1,
  'immobilization.on': 0,
};

/** The clock of a unit drifts by up to 2 % (plan.ts). In world time, readings expire within this range, ms. */
export const EARLIEST = TIMEOUT / 1.02;
const LATEST = TIMEOUT * 1.02;

/** Reason why the action is certainly not allowed despite clock drift. Undefined if it may be. `now`: world time. */
export function interlock(
  action: string,
  shown: ReadonlyMap<Part, Shown> | undefined,
  now: number,
): string | undefined {
  const [early, late] = [EARLIEST, LATEST].map((oldest) => objectionOf(action, shown, now - oldest));
  return early === undefined ? undefined : late;
}

/** Whether the car certainly shows the effect of an action despite clock drift. `now`: world time. */
export function isShown(
  { part, value }: { readonly part: Part; readonly value: unknown },
  shown: ReadonlyMap<Part, Shown> | undefined,
  now: number,
): boolean {
  const known = shown?.get(part);
  return known !== undefined && known.at >= now - LATEST && String(known.value) === String(value);
}

/** Returns why the car must not act, or undefined. Ignores data from before `since`, world time. */
export function objectionOf(
  action: string,
  shown: ReadonlyMap<Part, Shown> | undefined,
  since: number,
): string | undefined {
  const value = (part: Part): unknown => {
    const known = shown?.get(part);
    return known === undefined || known.at < since ? undefined : known.value;
  };
  if (value('privacy') === 'Full') return 'full privacy';
  const limit = SPEEDS[action];
  const speed = value('speed');
  if (limit !== undefined && !(typeof speed === 'number' && speed <= limit)) return `speed ${String(speed)}`;
  if (action === 'immobilization.on' && value('ignition') !== 'Stop') return 'ignition';
  if (action === 'charging.start' && value('plugged') !== true) return 'no cable';
  if (action === 'preconditioning.start' && value('door') !== 'Closed') return 'a door is open';
  return undefined;
}

/** Lowest charge of the 12 V battery for a command, %. */
const CHARGED = 20;

/** Reason why a command must not have this state. Undefined if it may. `now`: world time. */
export function objection(
  { action, isFaulty }: Pick<SentCommand, 'action' | 'isFaulty'>,
  status: string,
  shown: ReadonlyMap<Part, Shown> | undefined,
  now: number,
): string | undefined {
  if (isFaulty === true && status !== 'Failed') return 'its body is faulty';
  if (status !== 'Accepted' || EFFECTS[action] === undefined) return undefined;
  const battery = shown?.get('battery');
  if (battery === undefined || battery.at < now - EARLIEST || Number(battery.value) >= CHARGED) return undefined;
  return `the battery is at ${String(battery.value)} %`;
}
