/** Writes the screen output and exported tables of tools; writers.ts has the recording formats. */
import { BIT_RATE_SWITCH, ERROR_STATE, EXTENDED, FD, REMOTE, SENT } from '../../../../agent/ports.ts';
import type { Frame } from './frames.ts';

/** 2015-07-10 06:17:32 UTC: the start in formats that contain the date once. */
const START = 1_436_509_052_000;
const MIDNIGHT = START - (START % 86_400_000);

const number = ({ id }: Frame): number => id & 0x1fff_ffff;
const isExtended = ({ id }: Frame): boolean => (id & EXTENDED) !== 0;
const isRemote = ({ id }: Frame): boolean => (id & REMOTE) !== 0;
const isSent = ({ flags }: Frame): boolean => (flags & SENT) !== 0;
const channel = ({ bus }: Frame): number => Number(bus.slice(3)) + 1;
const hex = (value: number, digits: number): string => value.toString(16).toUpperCase().padStart(digits, '0');
const bytes = ({ data }: Frame): string => data.toUpperCase().match(/../g)?.join(' ') ?? '';
const named = (frame: Frame): string => hex(number(frame), isExtended(frame) ? 8 : 3);

/** `candump -t a -x`. */
export function candumpScreen(frames: readonly Frame[]): string {
  const lines = frames.map((frame) => {
    const fd = (frame.flags & FD) !== 0;
    const flag = (mask: number, letter: string): string => ((frame.flags & mask) !== 0 ? letter : '-');
    const marks = `${isSent(frame) ? 'TX' : 'RX'} ${flag(BIT_RATE_SWITCH, 'B')} ${flag(ERROR_STATE, 'E')}`;
    const size = fd ? `[${String(frame.length).padStart(2, '0')}]` : ` [${frame.length}]`;
    const rest = isRemote(frame) ? 'remote request' : bytes(frame);
    return ` (${(frame.at / 1000).toFixed(6)})  ${frame.bus}  ${marks}  ${named(frame)}  ${size}  ${rest}`;
  });
  return `${lines.join('\n')}\n`;
}

/** System mode: time of day in units of 100 µs. */
export function busmaster(frames: readonly Frame[]): string {
  const part = (value: number, digits: number): string => String(value).padStart(digits, '0');
  const lines = frames.map((frame) => {
    const units = Math.floor((frame.at - MIDNIGHT) * 10) % 864_000_000;
    const seconds = Math.floor(units / 10_000);
    const time = `${part(Math.floor(seconds / 3600), 2)}:${part(Math.floor(seconds / 60) % 60, 2)}:${part(seconds % 60, 2)}`;
    const type = `${isExtended(frame) ? 'x' : 's'}${isRemote(frame) ? 'r' : ''}`;
    const head = `${time}:${part(units % 10_000, 4)} ${isSent(frame) ? 'Tx' : 'Rx'} ${channel(frame)} 0x${named(frame)}`;
    return `${head} ${type} ${frame.length} ${isRemote(frame) ? '' : bytes(frame)}`;
  });
  const header = ['BUSMASTER Ver 2.4.0', 'START DATE AND TIME 10:7:2015 6:17:32:000', 'HEX', 'SYSTEM MODE'];
  return `${header.map((line) => `***${line}***`).join('\r\n')}\r\n${lines.join('\r\n')}\r\n***[STOP LOGGING SESSION]***\r\n`;
}

/** @param form `older`: milliseconds within a minute, one bus; `newer`: CarBus Analyzer, microseconds */
export function canHacker(frames: readonly Frame[], form: 'older' | 'newer'): string {
  if (form === 'older') {
    const lines = frames.map((frame) => {
      const time = ((Math.floor(frame.at - START) % 60_000) / 1000).toFixed(3).padStart(6, '0');
      return `${time} ${hex(number(frame), 8)} ${frame.length} ${bytes(frame)}`;
    });
    return `Time   ID     DLC Data                    Comment\r${lines.join('\r')}\r`;
  }
  const lines = frames.map((frame) => {
    const micros = Math.round((frame.at - START) * 1000);
    const time = `${Math.floor(micros / 1e6)},${micros % 1e6}`;
    return `${time}\t${channel(frame)}\t0004\t${named(frame)}\t${frame.length}\t${bytes(frame)}\t00000000\t\t`;
  });
  return `@ TEXT @ 3 @ 64 @ 0 @ 591 @ 38782 @ 00:00:38.782 @\r${lines.join('\r')}\r`;
}

/** CSV by python-can, which has only one bus. */
export function pythonCsv(frames: readonly Frame[]): string {
  const lines = frames.map((frame) => {
    const flags = `${isExtended(frame) ? 1 : 0},${isRemote(frame) ? 1 : 0},0`;
    const data = isRemote(frame) ? '' : Buffer.from(frame.data, 'hex').toString('base64');
    return `${(frame.at / 1000).toFixed(6)},0x${number(frame).toString(16)},${flags},${frame.length},${data}`;
  });
  return `timestamp,arbitration_id,extended,remote,error,dlc,data\n${lines.join('\n')}\n`;
}

/** The table that CANalyzer and CANoe export, with decimal points and semicolons. */
export function canalyzerCsv(frames: readonly Frame[]): string {
  const lines = frames.map((frame) => {
    const id = `${hex(number(frame), 1)}${isExtended(frame) ? 'x' : ''}`;
    const head = `${((frame.at - START) / 1000).toFixed(6)};${channel(frame) - 1};${id};Name;${isSent(frame) ? 'Tx' : 'Rx'}`;
    return `${head};${frame.length};${bytes(frame)}`;
  });
  return `Time[s];Chn;ID;Name;Dir;DLC;Data\n${lines.join('\n')}\n`;
}

/** Lines of seconds, identifier, length and bytes, without column names. */
export function plainLines(frames: readonly Frame[]): string {
  const lines = frames.map(
    (frame) => `${((frame.at - START) / 1000).toFixed(6)} ${named(frame)} ${frame.length} ${bytes(frame)}`,
  );
  return `${lines.join('\n')}\n`;
}
