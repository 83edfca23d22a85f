/** Records as JSON on plain topics. */
import { seenBody } from '../../protocol/interface/own/message-pages.ts';
import type { Sees } from '../../protocol/interface/visible-members.ts';
import type { RecordKind } from '../../protocol/schema/kind.ts';
import type { Message } from '../../protocol/schema/message.ts';
import { Catalogs } from '../../protocol/signals/catalog.ts';
import type { ExitMessage } from './exit.ts';
import type { NumberedItem } from './forwarder.ts';

interface RecordTopicOptions {
  readonly prefix: string;
  readonly vin: string;
  readonly sees: Sees;
}

/** Custom signals in the readings of a collision keep their numbers. */
const NO_CATALOGS = new Catalogs();

/** Returns the message of an event of a monitor; undefined if the exit may not see all that it contains. */
export function eventMessage({ prefix, vin, sees }: RecordTopicOptions, message: Message): ExitMessage | undefined {
  const event = seenBody(sees, message, NO_CATALOGS);
  if (event === undefined) return undefined;
  const text = JSON.stringify({ event_type: 'event', number: message.seq, event });
  return { topic: `${prefix}/${vin}/events`, text, retain: false };
}

/** Returns the message of a record; undefined if the exit may not see it. */
export function recordMessage(
  { prefix, vin, sees }: RecordTopicOptions,
  kind: RecordKind,
  { number, stored: { record } }: NumberedItem,
): ExitMessage | undefined {
  const body = seenBody(sees, { kind, body: record } as Message, NO_CATALOGS);
  if (body === undefined) return undefined;
  // Home Assistant reads `event_type`.
  const text = JSON.stringify({ event_type: kind, number, record: body });
  return { topic: `${prefix}/${vin}/records/${kind}`, text, retain: false };
}
