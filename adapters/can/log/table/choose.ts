/** Finds the columns of a table by its column names and lines. Rejects a layout that contradicts the lines. */
import { EXTENDED, type FrameBatch } from '../../../../agent/ports.ts';
import { VigieError } from '../../../../protocol/errors.ts';
import type { Fields } from '../fields.ts';
import type { Head } from '../format.ts';
import { Recording } from '../recording.ts';
import { layoutsOfColumns, layoutsOfHeader, MAX_PREAMBLE_LINES } from './header.ts';
import { inferLayouts } from './infer.ts';
import type { Layout } from './layout.ts';
import { MAX_NAMES_SIZE, TableLines } from './table.ts';

/** Maximum number of lines that are tried as column names. Further ones are text. */
const MAX_HEADERS = 8;
/** Maximum number of data lines that are used to judge columns. */
const MAX_JUDGED_LINES = 1000;
/** Largest accepted share of lines that contradict the columns. */
const TOLERATED = 0.01;
/** Smallest share of lines that must have the columns of a line of names; with fewer, that line is a sentence. */
const FITTING = 0.5;
/** Highest identifier of 11 bits. */
const MAX_STANDARD = 0x7ff;

interface ChosenTable {
  readonly layout: Layout;
  /** The line of column names, or undefined. */
  readonly names: string | undefined;
  /** True if the user named the columns. */
  readonly fixed: boolean;
}

interface Trial extends ChosenTable {
  readonly frames: number;
  readonly contradictions: number;
  /** Number of lines that have a cell for each required part of a frame. */
  readonly fitting: number;
  readonly lines: number;
  /** True if the last line is not a frame, perhaps because it is incomplete. */
  readonly cut: boolean;
  readonly first: { readonly line: number; readonly message: string } | undefined;
  /** True if no identifier contains a hexadecimal digit above 9. */
  readonly decimal: boolean;
  /** True if identifiers have more than 11 bits read as hexadecimal, but not read as decimal. */
  readonly odd: boolean;
  /** For aligned columns: true if the words of each column begin or end at one position. */
  readonly aligned: boolean;
  readonly digest: number;
}

/**
 * @param columns the columns named by the user; if given, no others are tried
 * @param file name for the error message
 * @throws VigieError `input.malformed` if more than one line in a hundred contradicts the columns; `usage.wrong` for
 *   columns without an identifier or data
 */
export function chooseTable({ text }: Head, columns: string | undefined, file: string): ChosenTable {
  const lines = linesOf(text);
  const trials = columns === undefined ? trialsOf(lines) : tryAll(lines, layoutsOfColumns(columns), undefined);
  const chosen = best(trials);
  if (chosen !== undefined && isAccepted(chosen)) return { ...chosen, fixed: columns !== undefined };
  const refused = chosen?.first === undefined ? undefined : chosen;
  throw new VigieError('input.malformed', refusal(refused, columns), { where: file });
}

/** Returns true if the columns of a table without column names can be inferred from its lines. */
export function hasPlainTable({ text }: Head): boolean {
  const trial = best(plainTrials(linesOf(text)));
  return trial !== undefined && isAccepted(trial);
}

function linesOf(text: string): readonly string[] {
  return text.split(/\r\n|\n|\r/).map((line) => line.replaceAll(/^\0+|\0+$/g, ''));
}

function refusal(trial: Trial | undefined, columns: string | undefined): string {
  if (trial?.first === undefined) {
    const advice = 'name the columns, e.g. --columns time,id,dlc,data (- is a column passed over)';
    return columns === undefined
      ? `the columns of this table cannot be told: ${advice}`
      : `no line has the columns ${columns}: name them in the order of the lines, - for a column passed over`;
  }
  const { contradictions, lines, first, layout } = trial;
  const by = columns === undefined ? 'their names' : `--columns ${columns}`;
  return (
    `${contradictions} of the first ${lines} lines contradict the columns by ${by} (line ${first.line}, ${first.message}): ` +
    `name them as the lines have them, e.g. --columns ${describe(layout)} (- is a column passed over)`
  );
}

