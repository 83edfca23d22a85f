import { compile } from '../../../protocol/cbor/codec.ts';
import { eventSchema, type MonitorEvent } from '../../../protocol/schema/event.ts';

const codec = compile(eventSchema);

/** The event as a receiver gets it. An event that cannot be encoded fails here. */
export function encodeMessageBody(event: MonitorEvent): MonitorEvent {
  return codec.decode(codec.encode(event, event.at), event.at);
}
