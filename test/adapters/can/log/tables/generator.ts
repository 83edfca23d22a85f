/**
 * Random tables of frames in the style of many tools: any combination of delimiter, quoting, padding, encoding, column
 * names, and forms of numbers, times and data. Some tables contain damaged lines, which hold no frame.
 */
import { Random } from '../../../../../scripts/fuzz/random.ts';

export interface TableFrame {
  /** ms; undefined if the table has no times. */
  readonly at: number | undefined;
  readonly id: number;
  readonly extended: boolean;
  readonly remote: boolean;
  readonly sent: boolean;
  /** Hexadecimal. */
  readonly data: string;
}

export interface GeneratedTable {
  readonly content: Uint8Array;
  readonly frames: readonly TableFrame[];
  /** Number of lines that contradict the columns. They must yield no frames. */
  readonly damaged: number;
  /** If false, the last line has no line end: it may be cut, so the reader need not return its frame. */
  readonly ended: boolean;
}

interface Column {
  readonly name: string;
  /** @param i index of the frame */
  cell(frame: TableFrame, i: number): string;
}

interface Form<T> {
  readonly names: readonly string[];
  cell(value: T): string;
}

const hex = (value: number, digits: number): string => value.toString(16).padStart(digits, '0');
const two = (value: number): string => String(value).padStart(2, '0');
const START = Date.UTC(2026, 4, 1, 11, 22, 33);
const LENGTHS = [0, 1, 2, 3, 4, 5, 6, 7, 8, 8, 8, 8, 12, 16, 20, 24, 32, 48, 64];

const IDS = [
  'ID',
  'Id',
  'CAN ID',
  'CAN_ID',
  'can_id',
  'Arb ID',
  'Arbitration ID',
  'Identifier',
  'Message ID',
  'Msg ID',
  'Frame ID',
  'FrameID',
  'CAN-ID',
  'CAN Identifier',
  'COB-ID',
];
const TIMES = ['Time', 'Timestamp', 'Time Stamp', 'Abs Time', 'System Time', 'timestamp', 'Time_stamp', 'TimeStamp'];
const LENGTH_NAMES = ['DLC', 'Length', 'Len', 'LEN', 'Data Length', 'DL', 'dlc', 'DataLength', 'Size'];
const DATA_NAMES = ['Data', 'DATA', 'Payload', 'Data Bytes', 'DataBytes', 'Data Field', 'data', 'Data (hex)'];
const BYTE_NAMES: readonly ((byte: number) => string)[] = [
  (byte) => `D${byte}`,
  (byte) => `d${byte}`,
  (byte) => `B${byte + 1}`,
  (byte) => `Data${byte}`,
  (byte) => `Data ${byte}`,
  (byte) => `DATA[${byte}]`,
  (byte) => `Byte ${byte + 1}`,
  (byte) => `byte${byte}`,
];
const PROSE = [
  'Recorded with a tool',
  'The Id and the Data of all frames follow',
  'Bus speed: 500 kbit/s',
  '-----',
  'Start of measurement 2026',
  'Id Data',
  'All Data by Id',
  'File: drive of May',
];

const clock = (at: number): readonly [string, string, string, number] => {
  const seconds = Math.floor(at / 1000);
  return [
    two(Math.floor(seconds / 3600) % 24),
    two(Math.floor(seconds / 60) % 60),
    two(seconds % 60),
    at - seconds * 1000,
  ];
};
const micros = (part: number): string => String(Math.round(part * 1000)).padStart(6, '0');
const DAY = 86_400_000;

