/** Identity of a client towards its broker. */

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
  /** The password, or a function that reads it for each connection and may throw a VigieError that names its file. */
  readonly password: string | (() => string) | undefined;
  /** Silence before a ping, s. The connection counts as lost after 1.5 times this. */
  readonly keepalive: number;
  /** Time for which the broker keeps session and messages of an absent client, s (MQTT 5; 3.1.1 has no limit). */
  readonly sessionExpiry: number;
  /** Size limit of an accepted packet, bytes. */
  readonly maximumPacket: number;
  /** Largest number of unacknowledged publishes. */
  readonly window: number;
  /** Largest number of messages from the broker without acknowledgement. MQTT 5 sends this limit to the broker. */
  readonly receiveMaximum: number;
  /** Time limit from dialing to CONNACK, and for any other acknowledgement, ms. */
  readonly timeout: number;
  readonly will?: { readonly topic: string; readonly payload: Uint8Array; readonly delay: number };
}

/**
 * Returns the content of CONNECT (MQTT 5 clause 3.1), with options that keep the library from queueing messages. Throws
 * the errors of reading the password.
 */
function connectOptions(version: Version, identity: Identity): IClientOptions {
  const { will } = identity;
  const password = typeof identity.password === 'function' ? identity.password() : identity.password;
  const properties = { contentType, willDelayInterval: will?.delay ?? 0 };
  return {
    protocolId: 'MQTT',
    protocolVersion: version,
    clientId: identity.clientId,
    // The previous session resumes, so that messages sent during an absence arrive, unless it ends with the connection.
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
    // The library neither stores nor repeats messages: the outbox does that, and this client ends with its socket.
    reconnectPeriod: 0,
    resubscribe: false,
    queueQoSZero: false,
    outgoingStore: new EmptyStore(),
    incomingStore: new EmptyStore(),
    // The connection has its own timer, so disable the library's; its longest time is 2^31 - 1 ms.
    connectTimeout: 0x7fff_ffff,
  };
}

/** Returns the CONNECT options of the client, or the reason why they cannot be made. */
export function sayable(version: Version, identity: Identity): { options: IClientOptions; fault?: unknown } {
  try {
    return { options: connectOptions(version, identity) };
  } catch (fault) {
    return { options: connectOptions(version, { ...identity, password: undefined }), fault };
  }
}
