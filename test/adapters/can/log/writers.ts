/** Writes logs in the formats that the project reads, each according to its published description. */
import { deflateSync } from 'node:zlib';
import { BIT_RATE_SWITCH, ERROR_STATE, EXTENDED, FD, REMOTE, SENT } from '../../../../agent/ports.ts';
import type { Frame } from './frames.ts';

const pairs = (data: string) => data.toUpperCase().match(/../g)?.join(' ') ?? '';
const number = (frame: Frame) => frame.id & 0x1fff_ffff;
const extended = (frame: Frame) => (frame.id & EXTENDED) !== 0;
const remote = (frame: Frame) => (frame.id & REMOTE) !== 0;
const direction = (frame: Frame) => ((frame.flags & SENT) !== 0 ? 'Tx' : 'Rx');
const channel = (frame: Frame) => Number(frame.bus.slice(3)) + 1;
const bit = (frame: Frame, mask: number) => ((frame.flags & mask) !== 0 ? 1 : 0);
const code = (length: number) => [0, 1, 2, 3, 4, 5, 6, 7, 8, 12, 16, 20, 24, 32, 48, 64].indexOf(length);
const hex = (value: number, digits: number) => value.toString(16).toUpperCase().padStart(digits, '0');
const start = 1_436_509_052_000;

const seconds = (frame: Frame, origin = 0) => ((frame.at - origin) / 1000).toFixed(6);

export function asc(frames: readonly Frame[], base: 'hex' | 'dec', times: 'absolute' | 'relative'): string {
  const text = (value: number) => (base === 'hex' ? value.toString(16) : String(value));
  let before = start;
  const lines = frames.map((frame) => {
    const time = seconds(frame, times === 'absolute' ? start : before);
    before = frame.at;
    const id = `${text(number(frame))}${extended(frame) ? 'x' : ''}`;
    const bytes = base === 'hex' ? pairs(frame.data) : [...Buffer.from(frame.data, 'hex')].join(' ');
    if ((frame.flags & FD) !== 0) {
      const switches = `${bit(frame, BIT_RATE_SWITCH)} ${bit(frame, ERROR_STATE)}`;
      const size = `${text(code(frame.length))} ${frame.length}`;
      return `${time} CANFD ${channel(frame)} ${direction(frame)} ${id} ${switches} ${size} ${bytes} 130000 130 1000 0 0 0 0 0`;
    }
    const body = remote(frame) ? `r ${text(frame.length)}` : `d ${text(frame.length)} ${bytes}`;
    return `${time} ${channel(frame)} ${id} ${direction(frame)} ${body}  Length = 0 BitCount = 0`;
  });
  return `date Fri Jul 10 06:17:32 2015\nbase ${base}  timestamps ${times}\nno internal events logged\n${lines.join('\n')}\n`;
}

const kinds = ['FD', 'FB', 'BI', 'FE'];

export function trc(frames: readonly Frame[]): string {
  const lines = frames.map((frame, i) => {
    const fd = (frame.flags & FD) !== 0;
    const kind = fd ? kinds[bit(frame, BIT_RATE_SWITCH) + 2 * bit(frame, ERROR_STATE)] : remote(frame) ? 'RR' : 'DT';
    const id = hex(number(frame), extended(frame) ? 8 : 4);
    const data = remote(frame) ? '' : pairs(frame.data);
    const size = code(frame.length);
    return `${i + 1} ${(frame.at - start).toFixed(3)} ${kind} ${channel(frame)} ${id} ${direction(frame)} - ${size} ${data}`;
  });
  const days = 25_569 + start / 86_400_000;
  return `;$FILEVERSION=2.1\r\n;$STARTTIME=${days.toFixed(12)}\r\n;$COLUMNS=N,O,T,B,I,d,R,L,D\r\n${lines.join('\r\n')}\r\n`;
}

