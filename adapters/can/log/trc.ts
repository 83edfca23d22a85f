/**
 * PEAK TRC 1.0, 1.1, 1.2, 1.3, 2.0 and 2.1 (PEAK-System, "PCAN Trace File Formats"):
 *
 *     1.0       1)     17535    00000100     8  00 …
 *     1.1       1)     17535.4  Tx 00000100  8  00 …
 *     1.2       1)     17535.4  1  Tx 00000100  8  00 …
 *     1.3       1)     17535.400 1 Tx 00000100 -  8  00 …
 *     2.x       1     17535.400 DT 1 00000100 Tx -  8  00 …      columns as in $COLUMNS
 *
 * Identifiers of more than 4 digits are extended. Times are milliseconds since `$STARTTIME` (an OLE date) or, in
 * 1.0, the comment `Start time:`; without a start they count from 0. Bus n is `can(n-1)`; files of one bus
 * are `can0`. Status, warning and counter lines are skipped.
 */
import { BIT_RATE_SWITCH, ERROR_STATE, FD, REMOTE, SENT } from '../../../agent/ports.ts';
import { localDate, oleDate } from './dates.ts';
import { Fields, Words } from './fields.ts';
import { busError, identifier, lengthOfCode, type Recording } from './recording.ts';
import type { LineParser } from './text.ts';

/** Column letters of `$COLUMNS`. The version 1 formats have the same columns at fixed positions. */
const columns: Readonly<Record<string, string>> = {
  '1.0': 'N,O,I,l,D',
  '1.1': 'N,O,T,I,l,D',
  '1.2': 'N,O,B,T,I,l,D',
  '1.3': 'N,O,B,T,I,R,l,D',
  '2.0': 'N,O,T,I,d,l,D',
  '2.1': 'N,O,T,B,I,d,R,L,D',
};

/** Flags by message type of version 2. */
const kinds: ReadonlyMap<string, number> = new Map([
  ['DT', 0],
  ['RR', 0],
  ['FD', FD],
  ['FB', FD | BIT_RATE_SWITCH],
  ['FE', FD | BIT_RATE_SWITCH | ERROR_STATE],
  ['BI', FD | ERROR_STATE],
]);

export class TrcLines implements LineParser {
  private readonly recording: Recording;
  private readonly fields = new Fields();
  private readonly types = new Words(typeOf);
  private readonly directions = new Words(directionOf);
  private first = true;
  private place: Places = places(columns['1.0'] as string);
  private start = 0;
  private dated = false;

  constructor(recording: Recording) {
    this.recording = recording;
  }

  line(bytes: Uint8Array, start: number, end: number): string | undefined {
    const { fields, recording } = this;
    fields.split(bytes, start, end);
    if (fields.count === 0) return undefined;
    if (fields.code(0, 0) === 59) return this.header(new TextDecoder().decode(bytes.subarray(start, end)));
    const { place, first } = this;
    const at = fields.scaled(place.O, 1);
    if (fields.count < 3 || Number.isNaN(at)) return 'no number and time at the start of the line';
    // Version 1.0 has no types.
    const type = place.T < 0 ? received : this.types.meaning(fields, place.T);
    if (first ? type.error : type.code === 'ER') {
      const bus = this.bus();
      if (bus >= 0) recording.addEmpty(this.start + at, busError, bus, 0, 8);
      return bus < 0 ? 'the bus is not a number' : undefined;
    }
    const flags = first ? (type.direction < 0 ? undefined : 0) : type.flags;
    if (flags === undefined) return type.word ? undefined : 'the type of the line is missing';
    const direction = first ? type.direction : this.directions.meaning(fields, place.d);
    return this.frame(this.start + at, flags, direction, type.code === 'RR');
  }

