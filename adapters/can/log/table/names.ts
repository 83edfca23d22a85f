/** The names that tools use for the columns of a table of frames. */
import { unitNamed } from './layout.ts';

/** A column name in a line of names. */
export interface ColumnName {
  /** Text in the line without quotes, for messages. */
  readonly text: string;
  /** Lower-case letters and digits of the name, without the unit: `"Abs Time(Sec)"` becomes `abstime`. */
  readonly key: string;
  /** Unit, such as `sec` in `Time [sec]` or `hex` in `ID (hex)`. */
  readonly unit: string | undefined;
}

/** Parts of a frame that a column may contain. */
export type Role = keyof typeof PATTERNS;

/**
 * Patterns for {@link ColumnName.key}. Tools with these names in manuals or exports: CANalyzer, CANoe, PCAN-View,
 * Kvaser Memorator, Vehicle Spy, SavvyCAN, python-can, asammdf, CANedge and CLX000, IXXAT, USB-CAN tool, CANopen Magic,
 * Microchip CAN Analyzer, PP2CAN, MicroPeckerX, PicoScope, X-Analyser, Cabana.
 */
const PATTERNS = {
  id: /^(can|canbus|arb|arbitration|msg|message|frame|bus|cob|candataframe|canmsg|canframe|canarb|canarbitration)?(id|ident|identifier|addr|address)(no|nr|num|number|hex|dec|decimal)?$/,
  time: /^(abs|absolute|sys|system|rx|log|start|record|recorded|frame|msg|message|can|utc|local|epoch|unix|bus|device|hw|host|relative|elapsed|trace)?(times?|zeit|timestamps?|zeitstempel|timeoffset)(abs|absolute|rel|relative|epoch|unix|utc|offset)?$|^(t|ts|epoch|datetime|ticks?|timetag|uptime|date(and)?time|timedate)$/,
  delta: /^(delta|diff|rel|relative)(time|times|t|timestamp)?$|^(time|t)(delta|diff)$/,
  date: /^(date|datum|day)$/,
  millisecond: /^(ms|msec|millis|milliseconds?)$/,
  bus: /^(can)?(bus|ch|chn|chan|channel|interface|iface|network|net|port|src|source)(no|nr|num|number|id|name|channel)?$|^(candataframebuschannel|can)$/,
  length:
    /^(len|length|dl|size|nbytes|numbytes|numdatabytes|bytecount|datacount|datalength|datalen|datasize|databytecount|payloadlength|payloadsize|msglen|msglength|messagelength|messagesize|framelength|candataframedatalength)$/,
  lengthCode: /^(can|frame|msg|candataframe)?(dlc|datalengthcode)$/,
  data: /^(can|frame|msg|message|raw|hex|payload|candataframe)?(data|payload|databytes|datafield|bytes|payloaddata|payloadbytes)(hex|dec|field|hexadecimal)?$|^(msg|rawhex|content)$/,
  direction:
    /^(dir|direction|t\/r|r\/t|tr|rx\/tx|tx\/rx|rxtx|txrx|(transmit|send|tx)\/receive|receive\/(transmit|send)|candataframedir)$/,
  sent: /^(tx|sent|istx|transmitted)$/,
  extended:
    /^(ext|extended|ide|ex|xtd|isextended|isextendedid|extendedid|extid|isext|is29bit|extendedframe|candataframeide)$/,
  remote: /^(remote|rtr|rt|isremote|isremoteframe|remoteframe)$/,
  error: /^(er|err|error|iserror|iserrorframe|errorframe)$/,
  fd: /^(fd|edl|fdf|isfd|canfd|candataframeedl)$/,
  bitRateSwitch: /^(brs|bitrateswitch|candataframebrs)$/,
  errorState: /^(esi|errorstateindicator)$/,
  /** For the CLX000, which writes a table of four columns. */
  code: /^type$/,
  kind: /^(type|kind|format|flags?|flg|protocol|frame|(frame|id|ide|msg|message|can)(type|kind|format|flags?))$/,
} as const;

/** Names of the first byte column, with the number of the first byte. */
const FIRST_BYTE = /^(d|b|db|byte|data|databyte|payload)0?([01])$/;

/** Returns the number in the name of a byte column, such as 7 in `D7` or `data[7]`, or -1 for another name. */
export function byteNumber({ key }: ColumnName): number {
  return Number(/^(?:d|b|db|byte|data|databyte|payload)(\d{1,2})$/.exec(key)?.[1] ?? -1);
}

export function isFirstByte({ key }: ColumnName): boolean {
  return FIRST_BYTE.test(key);
}

export function hasRole({ key }: ColumnName, role: Role): boolean {
  return PATTERNS[role].test(key);
}

/** Returns true if a tool uses this name for a part of a frame. */
export function isKnown(name: ColumnName): boolean {
  return byteNumber(name) >= 0 || Object.values(PATTERNS).some((pattern) => pattern.test(name.key));
}

/** Trailing units without brackets: `time_ms`, `timestamp us`, `data_hex`. */
const UNIT_BEHIND =
  /^(.*(?:time|stamp|id|data|timestamp|t))[ _.-](s|sec|ms|us|ns|hex|dec|millis|micros|seconds|milliseconds|microseconds)$/;

export function nameOf(cell: string): ColumnName {
  // A no-break space in UTF-8 is preceded by 0xC2, read here as Latin-1.
  const text = cell.replaceAll(/^["'#; \0\u00a0\u00c2]+|["' \0\u00a0\u00c2]+$/g, '');
  const lower = text.toLowerCase();
  const bracket = /^(.*?)\s*[ _]*[([{/]\s*([\d.]*\s*[a-zµ]+)\s*[)\]}]?$/.exec(lower);
  const inBracket = bracket?.[2] ?? '';
  // `T/R` is a name, `Time/ms` contains a unit.
  if (bracket !== null && isUnit(inBracket)) return { text, key: keyOf(bracket[1] as string), unit: inBracket };
  const behind = UNIT_BEHIND.exec(lower);
  if (behind !== null) return { text, key: keyOf(behind[1] as string), unit: behind[2] };
  return { text, key: keyOf(lower), unit: undefined };
}

function isUnit(text: string): boolean {
  return /^(hex|hexadecimal|dec|decimal)$/.test(text) || unitNamed(text) !== undefined;
}

/** Removes blanks, points, dashes and similar characters, except the slash in `T/R`. */
function keyOf(text: string): string {
  return text.replaceAll(/[^a-z\dµ/]/g, '');
}
