/** Which files of a journal are which segments. */
import type { Header } from './segment.ts';

export interface SegmentFile {
  readonly number: number;
  readonly path: string;
  /** Undefined when there is none or it is damaged. */
  readonly header: Header | undefined;
}

interface Listing {
  /** Those whose records may count, oldest first. */
  readonly segments: readonly SegmentFile[];
  /** By number: up to where the records of a segment count, as the header of the one after it says. */
  readonly limits: ReadonlyMap<number, number>;
  /** A file that was used again, of which only the name reached the medium. */
  readonly unbegun: readonly SegmentFile[];
  /** Segments between two of which the later says that it comes right after the earlier. */
  readonly givenUp: readonly SegmentFile[];
  /** Files that hold a segment which another file holds too. */
  readonly copies: readonly SegmentFile[];
  /** Files that hold another segment than their name says; they are among the segments, by the number they hold. */
  readonly misnamed: readonly SegmentFile[];
}

/** Sorts out files, each with the number in its name. `known` are segments that there were, if anything is known. */
export function listSegments(files: readonly SegmentFile[], known: readonly number[]): Listing {
  const own = (file: SegmentFile): number => file.header?.number ?? file.number;
  const strays = files.filter((file) => own(file) !== file.number);
  const named = files.filter((file) => own(file) === file.number);
  const found = new Map(named.map((file) => [file.number, file]));
  const [unbegun, copies, misnamed]: [SegmentFile[], SegmentFile[], SegmentFile[]] = [[], [], []];
  // The manifest may be missing or older than the newest segments: it knows only the segments up to its newest. A segment
  // that was released counts again without harm, because later checkpoints say what still exists.
  const isSegment = (number: number): boolean => known.includes(number) || number > Math.max(0, ...known);
  // A file that is used again has lost its previous name for good: its header names a segment that is needed no more.
  const isUnbegun = (name: number, number: number): boolean =>
    !known.includes(name) && !isSegment(number) && !files.some((file) => file.number === number);
  for (const file of strays) {
    const number = own(file);
    if (found.has(number)) copies.push(file);
    else if (isUnbegun(file.number, number)) unbegun.push(file);
    else {
      misnamed.push(file);
      found.set(number, { ...file, number });
    }
  }
  let segments: SegmentFile[] = [];
  const givenUp: SegmentFile[] = [];
  const limits = new Map<number, number>();
  for (const file of [...found.values()].sort((a, b) => a.number - b.number)) {
    const { header } = file;
    if (header !== undefined) {
      limits.set(header.previous, header.previousEnd);
      givenUp.push(...segments.filter((one) => one.number > header.previous));
      segments = segments.filter((one) => one.number <= header.previous);
    }
    segments.push(file);
  }
  return { segments, limits, unbegun, givenUp, copies, misnamed };
}
