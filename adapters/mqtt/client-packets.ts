/** Checks the completeness, size and form of packets from a client before the embedded broker gets them. */
import type { Client } from 'aedes';
import { malformation, type ProtocolLevel } from './packet-form.ts';
import { PacketSplitter } from './packet-splitter.ts';

/** Maximum size of a CONNECT with its will in bytes: its sender is not authenticated yet. A car sends about 200. */
const MAX_CONNECT_BYTES = 4_096;
/** A car resends each message, of up to 16 MiB plus topic and properties, until it is acknowledged. */
const MAX_PACKET_BYTES = 0x101_0000;

const CONNECT = 1;

interface PacketParser {
  parse(bytes: Buffer): unknown;
}

/**
 * Puts the checks between the socket and the broker's parser, which otherwise would buffer up to 256 MiB for a packet
 * that is only announced. Calls `refused` once, with the reason as a string; the caller must end the connection, and
 * the parser gets no more data.
 */
export function checkPackets(
  client: Client,
  refused: (reason: string) => void,
  failed: (error: unknown) => void,
): void {
  // The library's types lack the parser, through which every byte from a client passes.
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

/** Splits and checks the packets of one client, up to the first invalid one. */
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

  /** Returns the reason why a packet was rejected; only once. */
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
    // CONNECT is complete and well formed here. The version follows the protocol name.
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
