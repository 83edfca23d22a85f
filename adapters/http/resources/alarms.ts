/** Events of the burglar alarm. */
import { defined } from '../../../protocol/defined.ts';
import { alarmJson } from '../../../protocol/interface/json/records.ts';
import type { Members } from '../../../protocol/interface/json/writer.ts';
import type { AlarmRecord } from '../../../protocol/schema/alarm.ts';
import type { Answer } from '../call.ts';
import { collectionOfRecords, recordOf } from './collection.ts';
import { type Context, found, unknown } from './context.ts';
import { linksOf, linkTo, type ResourceLink, selfOf } from './links.ts';

/** `GET …/alarms` */
export function alarms(context: Context): Promise<Answer> {
  const states = context.call.query['type'] as readonly string[] | undefined;
  return collectionOfRecords<AlarmRecord>(context, {
    collection: 'alarm',
    name: 'alarms',
    scope: 'data:telemetry',
    filter: defined({ states }),
    represent: (record, own) => alarmOf(own, record, linkTo(own, 'alarms.get', { aid: record.id }) as ResourceLink),
  });
}

/** `GET …/alarms/{aid}` */
export async function alarm(context: Context): Promise<Answer> {
  const id = context.call.path['aid'] ?? '';
  const record = context.sees('data:telemetry') ? await recordOf<AlarmRecord>(context, 'alarm', id) : undefined;
  if (record === undefined) throw unknown('alarm', id);
  return found(alarmOf(context, record, selfOf(context)));
}

/** The links are an extension of the published interface. */
function alarmOf(context: Context, record: AlarmRecord, self: ResourceLink): Members {
  return { _links: linksOf({ self, vehicle: linkTo(context, 'vehicles.get') }), ...alarmJson(context.viewer, record) };
}