/** Times in whole microseconds; clock times count from midnight. */
const TIME_FORMS: readonly {
  readonly unit: string;
  readonly base: number;
  cell(at: number): string;
  read(at: number): number;
}[] = [
  { unit: '', base: 0, cell: (at) => (at / 1000).toFixed(6), read: (at) => at },
  { unit: '', base: START, cell: (at) => (at / 1000).toFixed(6), read: (at) => at },
  { unit: '[s]', base: 0, cell: (at) => (at / 1000).toFixed(6), read: (at) => at },
  { unit: ' (ms)', base: 0, cell: (at) => at.toFixed(3), read: (at) => at },
  { unit: '(ms)', base: 0, cell: (at) => String(Math.floor(at)), read: (at) => Math.floor(at) },
  { unit: ' (us)', base: 0, cell: (at) => String(Math.round(at * 1000)), read: (at) => at },
  { unit: '_us', base: 0, cell: (at) => String(Math.round(at * 1000)), read: (at) => at },
  { unit: ' (0.1ms)', base: 0, cell: (at) => String(Math.floor(at * 10)), read: (at) => Math.floor(at * 10) / 10 },
  { unit: '/ms', base: 0, cell: (at) => String(Math.floor(at)), read: (at) => Math.floor(at) },
  {
    unit: '',
    base: 39_600_000,
    cell: (at) => {
      const [h, m, s, part] = clock(at);
      return `${h}:${m}:${s}.${micros(part)}`;
    },
    read: (at) => at,
  },
  {
    unit: '',
    base: 39_600_000,
    cell: (at) => {
      const [h, m, s, part] = clock(at);
      return `${h}:${m}:${s}:${Math.floor(part)}`;
    },
    read: (at) => Math.floor(at),
  },
  {
    unit: '',
    base: 39_600_000,
    cell: (at) => {
      const [h, m, s, part] = clock(at);
      return `${Number(h)}:${m}:${s}.${String(Math.floor(part)).padStart(3, '0')}`;
    },
    read: (at) => Math.floor(at),
  },
  { unit: '', base: START, cell: (at) => new Date(Math.floor(at)).toISOString(), read: (at) => Math.floor(at) },
  {
    unit: '',
    base: START,
    cell: (at) => {
      const [h, m, s, part] = clock(at % DAY);
      return `2026-05-01 ${h}:${m}:${s}.${micros(part)}`;
    },
    read: (at) => at,
  },
  { unit: '', base: 0, cell: (at) => `0x${Math.floor(at * 10).toString(16)}`, read: (at) => Math.floor(at * 10) / 10 },
];

const DIRECTIONS: readonly Form<boolean>[] = [
  { names: ['Dir', 'Direction', 'dir'], cell: (sent) => (sent ? 'Tx' : 'Rx') },
  { names: ['T/R', 'Dir', 'Direction'], cell: (sent) => (sent ? 'T' : 'R') },
  { names: ['Direction', 'Dir'], cell: (sent) => (sent ? 'Send' : 'Receive') },
  { names: ['Direction'], cell: (sent) => (sent ? 'Transmit' : 'Receive') },
  { names: ['Dir'], cell: (sent) => (sent ? '1' : '0') },
  { names: ['Rx/Tx', 'DIR'], cell: (sent) => (sent ? 'TX' : 'RX') },
  { names: ['Tx'], cell: (sent) => (sent ? 'T' : 'F') },
];

const EXTENDED: readonly Form<boolean>[] = [
  { names: ['Extended', 'IDE', 'Ext', 'Xtd'], cell: (extended) => (extended ? '1' : '0') },
  { names: ['Extended', 'ext', 'is_extended'], cell: (extended) => String(extended) },
  { names: ['Ex', 'Extended'], cell: (extended) => (extended ? 'x' : '') },
  { names: ['Format', 'Type', 'Frame Format', 'Flags', 'ID Type'], cell: (extended) => (extended ? 'Ext' : 'Std') },
  { names: ['Format', 'Frame Format'], cell: (extended) => (extended ? 'Extend' : 'Standard') },
  { names: ['Flags', 'Flg'], cell: (extended) => (extended ? 'X' : '') },
];

const EXTRAS: readonly Form<number>[] = [
  { names: ['No', 'Index', 'Nr.', 'Line'], cell: (i) => String(i + 1) },
  { names: ['Name', 'Comment', 'Description'], cell: (i) => ['', 'Engine', 'Brake 1', ''][i % 4] as string },
  { names: ['Note', 'Trigger'], cell: () => '' },
  { names: ['Bus', 'Channel', 'Ch', 'Chn', 'CAN Channel'], cell: (i) => String(1 + (i % 2)) },
  { names: ['Counter'], cell: (i) => String(i * 7) },
];

