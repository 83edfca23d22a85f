/** What the burglar alarm did. */
import { alarmJson } from '../../../protocol/interface/json/records.ts';
import type { Members } from '../../../protocol/interface/json/writer.ts';
import type { AlarmRecord } from '../../../protocol/schema/alarm.ts';
import type { Answer } from '../call.ts';
import { collection, collectionByKey, type Kept, keysOf, recordOf, recordsAskedFor } from './collection.ts';
import { type Context, found, unknown } from './context.ts';
import { linksOf, linkTo, type ResourceLink, selfOf } from './links.ts';

/** `GET …/alarms` */
export async function alarms(context: Context): Promise<Answer> {
  const types = context.call.query['type'] as readonly string[] | undefined;
  const represent = ({ record }: Kept<AlarmRecord>): Members =>
    alarmOf(context, record, linkTo(context, 'alarms.get', { aid: record.id }) as ResourceLink);
  const isWhole = types === undefined && context.sees('data:telemetry');
  const keys = isWhole ? keysOf<AlarmRecord>(context, 'alarm') : undefined;
  if (keys !== undefined) return collectionByKey(context, 'alarms', keys, represent);
  const asked = context.sees('data:telemetry')
    ? (await recordsAskedFor<AlarmRecord>(context, 'alarm')).filter(
        ({ record }) => types === undefined || types.includes(typeOf(record)),
      )
    : [];
  return collection(context, 'alarms', asked, represent);
}

/** `GET …/alarms/{aid}` */
export async function alarm(context: Context): Promise<Answer> {
  const id = context.call.path['aid'] ?? '';
  const record = context.sees('data:telemetry') ? await recordOf<AlarmRecord>(context, 'alarm', id) : undefined;
  if (record === undefined) throw unknown('alarm', id);
  return found(alarmOf(context, record, selfOf(context)));
}

/** Interface 3.19.2 AlarmTypeEnum. */
function typeOf({ status }: AlarmRecord): string {
  return status === undefined ? 'vehicle.alarm.trigger' : 'vehicle.alarm.status';
}

/** The links are an addition. */
function alarmOf(context: Context, record: AlarmRecord, self: ResourceLink): Members {
  return { _links: linksOf({ self, vehicle: linkTo(context, 'vehicles.get') }), ...alarmJson(context.viewer, record) };
}
