/** Tests parsers of GNSS receivers and gpsd. Fixes must not depend on where the bytes of a recording are split. */
import { type Fix, type FixParser, GpsdParser, NmeaParser } from '../../../adapters/gnss/index.ts';
import { sirfFrame, told } from '../../../test/adapters/gnss/sentences.ts';
import { eoe, older, pvt, sol, timeGps, ubxFrame } from '../../../test/adapters/gnss/ubx-writer.ts';
import { Contradiction, type FuzzTarget, latin1, texts } from '../target.ts';

const latest = Date.UTC(2026, 0, 1);

const drive = told(
  'GPGGA,120000,4807.038,N,01131.000,E,1,08,0.9,545.4,M,46.9,M,,',
  'GPRMC,120000,A,4807.038,N,01131.000,E,022.4,084.4,230394,003.1,W',
  'GNGSA,A,3,04,05,,09,12,,,24,,,,,2.5,1.3,2.1',
  'GNGST,120000,0.6,0.5,0.4,30.0,0.5,0.4,1.1',
  'GPVTG,054.7,T,034.4,M,005.5,N,010.2,K',
  'GPGLL,4916.45,N,12311.12,W,225444,A',
  'GNRMC,120001.50,A,4807.038,S,01131.000,W,022.4,084.4,290220,,,D,V',
  'GPZDA,201530.00,04,07,2002,00,00',
);

function fixesOf(parser: FixParser, pieces: readonly Uint8Array[]): string {
  const fixes: Fix[] = [];
  for (const piece of pieces) fixes.push(...parser.push(piece));
  fixes.push(...parser.finish());
  return JSON.stringify([fixes, parser.faults.count]);
}

function run(make: () => FixParser, input: Uint8Array): boolean {
  const whole = fixesOf(make(), [input]);
  const at = (input.length * (input[0] ?? 0)) >> 8;
  const pieces = [input.subarray(0, at), input.subarray(at, at + 1), input.subarray(at + 1)];
  const parts = fixesOf(make(), pieces);
  if (whole !== parts)
    throw new Contradiction(`cut at ${at}: ${parts.slice(0, 300)} instead of ${whole.slice(0, 300)}`);
  return !whole.startsWith('[[]');
}

const nmeaParser = () => new NmeaParser({ file: 'fuzz', latest });

/** Corrects the checksums of the text between `$` and `*`. */
function mendSentences(input: Uint8Array): Uint8Array {
  const mended = latin1(input).replaceAll(/\$([^$*\r\n]*)\*[^\r\n]{0,2}/g, (_, content: string) => {
    let sum = 0;
    for (const character of content) sum ^= character.charCodeAt(0);
    return `$${content}*${sum.toString(16).toUpperCase().padStart(2, '0')}`;
  });
  return Buffer.from(mended, 'latin1');
}

/** Corrects the lengths and checksums of the content between the marks of SiRF frames. */
function mendFrames(input: Uint8Array): Uint8Array {
  const bytes = Buffer.from(input);
  const pieces: Uint8Array[] = [];
  let from = 0;
  for (;;) {
    const begin = bytes.indexOf('a0a2', from, 'hex');
    const end = begin < 0 ? -1 : bytes.indexOf('b0b3', begin + 6, 'hex');
    if (end < 0 || end - begin > 1024) return Buffer.concat([...pieces, bytes.subarray(from)]);
    pieces.push(bytes.subarray(from, begin), sirfFrame(bytes.subarray(begin + 4, Math.max(begin + 4, end - 2))));
    from = end + 2;
  }
}

function navigation(): Uint8Array {
  const payload = Buffer.alloc(41);
  payload[0] = 2;
  [4_201_000, 168_000, 4_780_000].forEach((metres, i) => {
    payload.writeInt32BE(metres, 1 + 4 * i);
  });
  payload[19] = 4;
  payload.writeUInt16BE(300, 22);
  payload.writeUInt32BE(30_000_000, 24);
  payload[28] = 7;
  return sirfFrame(payload);
}

export const nmea: FuzzTarget = {
  name: 'nmea',
  seeds: () => texts(drive, `# Date: 2020-02-29\n${drive.slice(0, 150)}`, drive.replaceAll(/\*../g, '')),
  words: ['$GPGGA', '$GNRMC', '$PMTK', '!AIVDM', '*', ',', ',,', '$', '\\s:r*00\\', '240000', '235960', '9000.0', '\r'],
  mend: mendSentences,
  run: (input) => run(nmeaParser, input),
};

export const sirf: FuzzTarget = {
  name: 'sirf',
  seeds: () => [
    navigation(),
    Buffer.concat([
      navigation(),
      Buffer.from(told('GPGGA,120000,4807.038,N,01131.000,E,1,08,0.9,545.4,M,46.9,M,,')),
      navigation(),
    ]),
  ],
  mend: mendFrames,
  run: (input) => run(nmeaParser, input),
};

const place: Fix = { t: latest, latitude: 48.1, longitude: -11.5, altitude: 500, speed: 36, heading: 84, fix: '3D' };

/**
 * Corrects the lengths of UBX frames so that each ends at the next frame or at the end of the input, and the checksums
 * to match.
 */
function mendUbx(input: Uint8Array): Uint8Array {
  const bytes = Buffer.from(input);
  const pieces: Uint8Array[] = [];
  for (let from = 0; from < bytes.length; ) {
    const begin = bytes.indexOf('b562', from, 'hex');
    if (begin < 0 || begin + 8 > bytes.length) return Buffer.concat([...pieces, bytes.subarray(from)]);
    const said = begin + 8 + bytes.readUInt16LE(begin + 4);
    const next = bytes.indexOf('b562', begin + 8, 'hex');
    const end = said <= bytes.length ? said : next < 0 ? bytes.length : next;
    const message = bytes.readUInt16BE(begin + 2);
    pieces.push(bytes.subarray(from, begin), ubxFrame(message, bytes.subarray(begin + 6, end - 2)));
    from = end;
  }
  return Buffer.concat(pieces);
}

export const ubx: FuzzTarget = {
  name: 'ubx',
  seeds: () => [
    Buffer.concat([pvt(place), pvt({ ...place, t: latest + 1000 })]),
    Buffer.concat([older(place), eoe(place), older({ ...place, t: latest + 250 })]),
    Buffer.concat([sol(place, {}, [4_201_000, 168_000, 4_780_000, 1, 2, 3]), timeGps(place)]),
    Buffer.concat([Buffer.from(drive), pvt(place), Buffer.from(drive), older(place)]),
  ],
  mend: mendUbx,
  run: (input) => run(nmeaParser, input),
};

export const gpsd: FuzzTarget = {
  name: 'gpsd',
  seeds: () =>
    texts(
      '{"class":"VERSION","release":"3.25","rev":"3.25","proto_major":3,"proto_minor":15}\n' +
        '{"class":"TPV","device":"/dev/x","mode":3,"time":"2020-02-29T23:59:59.500Z","lat":48.1,"lon":-11.5,"altMSL":545.4,"alt":545.4,"speed":1.5,"track":84.4,"climb":0.1}\n' +
        '{"class":"SKY","uSat":8,"hdop":0.9,"satellites":[{"PRN":1,"used":true},{"PRN":2,"used":false}]}\n' +
        '{"class":"TPV","mode":1}\n',
    ),
  words: [
    '{',
    '}',
    '[',
    ']',
    '"',
    '\\',
    '\\u0000',
    'null',
    'true',
    '1e999',
    '"class":"TPV"',
    '"__proto__":1',
    ':',
    ',',
  ],
  run: (input) => run(() => new GpsdParser({ file: 'fuzz' }), input),
};
