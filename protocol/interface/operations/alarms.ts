import type { Operation } from '../operation.ts';
import { vehiclePath } from '../parameters/path.ts';
import { alarmType, longPaging, paging, timestamps } from '../parameters/query.ts';
import { listAndGet, read } from './making.ts';

const tag = 'Alarms and thefts';
const alarms = {
  tag,
  member: '{aid}',
  shapes: ['Alarms', 'AlarmDetails'],
  list: 'Lists the alarms of a vehicle.',
  get: 'Reads one thing that the alarm of a vehicle did.',
  filters: [alarmType, timestamps, ...paging],
} as const;

/** Events of the burglar alarm, and thefts. Only the fleet side has theft records. */
export const alarmOperations: readonly Operation[] = [
  ...listAndGet({ ...alarms, id: 'fleet.alarms', path: `${vehiclePath.fleet}/alarms` }),
  ...listAndGet({
    tag,
    id: 'fleet.stolen',
    path: `${vehiclePath.fleet}/stolen`,
    member: '{sid}',
    shapes: ['StolenCollection', 'Stolen'],
    list: 'Lists the thefts of a vehicle.',
    get: 'Reads a theft of a vehicle.',
    filters: [timestamps, ...paging],
  }),
  // The published operation has no paging parameters, although it returns a page.
  read(
    'fleet.stolenWaypoints.list',
    `${vehiclePath.fleet}/stolen/{sid}/waypoints`,
    'Lists where a stolen vehicle was.',
    { tag, parameters: longPaging, shape: 'WayPoints' },
  ),
  ...listAndGet({
    ...alarms,
    id: 'user.alarms',
    path: `${vehiclePath.user}/alarms`,
    scopes: { required: ['data:telemetry'] },
  }),
];
