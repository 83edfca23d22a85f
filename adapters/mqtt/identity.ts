/** Who a client is to its broker. */

import type { IClientOptions } from 'mqtt';
import { defined } from '../../protocol/defined.ts';
import { asBuffer } from './bytes.ts';
import { EmptyStore } from './empty-store.ts';
import type { Version } from './protocol-choice.ts';
import { contentType } from './publishing.ts';

/** Identity of the client on a connection. */
export interface Identity {
  readonly clientId: string;
  readonly username: string | undefined;
  /** Or what reads it again for each connection, and may throw a VigieError that names its file. */
  readonly password: string | (() => string) | undefined;
  /** Seconds without a packet before a ping. The connection counts as lost after 1.5 times this. */
  readonly keepalive: number;
  /** Seconds the broker keeps subscriptions and messages while the client is away (MQTT 5; 3.1.1 has no limit). */
  readonly sessionExpiry: number;
  /** Bytes of the largest packet that is accepted. */
  readonly maximumPacket: number;
  /** Publishes that may wait for their acknowledgement at a time. */
  readonly window: number;
  /** Messages of the broker that may wait for our acknowledgement. MQTT 5 sends this to the broker. */
  readonly receiveMaximum: number;
  /** Milliseconds from dialing to CONNACK, and that any other acknowledgement may take. */
  readonly timeout: number;
  readonly will?: { readonly topic: string; readonly payload: Uint8Array; readonly delay: number };
}

/**
 * Content of CONNECT (MQTT 5 clause 3.1), with options that keep the library from queueing anything itself. Throws the
 * errors of reading the password.
 */
function connectOptions(version: Version, identity: Identity): IClientOptions {
  const { will } = identity;
  const password = typeof identity.password === 'function' ? identity.password() : identity.password;
  const properties = { contentType, willDelayInterval: will?.delay ?? 0 };
  return {
    protocolId: 'MQTT',
    protocolVersion: version,
    clientId: identity.clientId,
    // Clean Start is off on MQTT 5: the previous session resumes, so that messages sent while away arrive.
    clean: false,
    keepalive: identity.keepalive,
    ...defined({ username: identity.username, password }),
    ...(will === undefined
      ? {}
      : {
          will: {
            topic: will.topic,
            payload: asBuffer(will.payload),
            qos: 1,
            retain: true,
            ...(version === 5 ? { properties } : {}),
          },
        }),
    ...(version === 5
      ? {
          properties: {
            sessionExpiryInterval: identity.sessionExpiry,
            maximumPacketSize: identity.maximumPacket,
            receiveMaximum: identity.receiveMaximum,
          },
          autoAssignTopicAlias: true,
        }
      : {}),
    // The library keeps nothing and repeats nothing: that is the outbox's, and this client ends with its socket.
    reconnectPeriod: 0,
    resubscribe: false,
    queueQoSZero: false,
    outgoingStore: new EmptyStore(),
    incomingStore: new EmptyStore(),
    // The connection has a timer of its own, the longest of the library's is 2^31 - 1 ms.
    connectTimeout: 0x7fff_ffff,
  };
}

/** CONNECT of the client, or the reason why it cannot be made. */
export function sayable(version: Version, identity: Identity): { options: IClientOptions; fault?: unknown } {
  try {
    return { options: connectOptions(version, identity) };
  } catch (fault) {
    return { options: connectOptions(version, { ...identity, password: undefined }), fault };
  }
}