export function generateTable(seed: number): GeneratedTable {
  const random = new Random('table', seed);
  const separator = random.of([',', ';', '\t', ',', ';', '\t', '|', 'aligned']);
  const marked = random.once(2);
  const decimal = random.of(['no', 'no', 'no', 'named', 'shown'] as const);
  const time = random.once(8) ? undefined : random.of(TIME_FORMS);
  const rows = 1 + random.below(12);
  const remote = random.once(6);
  const directed = random.once(2) ? random.of(DIRECTIONS) : undefined;
  const bytesApart = random.once(3);
  const isFd = !random.once(4);
  const frames: TableFrame[] = [];
  let at = time?.base ?? 0;
  for (let i = 0; i < rows; i++) {
    const extended = random.once(3);
    const isRemote = remote && random.once(4);
    const length = bytesApart ? random.below(9) : (LENGTHS[random.below(isFd ? LENGTHS.length : 12)] as number);
    const bytes = Uint8Array.from({ length: isRemote ? 0 : length }, () => random.below(256));
    at += random.below(2_000_000) / 1000;
    at = Math.round(at * 1000) / 1000;
    const small = marked && extended && random.once(5);
    const id = extended ? (small ? random.below(0x800) : 0x1_0000 + random.below(0x1fff_0000)) : random.below(0x800);
    frames.push({
      at: time === undefined ? undefined : time.read(at),
      id,
      extended,
      remote: isRemote,
      sent: directed !== undefined && random.once(3),
      data: Buffer.from(bytes).toString('hex'),
    });
  }
  if (decimal === 'shown' && !frames.some(({ data }) => Buffer.from(data, 'hex').some((byte) => byte >= 100)))
    frames[0] = { ...(frames[0] as TableFrame), remote: false, data: 'ffee' };
  // Without a length column, no data and a missing cell look alike, so such a table marks remote frames.
  const columns = columnsOf(random, { separator, marked, decimal, time, remote, directed, bytesApart, frames });
  return write(random, separator, columns, frames, rows);
}

interface Choices {
  readonly separator: string;
  readonly marked: boolean;
  readonly decimal: 'no' | 'named' | 'shown';
  readonly time: (typeof TIME_FORMS)[number] | undefined;
  readonly remote: boolean;
  readonly directed: Form<boolean> | undefined;
  readonly bytesApart: boolean;
  readonly frames: readonly TableFrame[];
}

function columnsOf(random: Random, choices: Choices): readonly (readonly Column[])[] {
  const { separator, marked, decimal, time, remote, directed, bytesApart, frames } = choices;
  const isAligned = separator === 'aligned';
  const groups: (readonly Column[])[] = [];
  const one = (name: string, cell: Column['cell']): void => {
    groups.push([{ name, cell }]);
  };
  if (time !== undefined) {
    // In an aligned table a time with a blank would be two cells.
    const raws = new Map(frames.map((frame) => [frame, frame.at as number]));
    one(`${random.of(TIMES)}${time.unit}`, (frame) =>
      time.cell(raws.get(frame) as number).replace(isAligned ? ' ' : '', isAligned ? 'T' : ''),
    );
  }
  one(idName(random, decimal), idCell(random, decimal));
  if (marked) {
    const form = random.of(EXTENDED);
    one(random.of(form.names), ({ extended }) => form.cell(extended));
  }
  if (remote) one(random.of(['RTR', 'Remote', 'rtr']), ({ remote: is }) => (is ? '1' : '0'));
  if (directed !== undefined) one(random.of(directed.names), ({ sent }) => directed.cell(sent));
  const withLength = isAligned || !random.once(4);
  if (withLength) one(random.of(LENGTH_NAMES), ({ data }) => String(data.length / 2));
  for (const form of EXTRAS) {
    if (!random.once(4)) continue;
    // In an aligned table a blank within a cell would separate cells.
    one(random.of(form.names), (_, i) => (isAligned ? form.cell(i).replace(' ', '_') : form.cell(i)));
  }
  if (random.once(3))
    for (let i = groups.length - 1; i > 0; i--) {
      const j = random.below(i + 1);
      [groups[i], groups[j]] = [groups[j] as readonly Column[], groups[i] as readonly Column[]];
    }
  const data = bytesApart && !isAligned ? byteColumns(random, decimal) : [dataColumn(random, decimal)];
  // Last, if the number of data cells varies from line to line, or anywhere.
  if (isAligned || random.once(2)) groups.push(data);
  else groups.splice(random.below(groups.length + 1), 0, data);
  return groups;
}