/** Describes the columns of a layout in the syntax of `--columns`. */
function describe({ names = [], time, id, length, data, bus, direction, extended, remote }: Layout): string {
  const words = new Map<number | undefined, string>([
    [remote, 'rtr'],
    [extended, 'ext'],
    [direction, 'dir'],
    [bus, 'bus'],
    [length, 'dlc'],
    [time?.column, 'time'],
    [data.column, data.form === 'bytes' ? 'd0' : 'data'],
    [id.column, 'id'],
  ]);
  const count = Math.max(names.length, ...[...words.keys()].map((column) => (column ?? -1) + 1));
  const bytes = data.form === 'bytes' ? (data.count ?? 1) : 1;
  return Array.from({ length: count }, (_, column) => {
    const byte = column - data.column;
    return byte > 0 && byte < bytes ? `d${byte}` : (words.get(column) ?? '-');
  }).join(',');
}

/** Tries layouts in order of likelihood until one is certain. */
function tryAll(
  lines: readonly string[],
  layouts: readonly Layout[],
  names: string | undefined,
  from = 0,
  to = lines.length,
): Trial[] {
  // Use one bus: the bus names do not matter here.
  const recording = new Recording('', 'can0');
  const trials: Trial[] = [];
  for (const layout of layouts) {
    const trial = tryLayout(lines, recording, { layout, names, fixed: false }, from, to);
    trials.push(trial);
    const isCertain =
      trial.contradictions === 0 && !trial.cut && !trial.decimal && (layout.separator !== 'aligned' || trial.aligned);
    if (isAccepted(trial) && isCertain) break;
  }
  return trials;
}

/** Returns trials for the first line of names whose columns the lines have, or else trials from the lines alone. */
function trialsOf(lines: readonly string[]): readonly Trial[] {
  const headers: { readonly at: number; readonly layouts: readonly Layout[] }[] = [];
  for (let at = 0; at < Math.min(lines.length, MAX_PREAMBLE_LINES) && headers.length < MAX_HEADERS; at++) {
    const line = lines[at] as string;
    const layouts = layoutsOfHeader(line);
    if (layouts.length > 0) headers.push({ at, layouts });
  }
  let refused: readonly Trial[] = [];
  for (const [i, { at, layouts }] of headers.entries()) {
    const to = headers.slice(i + 1).find((next) => lines[next.at] !== lines[at])?.at ?? lines.length;
    const trials = tryAll(lines, layouts, (lines[at] as string).slice(0, MAX_NAMES_SIZE), at + 1, to);
    const first = best(trials);
    if (first !== undefined && isAccepted(first)) return trials;
    if (first !== undefined && first.lines > 0 && first.fitting >= first.lines * FITTING) refused = trials;
  }
  return refused.length > 0 ? refused : plainTrials(lines);
}

function plainTrials(lines: readonly string[]): readonly Trial[] {
  return tryAll(lines, inferLayouts(lines), undefined);
}

function isAccepted({ frames, contradictions }: Trial): boolean {
  if (frames === 0) return false;
  // One damaged line of a short table is no evidence against its columns.
  if (contradictions === 1) return frames >= 2;
  return contradictions <= TOLERATED * (frames + contradictions);
}

/**
 * Returns the trial with the fewest contradictions, then the most frames, then the highest likelihood. The lines decide
 * between decimal and hexadecimal. Undefined if two readings of the same lines differ.
 */
function best(all: readonly Trial[]): Trial | undefined {
  const trials = withoutDoubt(all);
  const ranked = [...(trials ?? [])].sort((a, b) => {
    const [isA, isB] = [isAccepted(a), isAccepted(b)];
    if (isA !== isB) return isA ? -1 : 1;
    const fitting = isA ? 0 : b.fitting - a.fitting;
    return fitting || a.contradictions - b.contradictions || Number(a.cut) - Number(b.cut) || b.frames - a.frames;
  });
  const [first] = ranked;
  if (first === undefined || !isAccepted(first)) return first;
  const { id, data } = first.layout;
  const isUnsaid = data.base === 10 && all.some(({ layout }) => layout.data.base === 16);
  if (id.base === 10 || !first.decimal || !(isUnsaid || first.odd)) return first;
  const decimals = ranked.filter(({ layout }) => layout.id.base === 10);
  return (
    decimals.find(({ contradictions, cut }) => contradictions === first.contradictions && cut === first.cut) ?? first
  );
}

/**
 * Words can be assigned to columns by position or by order. If all columns are aligned, positions decide; otherwise the
 * frames are certain only if both readings agree. Returns undefined if they differ.
 */
