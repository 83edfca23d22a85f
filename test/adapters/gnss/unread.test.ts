import { describe, expect, test } from 'vitest';
import { identifyProtocol } from '../../../adapters/gnss/unread.ts';
import { bytesOf, sentence, sirfFrame } from './sentences.ts';
import { ubxFrame } from './ubx-writer.ts';

const payload = Uint8Array.from({ length: 40 }, (_, i) => (i * 37 + 16) & 255);
const times = <T>(count: number, what: T): T[] => Array<T>(count).fill(what);
const joined = (...parts: readonly (readonly number[] | Uint8Array)[]): Uint8Array =>
  Uint8Array.from(parts.flatMap((part) => [...part]));

/** DLE, the packet with DLE doubled, DLE ETX. */
function packet(...content: readonly number[]): Uint8Array {
  return joined(
    [0x10],
    content.flatMap((byte) => (byte === 0x10 ? [byte, byte] : [byte])),
    [0x10, 3],
  );
}

function garmin(kind: number, data: readonly number[]): Uint8Array {
  const content = [kind, data.length, ...data];
  return packet(...content, -content.reduce((sum, byte) => sum + byte, 0) & 255);
}

/** CRC-24Q bit by bit, over a message of zeros and ones. */
function rtcm3(data: readonly number[]): Uint8Array {
  const frame = [0xd3, data.length >> 8, data.length & 255, ...data];
  let crc = 0;
  for (const bit of [...frame, 0, 0, 0].flatMap((byte) => [7, 6, 5, 4, 3, 2, 1, 0].map((i) => (byte >> i) & 1))) {
    crc = (crc << 1) | bit;
    if (crc & 0x1000000) crc ^= 0x1864cfb;
  }
  return joined(frame, [crc >> 16, (crc >> 8) & 255, crc & 255]);
}

const novatelHead = joined([0xaa, 0x44, 0x12, 28, 42, 0, 0, 0x20, payload.length, 0], new Uint8Array(18));
const skytraq = joined([0xa0, 0xa1, 0, payload.length], payload, [0], [13, 10]);
const sbf = joined([0x24, 0x40, 1, 2, 0xa7, 0x0f, 48, 0], payload);

describe('an unsupported protocol is named', () => {
  test.each<[string, Uint8Array]>([
    ['RTCM 3', rtcm3([...payload])],
    ['RTCM 2', bytesOf('YpgA_]qS@oglgyC|\x7foAxCJxqBHsDzu_FsHEfOXAdbwg@Es~]'.repeat(6))],
    ['NovAtel binary', joined(...times(3, joined(novatelHead, payload, [1, 2, 3, 4])))],
    ['NovAtel ASCII', bytesOf('#BESTPOSA,COM1,0,90.0,FINE,1949,403742.0;SOL,51.1,-114.0*6de99eb7\r\n'.repeat(3))],
    ['Septentrio SBF', joined(...times(3, sbf))],
    ['SkyTraq binary', joined(...times(3, skytraq))],
    ['Garmin binary', joined(...times(3, garmin(51, [...payload])))],
    ['Trimble TSIP', joined(...times(3, packet(0x8f, 0xab, ...payload)))],
    ['Motorola Oncore', joined(...times(3, joined(bytesOf('@@Ea'), [1, 2, 3, 4, 13, 10])))],
    ['Javad GREIS', bytesOf('~~005\x01\x02\x03\x04\x05\n'.repeat(3))],
    ['RINEX', bytesOf('     3.03           OBSERVATION DATA    M: MIXED            RINEX VERSION / TYPE\n')],
    ['GPX', bytesOf('<?xml version="1.0"?>\n<gpx version="1.1">\n<trk/></gpx>')],
    ['KML', bytesOf('<?xml version="1.0"?>\n<kml xmlns="http://www.opengis.net/kml/2.2"/>')],
  ])('%s', (name, bytes) => {
    expect(identifyProtocol(bytes)).toMatch(new RegExp(`^${name}`));
    // Other recordings have no such name.
    expect(identifyProtocol(bytes.map((byte) => byte ^ 0x5a))).toBeUndefined();
  });

  test('supported protocols and arbitrary bytes are not', () => {
    const read = [
      bytesOf(`${sentence('GPGLL,4807.038,N,01130.000,E,120000,A')}\r\n`.repeat(20)),
      joined(...times(20, sirfFrame(payload))),
      joined(...times(20, ubxFrame(0x0107, payload))),
      new Uint8Array(5000),
      new Uint8Array(5000).fill(0x10),
      new Uint8Array(5000).fill(0x41),
    ];
    expect(read.map(identifyProtocol)).toEqual(read.map(() => undefined));
  });

  test('any prefix of a recording can be examined', () => {
    const bytes = joined(rtcm3([...payload]), novatelHead, sbf, skytraq, garmin(51, [...payload]), packet(1, 2, 3));
    for (let length = 0; length <= bytes.length; length++) {
      for (let from = 0; from < length; from += 7) identifyProtocol(bytes.subarray(from, length));
    }
    expect(identifyProtocol(bytes)).toMatch(/^RTCM 3/);
  });
});
