/** Detects packets that a broker must not send. */
import type { Packet } from 'mqtt-packet';

/** Packet types that a broker may send to this client (MQTT 5 clause 2.1.2), which uses no AUTH and sends no QoS 2. */
const fromBrokers: ReadonlySet<string> = new Set([
  'connack',
  'publish',
  'puback',
  'pubrel',
  'suback',
  'unsuback',
  'pingresp',
  'disconnect',
]);

/** Returns a description of the rule that the packet breaks, or undefined. */
export function brokenRule(packet: Packet): string | undefined {
  if (!fromBrokers.has(packet.cmd)) return `the broker sent ${packet.cmd}, which is for brokers`;
  // Our subscriptions request at most QoS 1 [MQTT-3.8.4-8], and the library would store a QoS 2 message.
  if (packet.cmd === 'publish' && packet.qos === 2) return 'the broker sent a message with QoS 2';
  // Identifiers are above 0 [MQTT-2.2.1-3].
  if (packet.messageId !== undefined && packet.messageId < 1) {
    return `the broker sent ${packet.cmd} without a packet identifier`;
  }
  return undefined;
}
