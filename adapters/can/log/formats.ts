/**
 * The list of log formats: detection of each by its content, and its reader. A reader is loaded when a log of
 * its format is opened, because the unit in the car does not need readers.
 */
import { candoFrames } from './cando-block.ts';
import type { BytesReader, FileReader, FormatEntry, Head } from './format.ts';
import { canLinkTypes, linkTypeName, pcapHeader } from './link-types.ts';
import type { Recording } from './recording.ts';
import { slcanScore } from './slcan-line.ts';
import { hasColumnNames } from './table/header.ts';
import { gvretLayout, type Layout } from './table/layout.ts';
import type { LineParser } from './text.ts';

/** Formats that are read sequentially. */
export const bytesFormats = [
  'candump',
  'candump-screen',
  'asc',
  'blf',
  'trc',
  'crtd',
  'gvret',
  'canhacker',
  'busmaster',
  'kvaser',
  'slcan',
  'table',
  'pcap',
  'pcapng',
  'cando',
  'canserver',
] as const;
/** Formats that need random access to a file. */
export const fileFormats = ['mdf4', 'sqlite'] as const;
export const logFormats = [...bytesFormats, ...fileFormats] as const;
export type BytesFormat = (typeof bytesFormats)[number];
export type FileFormat = (typeof fileFormats)[number];
export type LogFormat = BytesFormat | FileFormat;

const header = 1000;
const signature = header * header;

/** Returns a function that counts the matching lines; `marks` are headers. */
function matching(line: RegExp, marks?: RegExp): (head: Head) => number {
  return ({ lines }) =>
    lines.reduce((sum, text) => sum + (line.test(text) ? 1 : 0) + (marks?.test(text) === true ? header : 0), 0);
}

const canHackerLines = matching(
  /^\s*\d+([.,]\d+\s+[\dA-F]{3,8}\s+[0-8](\s+[\dA-F]{2})*\s*$|,\d+\t\d+\t[\dA-F]{4}\t)/i,
  /^(@ TEXT @ \d+ @|Time +ID +DLC +Data\b|.*CANHacker)/i,
);

/**
 * Returns true for a table without names: CANHacker's times restart every minute, so a later time is not CANHacker's.
 */
function isPlain({ lines }: Head): boolean {
  return lines.some((line) => Number(/^\s*(\d+)[.,]\d+ +[\dA-F]{3,8} /i.exec(line)?.[1]) >= 60);
}

/** Score of a line of column names, which is less than that of a format's header. */
const named = header - 100;

const tableModules = () => Promise.all([import('./text.ts'), import('./table/table.ts'), import('./table/choose.ts')]);

/** Returns the reader of a table. Its columns are named by the user, or inferred from its lines. */
export async function tableReader(columns?: string): Promise<BytesReader> {
  const [{ TextParser }, { TableLines }, { chooseTable }] = await tableModules();
  return {
    from: 'bytes',
    create: (recording, head) => {
      const { layout, names, fixed } = chooseTable(head, columns, recording.file);
      return new TextParser(recording, new TableLines(recording, layout, names, fixed));
    },
  };
}

async function textual(
  load: () => Promise<new (recording: Recording, head: Head) => LineParser>,
): Promise<BytesReader> {
  const [{ TextParser }, Lines] = await Promise.all([import('./text.ts'), load()]);
  return { from: 'bytes', create: (recording, head) => new TextParser(recording, new Lines(recording, head)) };
}

export const formats: Readonly<
  Record<BytesFormat, FormatEntry<BytesReader>> & Record<FileFormat, FormatEntry<FileReader>>
