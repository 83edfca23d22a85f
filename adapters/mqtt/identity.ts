/** How a client identifies itself to its broker. */

import type { IClientOptions } from 'mqtt';
import { defined } from '../../protocol/defined.ts';
import { asBuffer } from './bytes.ts';
import { EmptyStore } from './empty-store.ts';
import type { Version } from './protocol-choice.ts';
import { contentType } from './publishing.ts';

/** Identity and limits of a client on a connection. */
export interface Identity {
  readonly clientId: string;
  readonly username: string | undefined;
  /** The password, or a function that reads it for each connection and may throw a VigieError that names its file. */
  readonly password: string | (() => string) | undefined;
  /** Silence before a ping in s. After 1.5 times this, the connection counts as lost. */
  readonly keepalive: number;
  /** Time in s for which the broker keeps a disconnected client's session and messages (MQTT 5; 3.1.1 has no limit). */
  readonly sessionExpiry: number;
  /** Maximum size of an accepted packet in bytes. */
  readonly maximumPacket: number;
  /** Maximum number of unacknowledged publishes. */
  readonly window: number;
  /** Maximum number of messages from the broker that are not acknowledged. MQTT 5 sends this limit to the broker. */
  readonly receiveMaximum: number;
  /** Time limit in ms from dialing to CONNACK, and for every other acknowledgement. */
  readonly timeout: number;
  readonly will?: { readonly topic: string; readonly payload: Uint8Array; readonly delay: number };
}

/**
 * Returns the content of CONNECT (MQTT 5 clause 3.1), with options that prevent the library from queueing messages.
 * Throws if the password cannot be read.
 */
function connectOptions(version: Version, identity: Identity): IClientOptions {
  const { will } = identity;
  const password = typeof identity.password === 'function' ? identity.password() : identity.password;
  const properties = { contentType, willDelayInterval: will?.delay ?? 0 };
  return {
    protocolId: 'MQTT',
    protocolVersion: version,
    clientId: identity.clientId,
    // Resume the previous session, so that messages sent during an absence arrive, unless sessions end with the
    // connection.
    clean: identity.sessionExpiry === 0,
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
    // The library must neither store nor repeat messages: the outbox does so, and this client ends with its socket.
    reconnectPeriod: 0,
    resubscribe: false,
    queueQoSZero: false,
    outgoingStore: new EmptyStore(),
    incomingStore: new EmptyStore(),
    // The connection has its own timer, so disable the library's by its maximum of 2^31 - 1 ms.
    connectTimeout: 0x7fff_ffff,
  };
}

/** Returns the CONNECT options of the client. If its password cannot be read, `fault` is the reason. */
export function sayable(version: Version, identity: Identity): { options: IClientOptions; fault?: unknown } {
  try {
    return { options: connectOptions(version, identity) };
  } catch (fault) {
    return { options: connectOptions(version, { ...identity, password: undefined }), fault };
  }
}
