/** What a car shows against an action, by its buses and not by the agent's Status. */
import type { SentCommand } from './caller.ts';
import { EFFECTS, type Part, type Shown, TIMEOUT } from './car.ts';

/** Highest speeds at which actions are allowed, km/h (docs/commands.md). */
const SPEEDS: Readonly<Record<string, number>> = {
  'doors.unlock': 6,
  'lights.on': 1,
  'horn.on': 1,
  'immobilization.on': 0,
};

/** Why the action is not allowed; undefined: it is. `now` is the time of the world. */
export function interlock(
  action: string,
  shown: ReadonlyMap<Part, Shown> | undefined,
  now: number,
): string | undefined {
  const value = (part: Part): unknown => {
    const known = shown?.get(part);
    return known === undefined || now - known.at > TIMEOUT ? undefined : known.value;
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

/** Least charge of the 12 V battery for a command, %. */
const CHARGED = 20;

/** Why a command may not have this state; undefined: it may. `now` is the time of the world. */
export function objection(
  { action, isFaulty }: Pick<SentCommand, 'action' | 'isFaulty'>,
  status: string,
  shown: ReadonlyMap<Part, Shown> | undefined,
  now: number,
): string | undefined {
  if (isFaulty === true && status !== 'Failed') return 'its body is faulty';
  if (status !== 'Accepted' || EFFECTS[action] === undefined) return undefined;
  const battery = shown?.get('battery');
  if (battery === undefined || now - battery.at > TIMEOUT || Number(battery.value) >= CHARGED) return undefined;
  return `the battery is at ${String(battery.value)} %`;
}