> = {
  candump: {
    name: 'candump -l',
    extensions: ['log'],
    tools: 'can-utils, python-can, Vigie',
    score: matching(/^\s*\(\d+(\.\d+)?\)\s+\S+\s+[\dA-Fa-f]{3,8}#/),
    load: async () => {
      const { CandumpParser } = await import('./candump.ts');
      return { from: 'bytes', create: (recording) => new CandumpParser(recording) };
    },
  },
  'candump-screen': {
    name: 'candump on the screen',
    extensions: ['txt', 'log'],
    tools: 'can-utils',
    score: matching(/^\s*(\([\d.: -]+\)\s+)?(\S+\s+)?([RT]X\s+([B-] [E-]\s+)?)?[\dA-F]{1,8}\s+\[\d{1,2}\](\s|$)/i),
    load: () => textual(async () => (await import('./candump-screen.ts')).CandumpScreenLines),
  },
  asc: {
    name: 'Vector ASC',
    extensions: ['asc'],
    tools: 'CANoe, CANalyzer, python-can',
    score: matching(
      /^\s*\d+[.,]\d+\s+(CANFD\s+)?\d+\s+(\S+\s+(Rx|Tx|TxRq)\s|(Rx|Tx)\s+\S+\s|ErrorFrame)/i,
      /^(base (hex|dec)\b|date \S+ |Begin Triggerblock\b)/i,
    ),
    load: () => textual(async () => (await import('./asc.ts')).AscLines),
  },
  blf: {
    name: 'Vector BLF',
    extensions: ['blf'],
    tools: 'CANoe, CANalyzer, Vector loggers, python-can',
    score: startsWith('LOGG'),
    load: async () => {
      const { BlfParser } = await import('./blf.ts');
      return { from: 'bytes', create: (recording) => new BlfParser(recording) };
    },
  },
  trc: {
    name: 'PEAK TRC',
    extensions: ['trc'],
    tools: 'PCAN-View, PCAN-Explorer, PCAN-Trace, python-can',
    note: 'versions 1.0 to 2.1',
    score: matching(
      /^\s*\d+(\)\s+\d+(\.\d+)?\s+(\d+\s+)?([RT]x\s+)?[\dA-F]{4,8}\s+(-\s+)?\d|\s+\d+\.\d+\s+[A-Z]{2}\s+.*\b[RT]x\b)/,
      /^;(\$FILEVERSION=|\s*Start time: |#{20})/,
    ),
    load: () => textual(async () => (await import('./trc.ts')).TrcLines),
  },
  crtd: {
    name: 'CRTD',
    extensions: ['crtd'],
    tools: 'OVMS',
    score: matching(/^\d+(\.\d+)?\s+(\d*[RT](11|29)\s+[\dA-F]+|\d*C[A-Z]{2}\b)/i),
    load: () => textual(async () => (await import('./crtd.ts')).CrtdLines),
  },
  gvret: {
    name: 'GVRET/SavvyCAN CSV',
    extensions: ['csv'],
    tools: 'SavvyCAN, GVRET devices',
    score: matching(/^-?\d+,[\dA-F]{1,8},(true|false|[01]),([RT]x,)?\d+,\d{1,2}(,|$)/i, /^Time Stamp,ID,Extended,/i),
    load: async () => {
      const [{ TextParser }, { TableLines }, { chooseTable }] = await tableModules();
      const plain = ({ text }: Head): Layout => gvretLayout(/,[RT]x,/i.test(text));
      return {
        from: 'bytes',
        create: (recording, head) => {
          const named = hasColumnNames(head) ? chooseTable(head, undefined, recording.file) : undefined;
          const lines = new TableLines(recording, named?.layout ?? plain(head), named?.names);
          return new TextParser(recording, lines);
        },
      };
    },
  },
  canhacker: {
    name: 'CANHacker',
    extensions: ['trc', 'txt'],
    tools: 'CANHacker, CarBus Analyzer',
    score: (head) => (isPlain(head) ? 0 : canHackerLines(head)),
    load: () => textual(async () => (await import('./canhacker.ts')).CanHackerLines),
  },
  busmaster: {
    name: 'BUSMASTER',
    extensions: ['log'],
    tools: 'BUSMASTER',
    note: 'for recordings of benches that use this free tool',
    score: matching(/^\d+:\d+:\d+:\d+\s+[RT]x\s+\d+\s/i, /^-?\*\*\*(BUSMASTER|START DATE AND TIME)/),
    load: () => textual(async () => (await import('./busmaster.ts')).BusmasterLines),
  },
  kvaser: {
    name: 'Kvaser text',
    extensions: ['txt', 'log'],
    tools: 'Kvaser CANKing, Memorator tools',
    score: matching(
      /^\s*\d{1,3}\s+[\dA-F]{3,8}\s+(([A-Z]{1,4}\s+)?\d{1,2}\s+([\dA-F]{1,3}\s+)*|ErrorFrame\s+)\d+\.\d+\s+[RT]\s*$/i,
      /^\s*Chn\s+Identifier\s+Flg\s+DLC\b/i,
    ),
    load: () => textual(async () => (await import('./kvaser.ts')).KvaserLines),
  },
  slcan: {
    name: 'slcan (Lawicel)',
    extensions: ['log', 'txt'],
    tools: 'CANUSB, CANable, and terminal programs that record the output of such an adapter',
    note: 'without time stamps all frames are at 0',
    score: slcanScore,
    load: () => textual(async () => (await import('./slcan-log.ts')).SlcanLines),
  },
  table: {
    name: 'a table',
    extensions: ['csv', 'txt', 'log'],
    tools:
      'python-can, SavvyCAN, Vehicle Spy, CANalyzer and CANoe, Kvaser Memorator, CANedge tools, asammdf, Microchip CAN Analyzer, IXXAT, MicroPeckerX, Cabana, CLX000, USB-CAN tools',
    note: 'a line of column names, or lines of time, identifier, length and bytes; any other with `--columns`; refused when more than 1 % of its first 1,000 lines contradict the columns',
    score: (head) => (hasColumnNames(head) ? named : 0),
    load: () => tableReader(),
  },
  pcap: {
    name: 'pcap',
    extensions: ['pcap', 'cap'],
    tools: 'tcpdump, Wireshark',
    note: 'link types 227 (SocketCAN), 113 and 276 (Linux cooked)',
    score: ({ text }) => {
      const linkType = pcapHeader(text)?.linkType;
      return linkType !== undefined && canLinkTypes.has(linkType) ? signature : 0;
    },
    load: async () => {
      const { PcapParser } = await import('./pcap.ts');
      return { from: 'bytes', create: (recording, { text }) => new PcapParser(recording, text) };
    },
  },
  pcapng: {
    name: 'pcapng',
    extensions: ['pcapng'],
    tools: 'Wireshark, dumpcap, tshark',
    note: 'the same link types; an interface is a bus',
    score: ({ text }) => (text.startsWith('\n\r\r\n') ? signature : 0),
    load: async () => {
      const { PcapngParser } = await import('./pcapng.ts');
      return { from: 'bytes', create: (recording) => new PcapngParser(recording) };
    },
  },
  cando: {
    name: 'CANDO',
    extensions: ['can', 'avc', 'evc', 'qcc'],
    tools: 'CANDO adapters, SavvyCAN',
    note: '11-bit identifiers; times start again every minute',
    score: (head) => (candoFrames(head) > 0 ? signature : 0),
    load: async () => {
      const { CandoParser } = await import('./cando.ts');
      return { from: 'bytes', create: (recording) => new CandoParser(recording) };
    },
  },
  canserver: {
    name: 'CANServer',
    extensions: ['log'],
    tools: 'CANServer for Tesla',
    note: 'versions 2 and 3',
    score: startsWith('CANSERVER_v2_CANSERVER', 'CANSERVER_v3_CANSERVER'),
    load: async () => {
      const { CanServerParser } = await import('./canserver.ts');
      return { from: 'bytes', create: (recording, { text }) => new CanServerParser(recording, text) };
    },
  },
  mdf4: {
    name: 'ASAM MDF4',
    extensions: ['mf4'],
    tools: 'CANedge, CANape, CANoe, INCA, Vector loggers, asammdf',
    note: 'bus logging of CAN and CAN FD; not of other buses, and not LZ4',
    score: ({ text }) => (/^(MDF {5}|UnFinMF )4/.test(text) ? signature : 0),
    load: async () => {
      const { openMdf4 } = await import('./mdf4/index.ts');
      return { from: 'file', open: openMdf4 };
    },
  },
  sqlite: {
    name: 'SQLite of python-can',
    extensions: ['db', 'sqlite'],
    tools: 'python-can',
    note: 'one bus; FD frames are known by more than 8 bytes only; Node 22.13 or newer',
    score: startsWith('SQLite format 3\0'),
    load: async () => {
      const { openSqlite } = await import('./sqlite.ts');
      return { from: 'file', byName: true, open: openSqlite };
    },
  },
};

/** Suffixes of packed files, for any log format. */
export const packings = ['.gz', '.zst', '.zip', '.tar'] as const;

/** Returns the names of the formats, for users. */
export function formatNames(): string {
  return logFormats.map((format) => formats[format].name).join(', ');
}

function startsWith(...signatures: readonly string[]): FormatEntry['score'] {
  return ({ text }) => (signatures.some((one) => text.startsWith(one)) ? signature : 0);
}

/** Returns the head of a file from its first bytes. */
export function headOf(bytes: Uint8Array): Head {
  const text = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('latin1');
  // A regular expression on a line of a megabyte would be slow. No relevant line of a log is this long.
  const lines = text.split(/\r\n|\n|\r/).map((line) => line.slice(0, 512));
  return { text, lines };
}

/** Returns the format with the highest score for the head, or undefined if all scores are 0. */
export async function detect(head: Head): Promise<LogFormat | undefined> {
  let best: LogFormat | undefined;
  let most = 0;
  for (const format of logFormats) {
    const score = formats[format].score(head);
    if (score > most) {
      most = score;
      best = format;
    }
  }
  if (best !== undefined) return best;
  const { hasPlainTable } = await import('./table/choose.ts');
  return hasPlainTable(head) ? 'table' : undefined;
}

/** Detects MDF4 files in the wrapper of CSS Electronics' loggers: the 15th byte is the kind. */
const wrapped = (kind: number) => (text: string) => text.startsWith('Generic File') && text.charCodeAt(14) === kind;

const beginsWith =
  (...magics: readonly string[]) =>
  (text: string): boolean =>
    magics.some((magic) => text.startsWith(magic));

/** Known files that Vigie cannot read, with advice. */
const unread: readonly (readonly [is: (text: string) => boolean, what: string])[] = [
  [
    beginsWith('7z\xbc\xaf\x27\x1c'),
    'this is a 7z archive, which is not read: unpack it (7z x FILE) and name the logs in it',
  ],
  [
    beginsWith('Rar!\x1a\x07'),
    'this is a RAR archive, which is not read: unpack it (unrar x FILE) and name the logs in it',
  ],
  [beginsWith('BZh'), 'this file is compressed with bzip2, which is not read: unpack it (bunzip2 FILE)'],
  [beginsWith('\xfd7zXZ\0'), 'this file is compressed with xz, which is not read: unpack it (unxz FILE)'],
  [
    beginsWith('\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1'),
    'this is a workbook (.xls) or another document of an office program, which is not read: save the sheet with the frames as CSV',
  ],
  [
    (text) => /^(MDF {5}|UnFinMF )[23]/.test(text),
    'this is an MDF file of version 2 or 3, which is not read: convert it to MDF4 (with asammdf, CANape or CANoe)',
  ],
  [
    wrapped(0x11),
    'this is an encrypted log of a CANedge, which is not read: decrypt it with the tools of CSS Electronics',
  ],
  [
    wrapped(0x22),
    'this is a compressed log of a CANedge, which is not read: unpack it with the tools of CSS Electronics',
  ],
];

/** Returns true if a file is a DBC, which people sometimes name in place of a log. @param name of the file */
export function isDbc({ text }: Head, name: string): boolean {
  return /^\s*(VERSION\s+"|NS_\s*:|BU_\s*:)/.test(text) || /\.dbc$/i.test(name);
}

/** Recordings of tools in unpublished formats, by file name suffix. */
const unpublished: readonly (readonly [ending: RegExp, what: string])[] = [
  [/\.brc$/i, 'a .brc file'],
  [/\.vsb$/i, 'a binary log of Vehicle Spy'],
  [/\.km[ef]\d*$/i, 'a log of a Kvaser Memorator'],
  [/\.btr$/i, 'a binary trace of a PEAK router'],
  [/\.cld$/i, 'a log of an MKT logger'],
];

/**
 * Returns the kind, for users, of a file that is not a log of a known format; undefined if the kind is unknown.
 * @param name of the file
 */
export function identify({ text }: Head, name: string): string | undefined {
  const linkType = pcapHeader(text)?.linkType;
  if (linkType !== undefined) {
    const read = [...canLinkTypes].join(', ');
    return `this capture is of ${linkTypeName(linkType)} and has no CAN frames; read are the link types ${read}`;
  }
  const known = unread.find(([is]) => is(text))?.[1];
  const tool = unpublished.find(([ending]) => ending.test(name))?.[1];
  if (known !== undefined || tool === undefined) return known;
  return `this looks like ${tool}, which is not read: export it as ASC, BLF, TRC or CSV with the tool that wrote it`;
}
