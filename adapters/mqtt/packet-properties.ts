/** Reads a packet's body within its bounds, and its properties according to the table of MQTT 5 (clause 2.2.2.2). */

type PropertyType = 'flag' | 'two' | 'four' | 'variable' | 'text' | 'binary' | 'pair';

/** Packets with properties. PUBREC, PUBREL, PUBCOMP, SUBACK and UNSUBACK have the same properties as PUBACK. */
export type PropertyPlace =
  | 'CONNECT'
  | 'will'
  | 'CONNACK'
  | 'PUBLISH'
  | 'PUBACK'
  | 'SUBSCRIBE'
  | 'UNSUBSCRIBE'
  | 'DISCONNECT'
  | 'AUTH';

export interface Property {
  readonly name: string;
  readonly type: PropertyType;
  /** Packets in which the property may occur; `all`: every packet that has properties. */
  readonly places: readonly PropertyPlace[] | 'all';
  /** If true, the value must not be zero. */
  readonly positive?: true;
}

const message = ['PUBLISH', 'will'] as const;
const handshake = ['CONNECT', 'CONNACK'] as const;
const authentication = ['CONNECT', 'CONNACK', 'AUTH'] as const;

/** Properties by identifier. */
export const properties: Readonly<Record<number, Property>> = {
  1: { name: 'payload format indicator', type: 'flag', places: message },
  2: { name: 'message expiry interval', type: 'four', places: message },
  3: { name: 'content type', type: 'text', places: message },
  8: { name: 'response topic', type: 'text', places: message },
  9: { name: 'correlation data', type: 'binary', places: message },
  11: { name: 'subscription identifier', type: 'variable', places: ['PUBLISH', 'SUBSCRIBE'], positive: true },
  17: { name: 'session expiry interval', type: 'four', places: ['CONNECT', 'CONNACK', 'DISCONNECT'] },
  18: { name: 'assigned client identifier', type: 'text', places: ['CONNACK'] },
  19: { name: 'server keep alive', type: 'two', places: ['CONNACK'] },
  21: { name: 'authentication method', type: 'text', places: authentication },
  22: { name: 'authentication data', type: 'binary', places: authentication },
  23: { name: 'request problem information', type: 'flag', places: ['CONNECT'] },
  24: { name: 'will delay interval', type: 'four', places: ['will'] },
  25: { name: 'request response information', type: 'flag', places: ['CONNECT'] },
  26: { name: 'response information', type: 'text', places: ['CONNACK'] },
  28: { name: 'server reference', type: 'text', places: ['CONNACK', 'DISCONNECT'] },
  31: { name: 'reason string', type: 'text', places: ['CONNACK', 'PUBACK', 'DISCONNECT', 'AUTH'] },
  33: { name: 'receive maximum', type: 'two', places: handshake, positive: true },
  34: { name: 'topic alias maximum', type: 'two', places: handshake },
  35: { name: 'topic alias', type: 'two', places: ['PUBLISH'], positive: true },
  36: { name: 'maximum QoS', type: 'flag', places: ['CONNACK'] },
  37: { name: 'retain available', type: 'flag', places: ['CONNACK'] },
  38: { name: 'user property', type: 'pair', places: 'all' },
  39: { name: 'maximum packet size', type: 'four', places: handshake, positive: true },
  40: { name: 'wildcard subscription available', type: 'flag', places: ['CONNACK'] },
  41: { name: 'subscription identifiers available', type: 'flag', places: ['CONNACK'] },
  42: { name: 'shared subscription available', type: 'flag', places: ['CONNACK'] },
};

const USER_PROPERTY = 0x26;
const SUBSCRIPTION_IDENTIFIER = 0x0b;
/** Size in bytes of the longest variable byte integer (MQTT 5 clause 1.5.5). */
const MAX_VARIABLE_BYTES = 4;
const MAX_TEXT_PREFIX = 2;