export function crtd(frames: readonly Frame[]): string {
  const lines = frames.map((frame) => {
    const type = `${direction(frame)[0]}${extended(frame) ? 29 : 11}`;
    return `${seconds(frame)} ${channel(frame)}${type} ${hex(number(frame), 3)} ${pairs(frame.data)}`.trimEnd();
  });
  return `0.000000 CXX test\n${lines.join('\n')}\n`;
}

export function gvret(frames: readonly Frame[]): string {
  const lines = frames.map((frame) => {
    const bytes = pairs(frame.data).replaceAll(' ', ',');
    const time = Math.round(frame.at * 1000);
    const start = `${time},${hex(number(frame), 8)},${extended(frame)},${direction(frame)},${channel(frame) - 1}`;
    return `${start},${frame.length},${bytes}${bytes === '' ? '' : ','}`;
  });
  return `Time Stamp,ID,Extended,Dir,Bus,LEN,D1,D2,D3,D4,D5,D6,D7,D8\n${lines.join('\n')}\n`;
}

/** FD frames as objects of type 101 and classic frames as type 86, in containers that split objects at any `size`. */
export function blf(frames: readonly Frame[], size: number, packed: boolean): Buffer {
  const objects = Buffer.concat(frames.map(object));
  const containers: Buffer[] = [];
  for (let at = 0; at < objects.length; at += size) {
    const part = objects.subarray(at, at + size);
    const body = packed ? deflateSync(part) : part;
    const head = Buffer.alloc(32);
    head.write('LOBJ');
    head.writeUInt16LE(16, 4);
    head.writeUInt16LE(1, 6);
    head.writeUInt32LE(32 + body.length, 8);
    head.writeUInt32LE(10, 12);
    head.writeUInt16LE(packed ? 2 : 0, 16);
    head.writeUInt32LE(part.length, 24);
    containers.push(head, body, Buffer.alloc((32 + body.length) % 4));
  }
  const header = Buffer.alloc(144);
  header.write('LOGG');
  header.writeUInt32LE(144, 4);
  [2015, 7, 5, 10, 6, 17, 32, 0].forEach((value, i) => {
    header.writeUInt16LE(value, 40 + 2 * i);
  });
  return Buffer.concat([header, ...containers]);
}

function object(frame: Frame): Buffer {
  const fd = (frame.flags & FD) !== 0;
  const data = Buffer.from(frame.data, 'hex');
  const body = Buffer.alloc(fd ? 40 + data.length : 24);
  const id = extended(frame) ? (number(frame) | 0x8000_0000) >>> 0 : number(frame);
  body.writeUInt32LE(id, 4);
  if (fd) {
    body[0] = channel(frame);
    body[1] = code(frame.length);
    body[2] = frame.length;
    body.writeUInt32LE(0x1000 | (bit(frame, BIT_RATE_SWITCH) << 13) | (bit(frame, ERROR_STATE) << 14), 12);
    body[34] = bit(frame, SENT);
    data.copy(body, 40);
  } else {
    body.writeUInt16LE(channel(frame), 0);
    body[2] = bit(frame, SENT) | (remote(frame) ? 0x80 : 0);
    body[3] = frame.length;
    if (!remote(frame)) data.copy(body, 8);
  }
  const head = Buffer.alloc(32);
  head.write('LOBJ');
  head.writeUInt16LE(32, 4);
  head.writeUInt16LE(1, 6);
  head.writeUInt32LE(32 + body.length, 8);
  head.writeUInt32LE(fd ? 101 : 86, 12);
  head.writeUInt32LE(2, 16);
  head.writeBigUInt64LE(BigInt(Math.round((frame.at - start) * 1000)) * 1000n, 24);
  return Buffer.concat([head, body, Buffer.alloc(body.length % 4)]);
}