function withoutDoubt(trials: readonly Trial[]): readonly Trial[] | undefined {
  const accepted = trials.filter(isAccepted);
  const positions = accepted.filter(({ layout }) => layout.separator === 'aligned');
  if (positions.length === 0) return trials;
  if (positions.some(({ aligned }) => aligned)) return positions;
  const orders = accepted.filter(({ layout }) => layout.separator === 'blank');
  const agree = orders.every(({ digest }) => positions.some((one) => one.digest === digest));
  return agree ? trials : undefined;
}

/** Reads as many lines with a layout as are needed to judge it. */
function tryLayout(
  lines: readonly string[],
  recording: Recording,
  chosen: ChosenTable,
  from: number,
  to: number,
): Trial {
  const { layout } = chosen;
  const parser = new TableLines(recording, layout, undefined, true);
  const needed = Math.max(layout.id.column, layout.data.column) + 1;
  const seen = new FramesSeen(recording.batch);
  const places = new Places(layout);
  let contradictions = 0;
  let fitting = 0;
  let cut = false;
  let first: Trial['first'];
  for (let i = from; i < to && seen.frames + contradictions < MAX_JUDGED_LINES; i++) {
    const bytes = Buffer.from(lines[i] as string, 'latin1');
    // The head may end within its last line.
    const whole = i < lines.length - 1;
    const message = parser.line(bytes, 0, bytes.length, whole);
    if (message !== undefined && !whole) {
      cut = true;
      break;
    }
    if (message === undefined && recording.batch.count === 0) continue;
    if (parser.cells >= needed || layout.separator === 'aligned') fitting++;
    if (message !== undefined) {
      contradictions++;
      first ??= { line: i + 1, message };
      continue;
    }
    places.add(parser.fields);
    seen.take(parser.fields.size(layout.id.column));
  }
  const unit = parser.times.unitOfNumbers;
  const settled = layout.time === undefined ? layout : { ...layout, time: { ...layout.time, unit } };
  const { frames, decimal, odd, digest } = seen;
  const { aligned } = places;
  const judged = {
    frames,
    contradictions,
    fitting,
    cut,
    lines: frames + contradictions,
    first,
    decimal,
    odd,
    aligned,
    digest,
  };
  return { ...chosen, layout: settled, ...judged };
}

/** Summary of the frames that a layout reads. */
class FramesSeen {
  frames = 0;
  decimal = true;
  odd = false;
  digest = 0;
  readonly #batch: FrameBatch;

  constructor(batch: FrameBatch) {
    this.#batch = batch;
  }

  /** Adds the only frame of the batch, and empties the batch. @param size characters of its identifier */
  take(size: number): void {
    const batch = this.#batch;
    const id = batch.id[0] as number;
    const number = id & 0x1fff_ffff;
    const from = batch.offset[0] as number;
    this.frames++;
    const digits = number.toString(16);
    this.decimal &&= !/[a-f]/.test(digits);
    // `1024` is more likely a decimal number of 11 bits than a 29-bit number that begins with zeros.
    this.odd ||= (id & EXTENDED) !== 0 && number > MAX_STANDARD && Number(digits) <= MAX_STANDARD && size <= 4;
    for (const part of [number, ...batch.data.subarray(from, from + (batch.length[0] as number))]) {
      this.digest = (Math.imul(this.digest, 31) + part) | 0;
    }
    batch.count = 0;
  }
}

/** Start and end positions of the words in aligned columns. */
class Places {
  readonly #begins: readonly Set<number>[];
  readonly #ends: readonly Set<number>[];
  readonly #data: number;

  constructor({ extents = [], data }: Layout) {
    this.#begins = extents.map(() => new Set());
    this.#ends = extents.map(() => new Set());
    this.#data = data.column;
  }

  add(fields: Fields): void {
    for (const [column, begins] of this.#begins.entries()) {
      if (fields.size(column) === 0) continue;
      begins.add(fields.start[column] as number);
      this.#ends[column]?.add(fields.end[column] as number);
    }
  }

  /** True if each column begins or ends at one position. The payload may have any length, so it must begin at one. */
  get aligned(): boolean {
    return this.#begins.every(
      ({ size }, column) => size <= 1 || (column !== this.#data && (this.#ends[column]?.size ?? 0) <= 1),
    );
  }
}
