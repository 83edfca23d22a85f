import type { Operation } from '../operation.ts';
import { vehiclePath } from '../parameters/path.ts';
import { alarmType, longPaging, paging, timestamps } from '../parameters/query.ts';
import { read } from './making.ts';

const tag = 'Alarms and thefts';
const scopes = { required: ['data:telemetry'] } as const;

/** What the burglar alarm did, and thefts; records of thefts are the fleet's alone. */
export const alarmOperations: readonly Operation[] = [
  read({
    id: 'fleet.alarms.list',
    side: 'fleet',
    path: `${vehiclePath.fleet}/alarms`,
    tag,
    summary: 'Lists the alarms of a vehicle.',
    parameters: [alarmType, timestamps, ...paging],
    shape: 'Alarms',
  }),
  read({
    id: 'fleet.alarms.get',
    side: 'fleet',
    path: `${vehiclePath.fleet}/alarms/{aid}`,
    tag,
    summary: 'Reads one thing that the alarm of a vehicle did.',
    shape: 'AlarmDetails',
  }),
  read({
    id: 'fleet.stolen.list',
    side: 'fleet',
    path: `${vehiclePath.fleet}/stolen`,
    tag,
    summary: 'Lists the thefts of a vehicle.',
    parameters: [timestamps, ...paging],
    shape: 'StolenCollection',
  }),
  read({
    id: 'fleet.stolen.get',
    side: 'fleet',
    path: `${vehiclePath.fleet}/stolen/{sid}`,
    tag,
    summary: 'Reads a theft of a vehicle.',
    shape: 'Stolen',
  }),
  // The published operation has no parameters of paging, though its answer is a page.
  read({
    id: 'fleet.stolenWaypoints.list',
    side: 'fleet',
    path: `${vehiclePath.fleet}/stolen/{sid}/waypoints`,
    tag,
    summary: 'Lists where a stolen vehicle was.',
    parameters: longPaging,
    shape: 'WayPoints',
  }),
  read({
    id: 'user.alarms.list',
    side: 'user',
    path: `${vehiclePath.user}/alarms`,
    tag,
    summary: 'Lists the alarms of a vehicle.',
    parameters: [alarmType, timestamps, ...paging],
    shape: 'Alarms',
    scopes,
  }),
  read({
    id: 'user.alarms.get',
    side: 'user',
    path: `${vehiclePath.user}/alarms/{aid}`,
    tag,
    summary: 'Reads one thing that the alarm of a vehicle did.',
    shape: 'AlarmDetails',
    scopes,
  }),
];