/** @param form base of identifiers and bytes: hexadecimal (usual) or decimal */
export function kvaser(frames: readonly Frame[], form: 'hex' | 'dec' = 'hex'): string {
  const text = (value: number, digits: number): string =>
    form === 'hex' ? hex(value, digits) : String(value).padStart(digits === 8 ? 8 : 3);
  const lines = frames.map((frame) => {
    const flags = `${extended(frame) ? 'X' : ''}${remote(frame) ? 'R' : ''}`.padEnd(4);
    const bytes = remote(frame) ? '' : [...Buffer.from(frame.data, 'hex')].map((byte) => `  ${text(byte, 2)}`).join('');
    const head = `${String(channel(frame) - 1).padStart(2)}    ${text(number(frame), 8)} ${flags} ${String(frame.length).padStart(4)}`;
    return `${head}${bytes} ${seconds(frame, start).padStart(14)} ${direction(frame)[0]}`;
  });
  const header = 'Chn Identifier Flg   DLC  D0...1...2...3...4...5...6..D7       Time     Dir';
  return `${header}\r\n${lines.join('\r\n')}\r\nLogging stopped.\r\n`;
}

/** @param stamps if true, each frame is followed by its milliseconds within the minute */
export function slcan(frames: readonly Frame[], stamps = true): string {
  const lines = frames.map((frame) => {
    const fd = (frame.flags & FD) !== 0;
    const letter = fd ? (bit(frame, BIT_RATE_SWITCH) ? 'b' : 'd') : remote(frame) ? 'r' : 't';
    const id = extended(frame) ? letter.toUpperCase() + hex(number(frame), 8) : letter + hex(number(frame), 3);
    const stamp = stamps ? hex(Math.floor(frame.at - start) % 60_000, 4) : '';
    return `${id}${hex(code(frame.length), 1)}${remote(frame) ? '' : frame.data.toUpperCase()}${stamp}`;
  });
  return `V1013\rS6\r\x07O\r${lines.join('\r')}\rz\r`;
}

export function cando(frames: readonly Frame[]): Buffer {
  const begin = Buffer.from([0, 0, 0xff, 0xff, 0, 0, 0, 0, 0, 0, 0, 0]);
  const blocks = frames.map((frame) => {
    const time = Math.floor(frame.at - start) % 60_000;
    const block = Buffer.alloc(12, 0xff);
    block.writeUInt16BE((Math.floor(time / 1000) << 10) | (time % 1000), 0);
    block.writeUInt16LE((frame.length << 12) | number(frame), 2);
    Buffer.from(frame.data, 'hex').copy(block, 4);
    return block;
  });
  return Buffer.concat([begin, ...blocks]);
}

/** Each frame follows its reference time, and a marker follows the first frame. */
export function canServer(frames: readonly Frame[], version: 2 | 3): Buffer {
  const signature = Buffer.from(`CANSERVER_v${version}_CANSERVER`);
  const records = frames.map((frame, i) => {
    const micros = Math.round(frame.at * 1000);
    const offset = version === 2 ? micros % 60_000_000 : micros % 10_000_000;
    const base = Buffer.alloc(9);
    base[0] = version === 2 ? 0xce : 0xa0;
    base.writeBigUInt64LE(BigInt(micros - (version === 2 ? Math.floor(offset / 1000) * 1000 : offset)), 1);
    const head = Buffer.alloc(6);
    const id = number(frame);
    if (version === 2) {
      head[0] = 0xcf;
      head.writeUInt16LE(Math.floor(offset / 1000), 1);
      head.writeUInt16LE(id, 3);
    } else {
      head[0] = 0xb0 | (offset & 15);
      head[1] = (offset >> 4) & 255;
      head[2] = (offset >> 12) & 255;
      head[3] = ((offset >> 20) << 3) | (id >> 8);
      head[4] = id & 255;
    }
    head[5] = ((channel(frame) - 1) << 4) | frame.length;
    const mark = Buffer.from(`${version === 2 ? '\xcd' : '\xd0'}\x04door`, 'latin1');
    return Buffer.concat([base, head, Buffer.from(frame.data, 'hex'), ...(i === 0 ? [mark] : [])]);
  });
  return Buffer.concat([signature, ...records]);
}