function idName(random: Random, decimal: Choices['decimal']): string {
  const name = random.of(IDS);
  return decimal === 'named' ? `${name} (dec)` : decimal === 'no' && random.once(6) ? `${name} (hex)` : name;
}

function idCell(random: Random, decimal: Choices['decimal']): Column['cell'] {
  if (decimal !== 'no') return ({ id }) => String(id);
  const form = random.of<(frame: TableFrame) => string>([
    ({ id }) => `0x${hex(id, 1)}`,
    ({ id }) => `0x${hex(id, 3).toUpperCase()}`,
    ({ id }) => hex(id, 3).toUpperCase(),
    ({ id }) => hex(id, 1),
    ({ id }) => hex(id, 8),
    ({ id }) => `${hex(id, 3).toUpperCase()}h`,
    ({ id }) => `$${hex(id, 3)}`,
  ]);
  return form;
}

function dataColumn(random: Random, decimal: Choices['decimal']): Column {
  const bytesOf = ({ data }: TableFrame): readonly number[] => [...Buffer.from(data, 'hex')];
  if (decimal !== 'no') {
    const name = decimal === 'named' ? 'Data (dec)' : 'Data';
    return { name, cell: (frame) => bytesOf(frame).join(' ') };
  }
  const form = random.of<(bytes: readonly number[]) => string>([
    (bytes) => bytes.map((byte) => hex(byte, 2).toUpperCase()).join(' '),
    (bytes) => bytes.map((byte) => hex(byte, 2)).join(''),
    (bytes) => (bytes.length === 0 ? '' : `0x${bytes.map((byte) => hex(byte, 2)).join('')}`),
    (bytes) => bytes.map((byte) => `0x${hex(byte, 2)}`).join(' '),
    (bytes) => bytes.map((byte) => hex(byte, 2)).join('-'),
    (bytes) => (bytes.length === 0 ? '' : `${bytes.map((byte) => hex(byte, 2)).join(' ')} `),
  ]);
  return { name: random.of(DATA_NAMES), cell: (frame) => form(bytesOf(frame)) };
}

function byteColumns(random: Random, decimal: Choices['decimal']): readonly Column[] {
  const named = random.of(BYTE_NAMES);
  const digits = random.of([1, 2]);
  const prefix = decimal === 'no' && random.once(3) ? '0x' : '';
  return Array.from({ length: 8 }, (_, byte) => ({
    name: `${named(byte)}${decimal === 'named' ? ' (dec)' : ''}`,
    cell: ({ data }: TableFrame) => {
      const value = Buffer.from(data, 'hex')[byte];
      if (value === undefined) return '';
      return decimal === 'no' ? `${prefix}${hex(value, digits)}` : String(value);
    },
  }));
}

