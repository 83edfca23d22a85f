/** Fault codes and captures of the cars of a hub, in the same form in which a car serves its own. */

import type { Call, Handlers } from '../../adapters/http/call.ts';
import {
  type CaptureForm,
  type CaptureView,
  captureForms,
  captureFrames,
  captureList,
} from '../../adapters/http/captures.ts';
import { MOST_FAULTS } from '../../adapters/http/faults.ts';
import { found, unknown } from '../../adapters/http/resources/context.ts';
import { type FaultOfCar, faultsJson } from '../../protocol/interface/json/faults.ts';
import type { Operation } from '../../protocol/interface/operation.ts';
import type { RecordFilter } from '../../protocol/interface/record-filter.ts';
import type { FaultRecord } from '../../protocol/schema/fault.ts';
import type { FleetRecord, HubKeyset, HubRecord, VehicleReader } from '../core/ports.ts';
import type { Owner } from '../core/registry.ts';
import { query, reading } from './reading.ts';

interface DiagnosticsDesk {
  readonly reader: Pick<VehicleReader, 'vehicle' | 'recordKeys' | 'fleetRecordKeys'>;
  /** Returns the owners of the cars that a call may see; undefined for all cars. */
  owners(call: Call): readonly Owner[] | undefined;
  captures(vin: string): CaptureView;
}

export function diagnosticsHandlers({ reader, owners, captures }: DiagnosticsDesk): Handlers {
  const vinOf = async ({ path }: Call): Promise<string> => {
    const vin = path['vin'] ?? '';
    if ((await reader.vehicle(vin)) === undefined) throw unknown('vehicle', vin);
    return vin;
  };
  return {
    'hub.faults.list': async (call) => {
      const keys = reader.fleetRecordKeys('fault', { owners: owners(call), filter: filterOf(call) });
      return found(await faults(keys, call, ({ vin }: FleetRecord) => ({ vin })));
    },
    'hub.faults.ofCar': async (call) => {
      return found(await faults(reader.recordKeys(await vinOf(call), 'fault', filterOf(call)), call, () => ({})));
    },
    'hub.captures.list': async (call) => {
      return found(await captureList(captures(await vinOf(call))));
    },
    'hub.captures.get': async (call) => {
      const format = (call.query['format'] ?? 'candump') as CaptureForm;
      const { body, headers } = await captureFrames(captures(await vinOf(call)), call.path['cid'] ?? '', format);
      return { status: 200, body, headers };
    },
  };
}

function filterOf({ query }: Call): RecordFilter {
  const { active } = query as { readonly active?: string };
  return active === undefined ? {} : { states: [active] };
}

/** Newest first. */
async function faults<T extends HubRecord>(
  keys: HubKeyset<T>,
  { query }: Call,
  of: (one: T) => { readonly vin?: string },
) {
  const limit = (query['limit'] as number | undefined) ?? MOST_FAULTS;
  const newest = await keys.read({}, limit + 1, true);
  const records = newest.slice(0, limit).map((one): FaultOfCar => ({ ...of(one), record: one.record as FaultRecord }));
  return faultsJson(records, newest.length > limit);
}

const chosen = {
  parameters: [
    query('active', 'Only codes that are still reported, or only others.', { type: 'string', enum: ['true', 'false'] }),
    query('limit', 'Most records.', { type: 'integer', minimum: 1, maximum: MOST_FAULTS }),
  ],
};
const capturesPath = '/vigie/v1/vehicles/{vin}/captures';

export const diagnosticsOperations: readonly Operation[] = [
  reading('hub.faults.list', '/vigie/v1/faults', 'Reads the fault codes of all cars, the newest first.', chosen),
  reading(
    'hub.faults.ofCar',
    '/vigie/v1/vehicles/{vin}/faults',
    'Reads the fault codes of a car, the newest first.',
    chosen,
  ),
  reading('hub.captures.list', capturesPath, 'Lists the captures of raw frames that a car sent, the oldest first.'),
  reading(
    'hub.captures.get',
    `${capturesPath}/{cid}`,
    'Reads the frames of a capture as a candump log, or as an MDF4 file.',
    {
      parameters: [query('format', 'Form of the frames.', { type: 'string', enum: captureForms })],
      media: 'text/plain',
    },
  ),
];
