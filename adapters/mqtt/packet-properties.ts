/**
 * Reads the properties of MQTT 5 packets strictly, in place of mqtt-packet's own way: that turns a property which comes twice
 * into an array, and bytes that are missing into -1, which the client library does not expect and throws at outside of any
 * call. A packet with a fault here is never emitted; the parser emits `error` instead.
 */
// @ts-expect-error: the package has no types for this file.
import untyped from 'mqtt-packet/parser.js';

/** The members of mqtt-packet's parser that this file uses. */
interface PacketParser {
  readonly packet: { readonly cmd: string; readonly length: number };
  /** Place in the packet behind its fixed header. */
  _pos: number;
  _parseByte(): number | undefined;
  _parseNum(): number;
  _parse4ByteNum(): number;
  _parseVarByteNum(): number | false;
  _parseString(): string | null;
  _parseBuffer(): Buffer | null;
  _emitError(error: Error): void;
}

type Value = number | boolean | string | Buffer;
type Read = (parser: PacketParser) => Value | undefined;

const above = (least: number, value: number | false): number | undefined =>
  value === false || value < least ? undefined : value;
const byte: Read = (parser) => {
  const value = parser._parseByte();
  return value === 0 || value === 1 ? value === 1 : undefined;
};
const quality: Read = (parser) => {
  const value = parser._parseByte();
  return value === 0 || value === 1 ? value : undefined;
};
const short: Read = (parser) => above(0, parser._parseNum());
const positiveShort: Read = (parser) => above(1, parser._parseNum());
const long: Read = (parser) => above(0, parser._parse4ByteNum());
const positiveLong: Read = (parser) => above(1, parser._parse4ByteNum());
const text: Read = (parser) => parser._parseString() ?? undefined;
const binary: Read = (parser) => parser._parseBuffer() ?? undefined;
const identifier: Read = (parser) => above(1, parser._parseVarByteNum());

/** Not in the table: it may come again and again in each packet. */
const USER_PROPERTY = 0x26;
const SUBSCRIPTION_IDENTIFIER = 0x0b;
const withReason = ['connack', 'puback', 'pubrec', 'pubrel', 'pubcomp', 'suback', 'unsuback', 'disconnect', 'auth'];

/** By identifier: name, how its value is read, and the packets that may have it (MQTT 5 clause 2.2.2.2, table 2-4). A will is part of CONNECT. */
const properties: ReadonlyMap<number, readonly [name: string, read: Read, packets: readonly string[]]> = new Map([
  [0x01, ['payloadFormatIndicator', byte, ['publish', 'connect']]],
  [0x02, ['messageExpiryInterval', long, ['publish', 'connect']]],
  [0x03, ['contentType', text, ['publish', 'connect']]],
  [0x08, ['responseTopic', text, ['publish', 'connect']]],
  [0x09, ['correlationData', binary, ['publish', 'connect']]],
  [SUBSCRIPTION_IDENTIFIER, ['subscriptionIdentifier', identifier, ['publish', 'subscribe']]],
  [0x11, ['sessionExpiryInterval', long, ['connect', 'connack', 'disconnect']]],
  [0x12, ['assignedClientIdentifier', text, ['connack']]],
  [0x13, ['serverKeepAlive', short, ['connack']]],
  [0x15, ['authenticationMethod', text, ['connect', 'connack', 'auth']]],
  [0x16, ['authenticationData', binary, ['connect', 'connack', 'auth']]],
  [0x17, ['requestProblemInformation', byte, ['connect']]],
  [0x18, ['willDelayInterval', long, ['connect']]],
  [0x19, ['requestResponseInformation', byte, ['connect']]],
  [0x1a, ['responseInformation', text, ['connack']]],
  [0x1c, ['serverReference', text, ['connack', 'disconnect']]],
  [0x1f, ['reasonString', text, withReason]],
  [0x21, ['receiveMaximum', positiveShort, ['connect', 'connack']]],
  [0x22, ['topicAliasMaximum', short, ['connect', 'connack']]],
  [0x23, ['topicAlias', positiveShort, ['publish']]],
  [0x24, ['maximumQoS', quality, ['connack']]],
  [0x25, ['retainAvailable', byte, ['connack']]],
  [0x27, ['maximumPacketSize', positiveLong, ['connect', 'connack']]],
  [0x28, ['wildcardSubscriptionAvailable', byte, ['connack']]],
  [0x29, ['subscriptionIdentifiersAvailable', byte, ['connack']]],
  [0x2a, ['sharedSubscriptionAvailable', byte, ['connack']]],
]);

type Properties = Record<string, Value | number[] | object>;

/** The properties at the place of the parser; false after it has emitted an error, as the parser's own functions return it. */
function parseProperties(this: PacketParser): Properties | false {
  const fail = (fault: string): false => {
    this._emitError(new Error(`malformed ${this.packet.cmd}: ${fault}`));
    return false;
  };
  const length = this._parseVarByteNum();
  const end = this._pos + Number(length);
  if (length === false || end > this.packet.length) return fail('its properties are longer than the packet');
  const result: Properties = {};
  while (this._pos < end) {
    const id = this._parseByte() ?? 0;
    if (id === USER_PROPERTY) {
      if (!addUserProperty(result, this._parseString(), this._parseString())) return fail('a user property is cut off');
      continue;
    }
    const [name, read, packets] = properties.get(id) ?? [];
    if (name === undefined || read === undefined) return fail(`there is no property ${id}`);
    if (packets?.includes(this.packet.cmd) !== true) return fail(`it must not have ${name}`);
    const value = read(this);
    if (value === undefined) return fail(`${name} has an impossible value`);
    if (!Object.hasOwn(result, name)) result[name] = value;
    else if (id !== SUBSCRIPTION_IDENTIFIER || this.packet.cmd !== 'publish') return fail(`${name} comes twice`);
    else result[name] = [result[name], value].flat() as number[];
  }
  return this._pos === end ? result : fail('a property is longer than the properties');
}

/** As mqtt-packet has them: by name, a list where a name comes again. */
function addUserProperty(result: Properties, name: string | null, value: string | null): boolean {
  if (name === null || value === null) return false;
  result['userProperties'] ??= Object.create(null) as object;
  const all = result['userProperties'] as Record<string, string | string[]>;
  const before = all[name];
  all[name] = before === undefined ? value : [before, value].flat();
  return true;
}

Object.assign((untyped as { readonly prototype: object }).prototype, { _parseProperties: parseProperties });
