/** Identifies recordings in known but unsupported protocols of receivers by their content. */

interface Protocol {
  /** Name of the protocol, for display. */
  readonly what: string;
  /** Returns the number of frames or lines of only this protocol; unmistakable ones count `enough` times. */
  count(bytes: Uint8Array, text: string): number;
}

/** Least number of frames: fewer may be a coincidence in a protocol without a checksum. */
const enough = 3;

const protocols: readonly Protocol[] = [
  { what: 'RTCM 3, corrections without a position', count: (bytes) => enough * count(bytes, (at) => rtcm3(bytes, at)) },
  { what: 'RTCM 2, corrections without a position', count: rtcm2 },
  { what: 'NovAtel binary', count: (bytes) => count(bytes, (at) => novatel(bytes, at)) },
  { what: 'NovAtel ASCII', count: (_, text) => matches(text, /^#[A-Z\d]+A,[^;\r\n]*;[^*\r\n]*\*[\da-f]{8}/gim) },
  { what: 'Septentrio SBF', count: (bytes) => count(bytes, (at) => sbf(bytes, at)) },
  { what: 'SkyTraq binary', count: (bytes) => count(bytes, (at) => skytraq(bytes, at)) },
  { what: 'Garmin binary', count: (bytes) => packets(bytes).filter(isGarmin).length },
  { what: 'Trimble TSIP', count: (bytes) => packets(bytes).filter((packet) => !isGarmin(packet)).length },
  { what: 'Motorola Oncore binary', count: (_, text) => matches(text, /(^|\r\n)@@[A-Z][a-z]/g) },
  { what: 'Javad GREIS', count: (_, text) => matches(text, /[~:]{2}00[56]/g) },
  { what: 'RINEX', count: (_, text) => enough * matches(text.slice(0, 200), /RINEX VERSION \/ TYPE/g) },
  { what: 'GPX, a track as XML', count: (_, text) => enough * matches(text, /<gpx[\s>]/g) },
  { what: 'KML, a track as XML', count: (_, text) => enough * matches(text, /<kml[\s>]/g) },
];

/** Returns the protocol of a recording, or undefined if it is not one of these. @param head its first bytes */
export function identifyProtocol(head: Uint8Array): string | undefined {
  const text = Buffer.from(head.buffer, head.byteOffset, head.byteLength).toString('latin1');
  return protocols.find(({ count: frames }) => frames(head, text) >= enough)?.what;
}

function matches(text: string, pattern: RegExp): number {
  return text.match(pattern)?.length ?? 0;
}

/**
 * Returns the number of consecutive frames. @param lengthAt returns the length of the frame at a position, 0 if there
 * is none
 */
function count(bytes: Uint8Array, lengthAt: (at: number) => number): number {
  let frames = 0;
  for (let at = 0; at < bytes.length; ) {
    const length = lengthAt(at);
    if (length > 0 && at + length <= bytes.length) frames++;
    at += length > 0 && at + length <= bytes.length ? length : 1;
  }
  return frames;
}

const u16 = (bytes: Uint8Array, at: number): number => (bytes[at] ?? 0) | ((bytes[at + 1] ?? 0) << 8);

/** Returns the length of a frame of RTCM 10403: D3, six zeros and ten bits of length, payload, CRC-24Q. */
function rtcm3(bytes: Uint8Array, at: number): number {
  if (bytes[at] !== 0xd3 || ((bytes[at + 1] ?? 255) & 0xfc) !== 0) return 0;
  const end = at + 3 + (((bytes[at + 1] as number) & 3) << 8) + (bytes[at + 2] ?? 0);
  if (end + 3 > bytes.length) return 0;
  let crc = 0;
  for (let i = at; i < end + 3; i++) {
    crc ^= (bytes[i] as number) << 16;
    for (let bit = 0; bit < 8; bit++) crc = (crc << 1) ^ ((crc & 0x800000) === 0 ? 0 : 0x1864cfb);
  }
  return (crc & 0xffffff) === 0 ? end + 3 - at : 0;
}

/** Detects RTCM 10402: six bits per byte, the two others 01. Other text has blanks and digits. */
function rtcm2(_: Uint8Array, text: string): number {
  const sample = text.replaceAll(/^#.*$|[\r\n]/gm, '').slice(0, 2000);
  return sample.length >= 200 && /^[@-\x7f]*$/.test(sample) && sample.includes('\x7f') ? enough : 0;
}

/** Length of a NovAtel frame: AA 44 12, header length; AA 44 13, message length (OEM7 manual, binary, short binary). */
function novatel(bytes: Uint8Array, at: number): number {
  if (bytes[at] !== 0xaa || bytes[at + 1] !== 0x44) return 0;
  if (bytes[at + 2] === 0x12 && bytes[at + 3] === 28) return 28 + u16(bytes, at + 8) + 4;
  return bytes[at + 2] === 0x13 ? 12 + (bytes[at + 3] ?? 0) + 4 : 0;
}

/** Length of an SBF frame: `$@`, CRC, number, length, a multiple of four (AsteRx SBF reference guide). */
function sbf(bytes: Uint8Array, at: number): number {
  if (bytes[at] !== 0x24 || bytes[at + 1] !== 0x40) return 0;
  const length = u16(bytes, at + 6);
  const next = at + length;
  return length >= 8 && length % 4 === 0 && (next === bytes.length || bytes[next] === 0x24) ? length : 0;
}

/**
 * Length of a SkyTraq frame: A0 A1, length (big-endian), payload, its exclusive or, CR LF (application note AN0037).
 */
function skytraq(bytes: Uint8Array, at: number): number {
  if (bytes[at] !== 0xa0 || bytes[at + 1] !== 0xa1) return 0;
  const length = (((bytes[at + 2] ?? 0) << 8) | (bytes[at + 3] ?? 0)) + 7;
  return bytes[at + length - 2] === 13 && bytes[at + length - 1] === 10 ? length : 0;
}

const DLE = 0x10;
const ETX = 3;
const longestPacket = 1024;

/** Returns the contents between DLE and DLE ETX (TSIP and Garmin). A DLE in the content is doubled. */
function packets(bytes: Uint8Array): Uint8Array[] {
  const found: Uint8Array[] = [];
  for (let at = 0; at < bytes.length; at++) {
    if (bytes[at] !== DLE || bytes[at + 1] === DLE || bytes[at + 1] === ETX) continue;
    const packet: number[] = [];
    let i = at + 1;
    while (i < bytes.length && packet.length < longestPacket) {
      if (bytes[i] !== DLE) packet.push(bytes[i++] as number);
      else if (bytes[i + 1] === DLE) {
        packet.push(DLE);
        i += 2;
      } else break;
    }
    if (packet.length < 3 || bytes[i] !== DLE || bytes[i + 1] !== ETX) continue;
    // The next packet must follow directly.
    if (i + 2 < bytes.length && bytes[i + 2] !== DLE) continue;
    found.push(Uint8Array.from(packet));
    at = i + 1;
  }
  return found;
}

/** Checks the length, and that all bytes add up to zero (Garmin Device Interface Specification, §3.1). */
function isGarmin(packet: Uint8Array): boolean {
  return packet[1] === packet.length - 3 && packet.reduce((sum, byte) => (sum + byte) & 255, 0) === 0;
}