/** Reads the fields of a packet. Keeps only the first fault; all reads after it return zero or empty values. */
export class PacketFields {
  readonly #bytes: Uint8Array;
  #at: number;
  #end: number;
  #fault: string | undefined;

  constructor(bytes: Uint8Array, at: number) {
    this.#bytes = bytes;
    this.#at = Math.min(at, bytes.length);
    this.#end = bytes.length;
  }

  get fault(): string | undefined {
    return this.#fault;
  }

  /** Number of unread bytes. */
  get left(): number {
    return this.#end - this.#at;
  }

  fail(fault: string): void {
    this.#fault ??= fault;
    this.#at = this.#end;
  }

  /** Records a fault if bytes remain. */
  finish(): void {
    if (this.left > 0) this.fail(`${this.left} bytes follow its end`);
  }

  byte(): number {
    return this.number(1);
  }

  number(bytes: 1 | 2 | 4): number {
    const at = this.#skip(bytes);
    if (at === undefined) return 0;
    let value = 0;
    for (let i = at; i < at + bytes; i++) value = value * 0x100 + (this.#bytes[i] ?? 0);
    return value;
  }

  /** Reads a packet identifier, which must not be zero [MQTT-2.2.1-3]. */
  identifier(): void {
    if (this.number(2) === 0) this.fail('its packet identifier is 0');
  }

  text(): string {
    const length = this.number(MAX_TEXT_PREFIX);
    const at = this.#skip(length);
    // The result is only compared with the protocol name, whose characters are ASCII.
    return at === undefined || length > 6 ? '' : String.fromCharCode(...this.#bytes.subarray(at, at + length));
  }

  binary(): void {
    this.#skip(this.number(2));
  }

  variable(): number {
    let value = 0;
    for (let i = 0; i < MAX_VARIABLE_BYTES; i++) {
      const byte = this.byte();
      value += (byte & 0x7f) * 0x80 ** i;
      if (byte < 0x80) return value;
    }
    this.fail('a length has more than four bytes');
    return 0;
  }

  properties(place: PropertyPlace): void {
    const length = this.variable();
    if (length > this.left) this.fail('its properties are longer than the packet');
    const end = this.#end;
    this.#end = Math.min(end, this.#at + length);
    const seen = new Set<number>();
    while (this.left > 0) this.#property(place, seen);
    this.#end = end;
    if (this.#fault !== undefined) this.#at = end;
  }

  #property(place: PropertyPlace, seen: Set<number>): void {
    // All property identifiers have one byte.
    const id = this.byte();
    const property = properties[id];
    // A message has an identifier for each subscription that it matches (MQTT 5 clause 3.3.2.3.8).
    const repeats = id === USER_PROPERTY || (id === SUBSCRIPTION_IDENTIFIER && place === 'PUBLISH');
    if (property === undefined) this.fail(`there is no property ${id}`);
    else if (property.places !== 'all' && !property.places.includes(place)) {
      this.fail(`it may not have the property ${property.name}`);
    } else if (seen.has(id) && !repeats) this.fail(`it has the property ${property.name} twice`);
    else this.#value(property);
    seen.add(id);
  }

  #value({ name, type, positive }: Property): void {
    const value = this.#read(type);
    if (this.#fault !== undefined) return;
    if (type === 'flag' && value > 1) this.fail(`its ${name} is ${value} instead of 0 or 1`);
    if (positive && value === 0) this.fail(`its ${name} is 0`);
  }

  #read(type: PropertyType): number {
    switch (type) {
      case 'flag':
        return this.byte();
      case 'two':
        return this.number(2);
      case 'four':
        return this.number(4);
      case 'variable':
        return this.variable();
      case 'pair':
        this.binary();
        this.binary();
        return 0;
      default:
        this.binary();
        return 0;
    }
  }

  /** Returns where the skipped bytes start, or undefined if there are not enough bytes. */
  #skip(bytes: number): number | undefined {
    if (bytes > this.left) {
      this.fail('it ends too early');
      return undefined;
    }
    const at = this.#at;
    this.#at += bytes;
    return at;
  }
}
