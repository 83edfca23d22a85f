/** Notification for an event of a monitor. Its words come from the dictionary that the page stored. */
import type { Dictionary } from '../../../protocol/words/dictionary.ts';
import { addressOfIncident, type IncidentKind } from '../addresses.ts';
import { type IncidentRecord, wordsOfCode, wordsOfIncident } from '../incident-words.ts';

/** Fields of a push message that the page reads. See docs/callbacks.md, "Push". */
export interface PushPayload {
  readonly id: string;
  /** The title is the label of the monitor. */
  readonly notification?: { readonly title?: string };
  readonly message: {
    readonly date: string;
    readonly attributes?: readonly { readonly key: string; readonly value: string }[];
    /** Has no values if the push message would be too long. */
    readonly monitorEvent?: { readonly values?: readonly EventValue[] };
  };
}

interface EventValue {
  readonly data: string;
  readonly value: {
    readonly body: { readonly literalValue?: string; readonly objectValues?: readonly RecordJson[] };
  };
  /** Previous value. Only the value that triggered the event has one. */
  readonly previous?: string;
}

interface RecordJson extends IncidentRecord {
  readonly id?: string;
  readonly createdAt?: string;
  readonly startedAt?: string;
  readonly endAt?: string;
}

/** Arguments of `showNotification`. */
interface ShownNotification {
  readonly title: string;
  readonly options: {
    readonly body: string;
    readonly lang: string;
    readonly tag: string;
    readonly icon: string;
    readonly timestamp: number;
    readonly requireInteraction: boolean;
    /** Address fragment with which the page shows the incident. */
    readonly data: { readonly address: string };
  };
}

/** Returns the notification. @param words if omitted, the title is the label of the monitor */
export function notificationOf({ id, notification, message }: PushPayload, words?: Dictionary): ShownNotification {
  const { attributes = [], monitorEvent, date } = message;
  const attribute = (name: string): string | undefined => attributes.find(({ key }) => key === name)?.value;
  const incident = incidentIn(monitorEvent?.values ?? []);
  const { kind = 'Alert', record = {} } = incident ?? {};
  const at = Date.parse(record.startedAt ?? record.createdAt ?? date);
  const happened = Date.parse(record.endAt ?? date);
  const vin = attribute('vin') ?? '';
  const when = new Intl.DateTimeFormat(words?.language, { dateStyle: 'medium', timeStyle: 'short' }).format(happened);
  return {
    title: titleOf(incident, words) ?? notification?.title ?? 'Vigie',
    options: {
      body: [attribute('car') ?? vin, when].filter((part) => part !== '').join(', '),
      lang: words?.language ?? 'en',
      // The end of an alert replaces the notification of its start.
      tag: record.id ?? id,
      icon: '/page/icon.png',
      timestamp: happened,
      requireInteraction: incident !== undefined && kind !== 'Alert',
      data: { address: incident === undefined ? '' : addressOfIncident({ vin, kind, at }) },
    },
  };
}

interface Incident {
  readonly kind: IncidentKind;
  readonly record: RecordJson;
}

function titleOf(incident: Incident | undefined, words: Dictionary | undefined): string | undefined {
  if (incident === undefined || words === undefined) return undefined;
  const { kind, record } = incident;
  const text = wordsOfIncident(words, kind, record);
  return record.endAt === undefined ? text : `${text}: ${wordsOfCode(words, 'page', 'ended')}`;
}

/** Returns the most severe incident of the event. The event contains all values of the monitor, even unchanged ones. */
function incidentIn(values: readonly EventValue[]): Incident | undefined {
  const find = (data: string): EventValue | undefined => values.find((one) => one.data === data);
  const collision = find('vehicle.collision.side') ?? find('vehicle.collision.severity');
  const [impact] = collision?.value.body.objectValues ?? [];
  if (impact !== undefined) return { kind: 'Collision', record: impact };
  if (find('stolen.state')?.previous !== undefined) return { kind: 'Theft', record: {} };
  const alarm = find('vehicle.alarm.trigger.type');
  if (alarm?.previous !== undefined) {
    return { kind: 'Alarm', record: { trigger: { type: alarm.value.body.literalValue ?? '' } } };
  }
  const alerts = find('vehicle.alert')?.value.body.objectValues ?? [];
  const [newest] = [...alerts].sort((a, b) => changedAt(b) - changedAt(a));
  return newest === undefined ? undefined : { kind: 'Alert', record: newest };
}

function changedAt({ endAt, startedAt, createdAt }: RecordJson): number {
  return Date.parse(endAt ?? startedAt ?? createdAt ?? '') || 0;
}
