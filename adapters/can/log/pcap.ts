/**
 * pcap (draft-ietf-opsawg-pcap): a header of 24 bytes, then packets:
 *
 *     0  seconds   4  micro- or nanoseconds   8  captured length   12  original length
 */
import { IdentifierOrder, readAhead } from './identifier-order.ts';
import { pcapHeader, SLL2, SOCKETCAN } from './link-types.ts';
import { addPacket, type Packet } from './packets.ts';
import type { LogParser, Recording } from './recording.ts';

const HEADER = 24;
const PACKET = 16;
/** Largest packet in bytes: tcpdump and Wireshark store no more of a packet. */
const LARGEST = 262_144;

export class PcapParser implements LogParser {
  readonly #recording: Recording;
  readonly #little: boolean;
  readonly #perMillisecond: number;
  readonly #linkType: number;
  readonly #begunWith: string;
  readonly #order: IdentifierOrder;
  /** True once the byte order of identifiers was detected from the first packets. */
  #judged: boolean;
  /** True once the file header was read. */
  #begun = false;
  /** True if the packet boundaries are lost. */
  #lost = false;
  #position = 0;

  /**
   * @param begun first bytes of the file, as Latin-1
   * @param order detected by a parser that reads the same file
   */
  constructor(recording: Recording, begun: string, order?: IdentifierOrder) {
    const { little = true, perSecond = 1e6, linkType = 0 } = pcapHeader(begun) ?? {};
    this.#recording = recording;
    this.#little = little;
    this.#perMillisecond = perSecond / 1000;
    this.#linkType = linkType;
    this.#begunWith = begun;
    this.#order = order ?? new IdentifierOrder(little && linkType !== SOCKETCAN);
    this.#judged = order !== undefined;
  }

  parse(bytes: Uint8Array, from: number, end: number, last: boolean): number {
    if (!this.#judged) {
      this.#judged = true;
      readAhead((scratch) => new PcapParser(scratch, this.#begunWith, this.#order), bytes, from, end);
    }
    const pos = this.#parse(bytes, from, end, last);
    this.#position += pos - from;
    return pos;
  }

  #parse(bytes: Uint8Array, from: number, end: number, last: boolean): number {
    const recording = this.#recording;
    const little = this.#little;
    const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
    let pos = from;
    if (!this.#begun) {
      if (end - pos < HEADER) return last && end > pos ? this.#cut(end) : pos;
      this.#begun = true;
      pos += HEADER;
    }
    if (this.#lost) return end;
    const packet: { -readonly [key in keyof Packet]: Packet[key] } = { at: 0, from: 0, to: 0, sent: false };
    while (!recording.full) {
      const left = end - pos;
      const size = left < PACKET ? 0 : view.getUint32(pos + 8, little);
      if (size > LARGEST) {
        const where = this.#position + pos - from;
        const reason = 'a packet claims an impossible size';
        recording.fault(0, `${reason} (${size}), at byte ${where}: nothing behind it can be read`, reason);
        this.#lost = true;
        return end;
      }
      if (left < PACKET + size) return last && left > 0 ? this.#cut(end) : pos;
      packet.at = view.getUint32(pos, little) * 1000 + view.getUint32(pos + 4, little) / this.#perMillisecond;
      packet.from = pos + PACKET;
      packet.to = packet.from + size;
      const fault = addPacket(recording, view, this.#order, this.#linkType, packet, this.#busOf);
      if (fault !== undefined) recording.fault(0, fault);
      pos = packet.to;
    }
    return pos;
  }

  readonly #busOf = (interfaceNumber: number): number =>
    this.#linkType === SLL2 ? this.#recording.bus(`if${interfaceNumber}`) : this.#recording.channel(0);

  #cut(end: number): number {
    this.#recording.fault(0, 'the file ends within a packet');
    return end;
  }
}
