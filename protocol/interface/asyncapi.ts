/** The AsyncAPI 3.0 document of the messages on MQTT, generated from their schemas and topics. */
import { classOf, expiryOf } from '../classes.ts';
import { commandSchema } from '../command.ts';
import type { Kind } from '../schema/kind.ts';
import { kinds, messageSchema } from '../schema/message.ts';
import { type DownKind, downKinds, downTopic, presenceTopic, upTopic } from '../topics.ts';
import { watchSchema } from '../watch.ts';
import { mqttSchema } from './schemas/mqtt.ts';

/** Placeholder VIN that is replaced by the parameter of an address. */
const SOME_VIN = 'AAAAAAAAAAAAAAAAA';
const address = (topic: string): string => topic.replace(SOME_VIN, '{vin}');
const parameters = { vin: { description: 'Vehicle identification number of the car. ISO 3779.' } };
const titled = (text: string): string => `${text.slice(0, 1).toUpperCase()}${text.slice(1)}`;

/** Returns the whole document, as JSON types. */
export function asyncApi(): object {
  const ups = kinds.map((kind) => (kind === 'catalog' ? catalog : up(kind)));
  const downs = downKinds.map(down);
  return {
    asyncapi: '3.0.0',
    info: {
      title: 'Connected vehicle: messages',
      version: '1',
      description:
        'The messages that a car publishes and receives over MQTT 5 or 3.1.1. Payloads are CBOR (RFC 8949) as protocol/generated/vigie.cddl ' +
        'says: maps have the integer keys that `x-key` gives, a number is a count of its `x-resolution`, a name is its ' +
        'position in `x-values`. The schemas here show the same with names and physical values.',
      license: { name: 'Apache-2.0', url: 'https://www.apache.org/licenses/LICENSE-2.0' },
    },
    defaultContentType: 'application/cbor',
    channels: Object.fromEntries([...ups, presence, ...downs].map(({ name, channel }) => [name, channel])),
    operations: Object.fromEntries(
      [...ups, presence, ...downs].map(({ name, action, binding }) => [
        name === 'presence' ? 'tellPresence' : `${action === 'send' ? 'tell' : 'take'}${titled(name)}`,
        { action, channel: { $ref: `#/channels/${name}` }, bindings: { mqtt: binding } },
      ]),
    ),
  };
}

interface Described {
  readonly name: string;
  readonly channel: object;
  /** From the perspective of the car. */
  readonly action: 'send' | 'receive';
  readonly binding: object;
}

function up(kind: Kind): Described {
  const expiry = expiryOf(classOf(kind));
  const channel = {
    address: address(upTopic(SOME_VIN, kind)),
    description: `Messages of kind ${kind}.`,
    parameters,
    messages: {
      [kind]: { name: kind, contentType: 'application/cbor', payload: mqttSchema(messageSchema(kind)) },
    },
  };
  const binding = { qos: 1, messageExpiryInterval: expiry, bindingVersion: '0.2.0' };
  return { name: `up${titled(kind)}`, channel, action: 'send', binding };
}

/** Each part of a catalog has a separate topic, and never expires. */
const catalog: Described = {
  name: 'upCatalog',
  channel: {
    address: `${address(upTopic(SOME_VIN, 'catalog'))}-{catalog}-{part}`,
    description: 'What the numbers of custom signals stand for; retained.',
    parameters: {
      ...parameters,
      catalog: { description: 'Hash of the catalog, 16 digits in lower-case hexadecimal.' },
      part: { description: 'Number of the part, from 0.' },
    },
    messages: {
      catalog: { name: 'catalog', contentType: 'application/cbor', payload: mqttSchema(messageSchema('catalog')) },
    },
  },
  action: 'send',
  binding: { qos: 1, retain: true, bindingVersion: '0.2.0' },
};

const presence: Described = {
  name: 'presence',
  channel: {
    address: address(presenceTopic(SOME_VIN)),
    description: 'Whether the car can be reached; retained, and the will of its connection.',
    parameters,
    messages: {
      presence: {
        name: 'presence',
        contentType: 'text/plain',
        payload: { type: 'string', enum: ['online', 'asleep', 'offline'] },
      },
    },
  },
  action: 'send',
  binding: { qos: 1, retain: true, bindingVersion: '0.2.0' },
};

const meanings: Readonly<Record<DownKind, string>> = {
  remote: 'Signed commands to the car.',
  monitor: 'Signed commands that add and remove monitors.',
  callback: 'Signed commands that add and remove callbacks.',
  config: 'Signed commands that change the configuration.',
  ack: 'Reserved; the car ignores it.',
  watch:
    'Request for quicker sending while somebody watches the car; not signed. Until then the car sends gathered readings at once.',
};

function down(kind: DownKind): Described {
  const channel = {
    address: address(downTopic(SOME_VIN, kind)),
    description: meanings[kind],
    parameters,
    messages: kind === 'ack' ? {} : kind === 'watch' ? { watch } : { command },
  };
  return { name: `down${titled(kind)}`, channel, action: 'receive', binding: { qos: 1, bindingVersion: '0.2.0' } };
}

const watch = { name: 'watch', contentType: 'application/cbor', payload: mqttSchema(watchSchema) };

const command = {
  name: 'command',
  contentType: 'application/cbor',
  summary: 'A COSE_Sign1 (RFC 9052 §4.2); the schema is that of the signed content.',
  payload: mqttSchema(commandSchema),
};
