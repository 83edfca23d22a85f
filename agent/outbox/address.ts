import { decodeMessage } from '../../protocol/cbor/message.ts';
import { expiryOf } from '../../protocol/classes.ts';
import { defined } from '../../protocol/defined.ts';
import type { Kind } from '../../protocol/schema/kind.ts';
import { hexOf } from '../../protocol/signals/hash.ts';
import { catalogTopic, upTopic } from '../../protocol/topics.ts';
import type { OutboxEntry, OutgoingMessage } from '../ports.ts';

/**
 * Returns the message in its published form: its topic, and how the broker retains it.
 * @param newest true if no later message of its kind is to be retained
 */
export function addressed(entry: OutboxEntry, vin: string, newest: boolean): OutgoingMessage {
  const { payload, correlation } = entry;
  if (entry.kind === 'catalog') {
    // Each part has a separate topic. Receivers need it while they have telemetry that refers to it: it never expires.
    return { topic: topicOfCatalog(payload, vin), payload, retain: entry.retain };
  }
  return {
    topic: upTopic(vin, entry.kind as Kind),
    payload,
    retain: entry.retain && newest,
    expiry: expiryOf(entry.class),
    ...defined({ correlation }),
  };
}

function topicOfCatalog(payload: Uint8Array, vin: string): string {
  const message = decodeMessage(payload);
  return message.kind === 'catalog'
    ? catalogTopic(vin, hexOf(message.body.catalog), message.body.part)
    : upTopic(vin, message.kind);
}