function write(
  random: Random,
  separator: string,
  groups: readonly (readonly Column[])[],
  frames: readonly TableFrame[],
  rows: number,
): GeneratedTable {
  const columns = groups.flat();
  const isAligned = separator === 'aligned';
  const quotes = isAligned ? 'none' : random.of(['none', 'none', 'all', 'cells'] as const);
  const padding = isAligned ? '' : random.of(['', '', '', ' ', '\0', '\u00a0', '  ']);
  const trailing = !isAligned && random.once(4);
  const quoted = (text: string, all: boolean): string =>
    `${padding}${quotes === 'all' || (quotes === 'cells' && all) ? `"${text}"` : text}${padding}`;
  const cells = frames.map((frame, i) => columns.map((column) => column.cell(frame, i)));
  const damaged = rows > 8 && random.once(6) ? 1 : 0;
  const model = random.below(cells.length);
  // A remote frame allows any length.
  const isOpen = frames[model]?.remote === true;
  const contradicting =
    damaged === 1 && !isOpen ? damagedCells(random, columns, cells[model] as readonly string[]) : undefined;
  const broken = contradicting?.some((cell) => cell !== '') === true ? contradicting : undefined;
  // Before the first frame, a line without a number may be a line of units.
  const isText = broken !== undefined && !broken.some((cell) => /\d/.test(cell));
  const place = isText ? 1 + random.below(cells.length) : random.below(cells.length + 1);
  const lines = broken === undefined ? cells : [...cells.slice(0, place), broken, ...cells.slice(place)];
  const text = isAligned
    ? aligned(random, columns, lines)
    : lines.map((row) =>
        join(
          row.map((cell) => quoted(cell, true)),
          separator,
          trailing,
        ),
      );
  const names = columns.map(({ name }) => quoted(name, false));
  const head = isAligned ? [] : [join(names, separator, trailing && random.once(2))];
  const preamble = random.once(3) ? Array.from({ length: 1 + random.below(4) }, () => random.of(PROSE)) : [];
  const end = random.of(['\n', '\r\n', '\n', '\r\n', '\r']);
  const all = [...preamble, ...head, ...text].join(end) + (broken === undefined && random.once(6) ? '' : end);
  const ended = all.endsWith(end);
  return { content: encoded(random, all), frames, damaged: broken === undefined ? 0 : 1, ended };
}

function join(cells: readonly string[], separator: string, trailing: boolean): string {
  return cells.join(separator) + (trailing ? separator : '');
}

/** Writes names and lines with each column as wide as its longest cell. */
function aligned(random: Random, columns: readonly Column[], rows: readonly (readonly string[])[]): readonly string[] {
  const all = [columns.map(({ name }) => name), ...rows];
  const widths = columns.map((_, i) => Math.max(...all.map((row) => (row[i] as string).length)));
  const gap = ' '.repeat(2 + random.below(3));
  const right = columns.map(() => random.once(4));
  return all.map((row) =>
    row
      .map((cell, i) =>
        right[i] === true && i < columns.length - 1
          ? cell.padStart(widths[i] as number)
          : cell.padEnd(widths[i] as number),
      )
      .join(gap)
      .trimEnd(),
  );
}

/** Returns a line with contradictory cells. */
function damagedCells(
  random: Random,
  columns: readonly Column[],
  row: readonly string[],
): readonly string[] | undefined {
  const id = columns.findIndex(({ name }) => IDS.includes(name.replace(/ \((hex|dec)\)$/, '')));
  const length = columns.findIndex(({ name }) => LENGTH_NAMES.includes(name));
  const other = (column: number, text: string): readonly string[] => row.map((cell, i) => (i === column ? text : cell));
  if (length >= 0 && random.once(2)) return other(length, String((Number(row[length]) + 1) % 9));
  return id < 0 ? undefined : other(id, random.of(['zz', '', '999999999', '0x3FFFFFFF']));
}

function encoded(random: Random, text: string): Uint8Array {
  switch (random.of(['utf8', 'utf8', 'latin1', 'mark', 'little', 'big'])) {
    case 'latin1':
      return Buffer.from(text, 'latin1');
    case 'mark':
      return Buffer.from(`\ufeff${text}`);
    case 'little':
      return Buffer.from(`\ufeff${text}`, 'utf16le');
    case 'big':
      return Buffer.from(`\ufeff${text}`, 'utf16le').swap16();
    default:
      return Buffer.from(text);
  }
}
