/** Checks the packets of an embedded-broker client for completeness, size and form before the broker gets them. */
import type { Client } from 'aedes';
import { malformation, type ProtocolLevel } from './packet-form.ts';
import { PacketSplitter } from './packet-splitter.ts';

/** Size limit of CONNECT with its will: it arrives before the client is authenticated. A car sends some 200 bytes. */
const MAX_CONNECT_BYTES = 4_096;
/** A car stores messages of up to 16 MiB and resends each until acknowledged; topic and properties need more room. */
const MAX_PACKET_BYTES = 0x101_0000;

const CONNECT = 1;

interface PacketParser {
  parse(bytes: Buffer): unknown;
}

/**
 * Puts the checks between the socket and the broker's parser, which would gather up to 256 MiB for a packet that is
 * only announced. Calls `refused` once, with the reason as text: the connection must end, and the parser gets no more
 * data.
 */
export function checkPackets(
  client: Client,
  refused: (reason: string) => void,
  failed: (error: unknown) => void,
): void {
  // The library's types lack the parser. Every byte of a client passes through it.
  const parser = Reflect.get(client, '_parser') as PacketParser;
  const parse = parser.parse.bind(parser);
  const check = new ClientPackets();
  parser.parse = (chunk) => {
    for (const packet of check.feed(chunk)) {
      try {
        parse(packet);
      } catch (error) {
        failed(error);
        return;
      }
    }
    const fault = check.takeFault();
    if (fault !== undefined) refused(fault);
  };
}

/** Packets of one client, until the first that is refused. */
class ClientPackets {
  readonly #splitter = new PacketSplitter();
  #level: ProtocolLevel | undefined;
  #fault: string | undefined;
  #stopped = false;

  /** Adds received bytes and returns the complete valid packets. */
  feed(chunk: Buffer): readonly Buffer[] {
    const good: Buffer[] = [];
    if (this.#stopped) return good;
    for (const packet of this.#splitter.feed(chunk)) {
      if (!this.#passes(packet[0], packet.length) || !this.#isWellFormed(packet)) return good;
      good.push(packet);
    }
    const { first, announced } = this.#splitter;
    if (first !== undefined) this.#passes(first, announced ?? 0);
    return good;
  }

  /** Returns the reason once, when a packet was refused. */
  takeFault(): string | undefined {
    const fault = this.#fault;
    this.#fault = undefined;
    return fault;
  }

  #passes(first = 0, bytes: number): boolean {
    const isFirst = this.#level === undefined;
    const most = isFirst ? MAX_CONNECT_BYTES : MAX_PACKET_BYTES;
    if (isFirst && first >> 4 !== CONNECT) this.#stop('the first packet is not CONNECT');
    else if (bytes > most) this.#stop(`a packet of ${bytes} bytes comes, ${most} are allowed`);
    return !this.#stopped;
  }

  #isWellFormed(packet: Buffer): boolean {
    const fault = malformation(packet, this.#level ?? 4);
    if (fault !== undefined) this.#stop(`a malformed packet (${fault})`);
    // The version follows the protocol name; CONNECT is whole and well formed here.
    else if (this.#level === undefined) this.#level = levelOf(packet);
    return !this.#stopped;
  }

  #stop(fault: string): void {
    this.#stopped = true;
    this.#fault = fault;
  }
}

/** Returns the protocol version of a well-formed CONNECT (MQTT 5 clause 3.1.2.2). */
function levelOf(connect: Buffer): ProtocolLevel {
  const body = connect.length > 129 ? 3 : 2;
  const name = connect.readUInt16BE(body);
  return ((connect[body + 2 + name] ?? 4) & 0x7f) as ProtocolLevel;
}
