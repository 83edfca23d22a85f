/** An outgoing message: its properties, and why it cannot be sent or was refused. */
import { defined } from '../../protocol/defined.ts';
import './packet-numbers.ts';
import { ErrorWithReasonCode, type IClientPublishOptions, ReasonCodes } from 'mqtt';
import { VigieError } from '../../protocol/errors.ts';
import { asBuffer } from './bytes.ts';
import type { Version } from './protocol-choice.ts';

/** Every payload of this protocol is CBOR (RFC 8949 clause 9.5). */
export const contentType = 'application/cbor';

/** A message with its MQTT 5 properties; MQTT 3.1.1 omits everything below `retain`. */
export interface Outgoing {
  readonly topic: string;
  readonly payload: Uint8Array;
  readonly retain: boolean;
  /** Time in s after which the broker may drop the message. */
  readonly expiry?: number;
  readonly correlation?: Uint8Array;
  readonly responseTopic?: string;
}

/** Returns the options for the library's `publish`, with QoS 1. */
export function publishOptions(message: Outgoing, version: Version): IClientPublishOptions {
  if (version === 4) return { qos: 1, retain: message.retain };
  return {
    qos: 1,
    retain: message.retain,
    properties: {
      contentType,
      ...defined({ messageExpiryInterval: message.expiry }),
      ...(message.correlation === undefined ? {} : { correlationData: asBuffer(message.correlation) }),
      ...defined({ responseTopic: message.responseTopic }),
    },
  };
}

/**
 * Returns the reason why a message must not be sent: an invalid topic (MQTT 5 clause 4.7.3) or a packet above the
 * broker's Maximum Packet Size [MQTT-3.2.2-15] would end the connection.
 */
export function unsendable(message: Outgoing, maximum: number | undefined): VigieError | undefined {
  const { topic } = message;
  const topicBytes = Buffer.byteLength(topic);
  if (topicBytes === 0 || topicBytes > 0xffff || /[+#\0]/.test(topic)) {
    return new VigieError('message.malformed', 'a message cannot be published on this topic', { where: topic });
  }
  const bytes = largestSize(message, topicBytes);
  if (maximum === undefined || bytes <= maximum) return undefined;
  const text = `the broker takes packets of up to ${maximum} bytes, this one may have ${bytes}`;
  return new VigieError('link.refused', text, { where: topic });
}

/** Returns the maximum size in bytes of the PUBLISH packet; length fields count as their longest form. */
function largestSize(message: Outgoing, topicBytes: number): number {
  const header = 5 + 2 + topicBytes + 2;
  const alias = 3;
  const properties = 4 + 3 + contentType.length + alias + (message.expiry === undefined ? 0 : 5);
  const correlation = message.correlation === undefined ? 0 : 3 + message.correlation.length;
  const response = message.responseTopic === undefined ? 0 : 3 + Buffer.byteLength(message.responseTopic);
  return header + properties + correlation + response + message.payload.length;
}

/** Returns the error for the broker's refusal of a publish or subscription. */
export function refusal(where: string, cause: Error): VigieError {
  if (!(cause instanceof ErrorWithReasonCode)) return new VigieError('link.refused', cause.message, { where, cause });
  return new VigieError('link.refused', `the broker refused it: ${reasonText(cause.code)}`, { where, cause });
}

/** Returns a description of a reason code of MQTT 5 (clause 2.4) or of a 3.1.1 CONNACK, with the number. */
export function reasonText(code: number): string {
  const name: unknown = Reflect.get(ReasonCodes, code);
  const text = typeof name === 'string' && name !== '' ? name : 'no reason given';
  return `${text} (0x${code.toString(16).padStart(2, '0')})`;
}