  private frame(at: number, kind: number, direction: number, remote: boolean): string | undefined {
    const { fields, recording, place } = this;
    const id = place.I;
    const value = fields.hex(id);
    // Version 1.0 has no types: its bus messages carry an identifier that no frame can have.
    if (value === 0xffff_ffff) return undefined;
    const numbered = identifier(value, fields.size(id) > 4);
    if (numbered < 0) return 'the identifier is not a hexadecimal number of at most 29 bits';
    const bus = this.bus();
    if (bus < 0) return 'the bus is not a number';
    const code = place.L;
    const given = fields.integer(code < 0 ? place.l : code);
    const length = code < 0 ? given : lengthOfCode(given);
    const most = kind === 0 ? 8 : 64;
    if (given < 0 || length < 0 || (code < 0 && length > most)) return `the length is not a number of at most ${most}`;
    if (direction < 0) return 'neither a received nor a sent frame';
    const flags = kind | direction;
    const data = place.D;
    if (remote || fields.is(data, 'rtr')) {
      recording.addEmpty(at, (numbered | REMOTE) >>> 0, bus, flags, Math.min(8, length));
      return undefined;
    }
    const bytes = Math.min(most, length);
    if (!fields.octets(data, bytes, recording.payload)) return `there are not ${bytes} bytes of data`;
    recording.add(at, numbered, bus, flags, bytes);
    return undefined;
  }

  private bus(): number {
    const column = this.place.B;
    if (column < 0) return this.recording.unnamed();
    const number = this.fields.integer(column);
    return number < 0 ? -1 : this.recording.channel(Math.max(0, number - 1));
  }

  private header(text: string): string | undefined {
    const version = /^;\$FILEVERSION=(\d+\.\d+)/.exec(text)?.[1];
    if (version !== undefined) {
      const known = columns[version];
      if (known === undefined) return `version ${version} of the format is not known`;
      this.first = version.startsWith('1');
      this.place = places(known);
    }
    const named = /^;\$COLUMNS=([A-Za-z](?:,[A-Za-z])*)\s*$/.exec(text)?.[1];
    if (named !== undefined) this.place = places(named);
    const days = /^;\$STARTTIME=(\d+(?:[.,]\d+)?)/.exec(text)?.[1];
    if (days !== undefined) {
      this.start = oleDate(Number(days.replace(',', '.')));
      this.dated = true;
    }
    const date = /^;\s*Start time: (.+)$/.exec(text)?.[1];
    if (date === undefined || this.dated) return undefined;
    const at = localDate(date);
    if (Number.isNaN(at)) return 'the start time cannot be read';
    this.start = at;
    return undefined;
  }
}

/** Positions of the columns of a frame; -1 for a missing column. */
type Places = Readonly<Record<'O' | 'T' | 'B' | 'I' | 'd' | 'l' | 'L' | 'D', number>>;

function places(letters: string): Places {
  const all = letters.split(',');
  const at = (letter: string): number => all.lastIndexOf(letter);
  return { O: at('O'), T: at('T'), B: at('B'), I: at('I'), d: at('d'), l: at('l'), L: at('L'), D: at('D') };
}

/** Meaning of the type of a line: a code in version 2, a direction or an error in version 1. */
interface Type {
  readonly code: string;
  /** Flags of the frame, in version 2. */
  readonly flags: number | undefined;
  readonly error: boolean;
  /** Direction as returned by {@link directionOf}. */
  readonly direction: number;
  /** True for any valid type, also one that is not a frame. */
  readonly word: boolean;
}

function typeOf(word: string): Type {
  return {
    code: word,
    flags: kinds.get(word),
    error: /^error$/i.test(word),
    direction: directionOf(word),
    word: /^[A-Za-z]{2,5}$/.test(word),
  };
}

/** Returns the flags of a frame in this direction, or -1 for an unknown word. */
function directionOf(word: string): number {
  return /^[rt]x$/i.test(word) ? (/^t/i.test(word) ? SENT : 0) : -1;
}

const received = typeOf('Rx');
