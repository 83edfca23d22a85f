/** Custom signals of the cars of a hub, in the same form in which a car serves its own. */

import type { Call, Handlers } from '../../adapters/http/call.ts';
import { found, unknown } from '../../adapters/http/resources/context.ts';
import { MOST_READINGS, periodOf, unknownSignal } from '../../adapters/http/signals.ts';
import { sentSignalJson, signalHistoryJson } from '../../protocol/interface/json/signals.ts';
import type { Operation } from '../../protocol/interface/operation.ts';
import type { VehicleReader } from '../core/ports.ts';
import { query, reading } from './reading.ts';
import { newestSignals, type SentReading, type SentSignal, sentReadings } from './sent-signals.ts';

export function signalHandlers(reader: Pick<VehicleReader, 'vehicle' | 'records' | 'recordKeys'>): Handlers {
  const vinOf = async ({ path }: Call): Promise<string> => {
    const { vin = '' } = path;
    if ((await reader.vehicle(vin)) === undefined) throw unknown('vehicle', vin);
    return vin;
  };
  const named = async (vin: string, { path: { name = '' } }: Call): Promise<SentSignal> => {
    const all = await newestSignals(reader, vin);
    const signal = all.get(name);
    if (signal === undefined) throw unknownSignal(name, all.keys());
    return signal;
  };
  return {
    'hub.signals.list': async (call) => {
      const all = await newestSignals(reader, await vinOf(call));
      const names = [...all.keys()].sort();
      return found({ signals: names.map((name) => sentSignalJson(all.get(name) as SentSignal)) });
    },
    'hub.signals.get': async (call) => found(sentSignalJson(await named(await vinOf(call), call))),
    'hub.signals.history': async (call) => {
      const vin = await vinOf(call);
      const asked = call.query as { readonly from?: string; readonly to?: string; readonly limit?: number };
      const { limit = MOST_READINGS } = asked;
      const period = periodOf(asked.from, asked.to, call.now);
      const all = await sentReadings(reader, vin, { name: call.path['name'] ?? '', ...period, limit: limit + 1 });
      const shown = all.slice(0, limit);
      const definition = shown.at(-1)?.definition ?? (await named(vin, call)).definition;
      return found(signalHistoryJson(definition, shown.map(inUnitOf(definition.unit)), all.length > limit));
    },
  };
}

/** Adds the unit to a reading if it was recorded under a profile with another unit. */
const inUnitOf =
  (common: string | undefined) =>
  ({ at, value, definition: { unit = '' } }: SentReading) =>
    unit === (common ?? '') ? { at, value } : { at, value, unit };

const path = '/vigie/v1/vehicles/{vin}/signals';
const moment = { type: 'string', minLength: 1, maxLength: 64 };

export const signalOperations: readonly Operation[] = [
  reading('hub.signals.list', path, 'Reads the custom signals of a car, each with its newest reading, by name.'),
  reading('hub.signals.get', `${path}/{name}`, 'Reads one custom signal of a car with its newest reading.'),
  reading(
    'hub.signals.history',
    `${path}/{name}/history`,
    'Reads what a car has recorded of a custom signal, by ascending time.',
    {
      parameters: [
        query('from', 'First moment (RFC 3339); an hour before `to` unless given.', moment),
        query('to', 'Moment (RFC 3339) before which it ends; now unless given.', moment),
        query('limit', 'Most readings.', { type: 'integer', minimum: 1, maximum: MOST_READINGS }),
      ],
    },
  ),
];
