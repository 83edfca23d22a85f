/** Table of phases and events in docs/trips.md, generated from the table that controls the recording of trips. */
import { actionFor, type TripAction, type TripEvent, tripPhases, tripTable } from '../agent/recorders/trip/phases.ts';
import { withSection } from './generated-section.ts';

const EVENTS: Readonly<Record<TripEvent, string>> = {
  reading: 'readings arrive, or a second passes',
  rolls: 'the speed is above `moving`',
  left: 'a position is more than 25 m from the last one',
  stepped: 'the odometer steps',
  driven: 'the car is driven ([thresholds](#thresholds))',
  stands: 'the car is not on, and does not move',
  foundOff: 'a reading shows that the car is off',
  silent: 'no reading for longer than `silence`',
  silentAtRest: 'the same, but the car stood, and has no switch',
  overdue: 'the pause or the gap lasts longer than `grace`',
  hidden: 'privacy hides all readings that show the car',
};

const ACTIONS: Readonly<Record<TripAction, string>> = {
  watch: 'notes whether the car is on, rolls, was found at rest: it becomes `parked` or `ready`',
  setOff: 'distance and energies count from here; notes since when the car rolls',
  noteRolling: 'notes since when a car rolls that is on',
  count: 'distance and energies count from here',
  begin: 'opens the trip and publishes it',
  noteMovement: 'notes when a car that is off last rolled',
  pause: 'notes the values with which the trip ends unless the car drives on',
  resume: 'discards these values; the same reading may pause the trip again',
  lose: 'notes the last known values, and the cause',
  losePaused: 'notes the cause; the values of the pause remain',
  noteCause: 'privacy replaces a lost connection as the cause, full privacy any other',
  bridge: 'adds the fault DataLacking and publishes the trip',
  end: 'ends the trip with the values of the pause',
  endHidden: 'the same; the parked car is out of sight',
  endUnfinished: 'ends the trip with the last known values and the fault Unfinished',
  loseSight: 'the next trip is Unstarted, unless a reading shows the car at rest before',
};

/** Returns docs/trips.md with an up-to-date table. */
export function tripPage(): string {
  const events = Object.keys(EVENTS) as TripEvent[];
  const row = (cells: readonly string[]): string => `| ${cells.join(' | ')} |`;
  const table = [
    row(['event', '', ...tripPhases.map((phase) => `\`${phase}\``)]),
    row(['---', '---', ...tripPhases.map(() => '---')]),
    ...events.map((event) =>
      row([`\`${event}\``, EVENTS[event], ...tripPhases.map((phase) => actionFor(phase, event) ?? '')]),
    ),
  ];
  const used = new Set(Object.values(tripTable).flatMap((cells) => Object.values(cells)));
  const actions = [...used].map((action) => `- ${action}: ${ACTIONS[action]}`);
  const text = [...table, '', 'Actions:', '', ...actions];
  return withSection('docs/trips.md', 'phases', text.join('\n'));
}
