/** The list of log formats: how each is recognised by its content, and what reads it. */
import { AscLines } from './asc.ts';
import { BlfParser } from './blf.ts';
import { BusmasterLines } from './busmaster.ts';
import { CandumpParser } from './candump.ts';
import { CandumpScreenLines, looksRelative } from './candump-screen.ts';
import { CanHackerLines } from './canhacker.ts';
import { CrtdLines } from './crtd.ts';
import { GvretLines } from './gvret.ts';
import type { LogParser, Recording } from './recording.ts';
import { type LineParser, TextParser } from './text.ts';
import { TrcLines } from './trc.ts';

export const logFormats = [
  'candump',
  'candump-screen',
  'asc',
  'blf',
  'trc',
  'crtd',
  'gvret',
  'canhacker',
  'busmaster',
] as const;
export type LogFormat = (typeof logFormats)[number];

/** The beginning of a file. */
export interface Head {
  /** As Latin-1, so that every byte is a character. */
  readonly text: string;
  readonly lines: readonly string[];
}

interface Format {
  /** What people call it. */
  readonly name: string;
  /** Lines that the format alone can have; a header counts as much as many lines. */
  score(head: Head): number;
  create(recording: Recording, head: Head): LogParser;
}

const header = 1000;

/** Counts the lines that match; `marks` are headers. */
function matching(line: RegExp, marks?: RegExp): (head: Head) => number {
  return ({ lines }) =>
    lines.reduce((sum, text) => sum + (line.test(text) ? 1 : 0) + (marks?.test(text) === true ? header : 0), 0);
}

function textual(create: new (recording: Recording) => LineParser): Format['create'] {
  return (recording) => new TextParser(recording, new create(recording));
}

export const formats: Readonly<Record<LogFormat, Format>> = {
  candump: {
    name: 'candump -l',
    score: matching(/^\s*\(\d+(\.\d+)?\)\s+\S+\s+[\dA-Fa-f]{3,8}#/),
    create: (recording) => new CandumpParser(recording),
  },
  'candump-screen': {
    name: 'candump on the screen',
    score: matching(/^\s*(\([\d.: -]+\)\s+)?\S+\s+([RT]X [B-] [E-]\s+)?([\dA-F]{3}|[\dA-F]{8})\s+\[\d{1,2}\](\s|$)/i),
    create: (recording, head) =>
      new TextParser(recording, new CandumpScreenLines(recording, looksRelative(head.lines))),
  },
  asc: {
    name: 'Vector ASC',
    score: matching(
      /^\s*\d+[.,]\d+\s+(CANFD\s+)?\d+\s+(\S+\s+(Rx|Tx|TxRq)\s|(Rx|Tx)\s+\S+\s|ErrorFrame)/i,
      /^(base (hex|dec)\b|date \S+ |Begin Triggerblock\b)/i,
    ),
    create: textual(AscLines),
  },
  blf: {
    name: 'Vector BLF',
    score: ({ text }) => (text.startsWith('LOGG') ? header * header : 0),
    create: (recording) => new BlfParser(recording),
  },
  trc: {
    name: 'PEAK TRC',
    score: matching(
      /^\s*\d+(\)\s+\d+(\.\d+)?\s+(\d+\s+)?([RT]x\s+)?[\dA-F]{4,8}\s+(-\s+)?\d|\s+\d+\.\d+\s+[A-Z]{2}\s+.*\b[RT]x\b)/,
      /^;(\$FILEVERSION=|\s*Start time: |#{20})/,
    ),
    create: textual(TrcLines),
  },
  crtd: {
    name: 'CRTD',
    score: matching(/^\d+(\.\d+)?\s+(\d*[RT](11|29)\s+[\dA-F]+|\d*C[A-Z]{2}\b)/i),
    create: textual(CrtdLines),
  },
  gvret: {
    name: 'GVRET/SavvyCAN CSV',
    score: matching(/^-?\d+,[\dA-F]{1,8},(true|false|[01]),([RT]x,)?\d+,\d{1,2}(,|$)/i, /^Time Stamp,ID,Extended,/i),
    create: textual(GvretLines),
  },
  canhacker: {
    name: 'CANHacker',
    score: matching(
      /^\s*\d+([.,]\d+\s+[\dA-F]{3,8}\s+[0-8](\s+[\dA-F]{2})*\s*$|,\d+\t\d+\t[\dA-F]{4}\t)/i,
      /^(@ TEXT @ \d+ @|Time\s+ID\s+DLC\b|.*CANHacker)/i,
    ),
    create: textual(CanHackerLines),
  },
  busmaster: {
    name: 'BUSMASTER',
    score: matching(/^\d+:\d+:\d+:\d+\s+[RT]x\s+\d+\s/i, /^-?\*\*\*(BUSMASTER|START DATE AND TIME)/),
    create: textual(BusmasterLines),
  },
};

/** The head of a file's first bytes. */
export function headOf(bytes: Uint8Array): Head {
  const text = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('latin1');
  // A pattern on a line of a megabyte would cost; no line of a log that matters is this long.
  const lines = text.split(/\r\n|\n|\r/).map((line) => line.slice(0, 512));
  return { text, lines };
}

/** The format with most marks in the head; undefined when there are none. */
export function detect(head: Head): LogFormat | undefined {
  let best: LogFormat | undefined;
  let most = 0;
  for (const format of logFormats) {
    const score = formats[format].score(head);
    if (score > most) {
      most = score;
      best = format;
    }
  }
  return best;
}
