/**
 * Checks the form of whole MQTT packets before a library handles them: lengths stay within the packet, identifiers are
 * not zero, and each property has the right type, belongs to the packet and occurs once (MQTT 5 clauses 2.2.2 and
 * 3.1.2.11 to 3.15.2.2). If the library gets two values where it expects one, it throws where no caller of ours can
 * catch it.
 */
import { PacketFields } from './packet-properties.ts';

export type ProtocolLevel = 3 | 4 | 5;

/** Packet names by type number (MQTT 5 clause 2.1.2). */
const names = [
  'reserved packet',
  'CONNECT',
  'CONNACK',
  'PUBLISH',
  'PUBACK',
  'PUBREC',
  'PUBREL',
  'PUBCOMP',
  'SUBSCRIBE',
  'SUBACK',
  'UNSUBSCRIBE',
  'UNSUBACK',
  'PINGREQ',
  'PINGRESP',
  'DISCONNECT',
  'AUTH',
] as const;

const [PUBLISH, PUBREL, SUBSCRIBE, UNSUBSCRIBE] = [3, 6, 8, 10];
/** Flag bits of CONNECT (MQTT 5 clause 3.1.2.3). */
const [RESERVED, WILL, WILL_REST, PASSWORD, USER_NAME] = [0x01, 0x04, 0x38, 0x40, 0x80];
const QOS_3 = 3;

type Check = (packet: PacketFields, level: ProtocolLevel) => void;

/**
 * Returns a human-readable reason why a packet is malformed, or undefined if it is well formed. `packet` is a whole
 * packet with its fixed header; `level` is the protocol version of the connection (a CONNECT contains its own).
 */
export function malformation(packet: Uint8Array, level: ProtocolLevel): string | undefined {
  const first = packet[0] ?? 0;
  const [type, flags] = [first >> 4, first & 0xf];
  const reader = new PacketFields(packet, bodyStart(packet));
  if (type === PUBLISH) checkPublish(reader, level, (flags >> 1) & 3);
  else {
    const wanted = type === PUBREL || type === SUBSCRIBE || type === UNSUBSCRIBE ? 2 : 0;
    if (flags !== wanted) reader.fail(`its flags are ${flags} instead of ${wanted}`);
    checks[type]?.(reader, level);
    reader.finish();
  }
  return reader.fault === undefined ? undefined : `${names[type]}: ${reader.fault}`;
}

function bodyStart(packet: Uint8Array): number {
  let at = 1;
  while ((packet[at] ?? 0) >= 0x80) at++;
  return at + 1;
}

function checkConnect(packet: PacketFields): void {
  const name = packet.text();
  // By convention, brokers set bit 7 for a bridge.
  const level = packet.byte() & 0x7f;
  if (name !== 'MQTT' && name !== 'MQIsdp') packet.fail('its protocol is not MQTT');
  if (level !== 3 && level !== 4 && level !== 5) packet.fail(`its protocol version is ${level}`);
  const flags = packet.byte();
  const will = (flags & WILL) !== 0;
  if ((flags & RESERVED) !== 0) packet.fail('its reserved flag is set');
  if (!will && (flags & WILL_REST) !== 0) packet.fail('it has flags of a will and no will');
  if (((flags >> 3) & 3) === QOS_3) packet.fail('its will has QoS 3');
  packet.number(2);
  if (level === 5) packet.properties('CONNECT');
  packet.text();
  if (will) {
    if (level === 5) packet.properties('will');
    packet.text();
    packet.binary();
  }
  if ((flags & USER_NAME) !== 0) packet.text();
  if ((flags & PASSWORD) !== 0) packet.binary();
}

function checkConnack(packet: PacketFields, level: ProtocolLevel): void {
  if (packet.byte() > 1) packet.fail('its acknowledge flags are above 1');
  packet.byte();
  // A broker that does not support MQTT 5 refuses it in the form of 3.1.1, without properties.
  if (level === 5 && packet.left > 0) packet.properties('CONNACK');
}

function checkPublish(packet: PacketFields, level: ProtocolLevel, qos: number): void {
  if (qos === QOS_3) packet.fail('its QoS is 3');
  packet.text();
  if (qos > 0) packet.identifier();
  if (level === 5) packet.properties('PUBLISH');
}

/** Checks packets that have an optional reason code and properties (MQTT 5 clauses 3.4.2.1 and 3.14.2.1). */
function checkReason(packet: PacketFields, level: ProtocolLevel, name: 'PUBACK' | 'DISCONNECT' | 'AUTH'): void {
  if (level !== 5) return;
  if (packet.left > 0) packet.byte();
  if (packet.left > 0) packet.properties(name);
}

const checkAcknowledgement: Check = (packet, level) => {
  packet.identifier();
  checkReason(packet, level, 'PUBACK');
};

/** Checks packets that have an identifier and a non-empty list (MQTT 5 clauses 3.8.3, 3.9.3, 3.10.3, 3.11.3). */
function checkList(
  packet: PacketFields,
  level: ProtocolLevel,
  properties: 'SUBSCRIBE' | 'UNSUBSCRIBE' | 'PUBACK',
  entry: () => void,
): void {
  packet.identifier();
  if (level === 5) packet.properties(properties);
  if (packet.left === 0) packet.fail('its list is empty');
  while (packet.left > 0 && packet.fault === undefined) entry();
}

function checkSubscription(packet: PacketFields, level: ProtocolLevel): void {
  packet.text();
  const options = packet.byte();
  if ((options & 3) === QOS_3) packet.fail('a subscription has QoS 3');
  if (level === 5 ? (options & 0xc0) !== 0 || (options & 0x30) === 0x30 : (options & 0xfc) !== 0) {
    packet.fail('a subscription has reserved options');
  }
}

/** Checks by packet type number. A packet type without a check must have no body. */
const checks: Readonly<Record<number, Check>> = {
  0: (packet) => packet.fail('this type does not exist'),
  1: checkConnect,
  2: checkConnack,
  4: checkAcknowledgement,
  5: checkAcknowledgement,
  6: checkAcknowledgement,
  7: checkAcknowledgement,
  8: (packet, level) => checkList(packet, level, 'SUBSCRIBE', () => checkSubscription(packet, level)),
  9: (packet, level) => checkList(packet, level, 'PUBACK', () => packet.byte()),
  10: (packet, level) => checkList(packet, level, 'UNSUBSCRIBE', () => packet.text()),
  11: (packet, level) => (level === 5 ? checkList(packet, level, 'PUBACK', () => packet.byte()) : packet.identifier()),
  14: (packet, level) => checkReason(packet, level, 'DISCONNECT'),
  15: (packet, level) => {
    if (level !== 5) packet.fail('only MQTT 5 has this type');
    checkReason(packet, level, 'AUTH');
  },
};
