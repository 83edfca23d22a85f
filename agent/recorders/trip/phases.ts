/**
 * The phases of a trip, and the table of events and actions that cause the transitions. docs/trips.md shows the table;
 * evidence.ts decides whether an event has happened, machine.ts has a method for each action.
 */
import type { TripState } from './state.ts';

/** Phases in the usual order; docs/trips.md explains each. */
export const tripPhases = ['unseen', 'parked', 'ready', 'driving', 'paused', 'gap', 'pausedGap'] as const;
export type TripPhase = (typeof tripPhases)[number];

/** Each event, with the action for each phase in which it has an effect. */
export const tripTable = {
  reading: { unseen: 'watch', parked: 'watch', ready: 'watch', driving: 'noteMovement' },
  rolls: { unseen: 'setOff', parked: 'setOff', ready: 'noteRolling' },
  left: { unseen: 'setOff', parked: 'setOff' },
  stepped: { unseen: 'count', parked: 'count' },
  driven: { parked: 'begin', ready: 'begin', paused: 'resume', gap: 'bridge', pausedGap: 'bridge' },
  stands: { driving: 'pause' },
  foundOff: { gap: 'endUnfinished' },
  silent: { parked: 'loseSight', ready: 'loseSight', driving: 'lose' },
  silentAtRest: { driving: 'pause' },
  overdue: { paused: 'end', gap: 'endUnfinished', pausedGap: 'endHidden' },
  hidden: {
    unseen: 'loseSight',
    parked: 'loseSight',
    ready: 'loseSight',
    driving: 'lose',
    paused: 'losePaused',
    gap: 'noteCause',
    pausedGap: 'noteCause',
  },
} as const satisfies Readonly<Record<string, Partial<Readonly<Record<TripPhase, string>>>>>;

export type TripEvent = keyof typeof tripTable;
type Cells<E extends TripEvent> = (typeof tripTable)[E];
/** Names of all actions in the table. */
export type TripAction = { [E in TripEvent]: Cells<E>[keyof Cells<E>] }[TripEvent];

export function actionFor(phase: TripPhase, event: TripEvent): TripAction | undefined {
  return (tripTable[event] as Partial<Readonly<Record<TripPhase, TripAction>>>)[phase];
}

/** Returns the phase. It is derived from the stored state, so that no stored state contradicts it. */
export function phaseOf({ open, on, rolling, dark }: TripState): TripPhase {
  if (open === null) {
    if (on !== null || rolling !== null) return 'ready';
    return dark ? 'unseen' : 'parked';
  }
  if (open.gap !== null) return open.gap.paused ? 'pausedGap' : 'gap';
  return open.pause === null ? 'driving' : 'paused';
}
