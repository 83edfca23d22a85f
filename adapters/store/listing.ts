/** Maps the files of a journal to its segments. */
import type { Header } from './segment.ts';

export interface SegmentFile {
  readonly number: number;
  readonly path: string;
  /** Undefined if there is no header or it is damaged. */
  readonly header: Header | undefined;
}

interface Listing {
  /** Segments that may contain valid records, oldest first. */
  readonly segments: readonly SegmentFile[];
  /** Ends of the valid records, by segment number, as stated in the header of the next segment. */
  readonly limits: ReadonlyMap<number, number>;
  /** Reused files whose new name reached the medium but whose new content did not. */
  readonly unbegun: readonly SegmentFile[];
  /** Segments that the header of a later segment skips: they were abandoned. */
  readonly givenUp: readonly SegmentFile[];
  /** Files that contain the same segment as another file. */
  readonly copies: readonly SegmentFile[];
  /** Files named after another segment than they contain. Included in `segments` under the number they contain. */
  readonly misnamed: readonly SegmentFile[];
}

/** Classifies files by the number in their name. `known`: the segments in the manifest, if it was readable. */
export function listSegments(files: readonly SegmentFile[], known: readonly number[]): Listing {
  const own = (file: SegmentFile): number => file.header?.number ?? file.number;
  const strays = files.filter((file) => own(file) !== file.number);
  const named = files.filter((file) => own(file) === file.number);
  const found = new Map(named.map((file) => [file.number, file]));
  const [unbegun, copies, misnamed]: [SegmentFile[], SegmentFile[], SegmentFile[]] = [[], [], []];
  // The manifest may be missing, or older than the newest segments: it is used only up to its own newest segment. If a
  // released segment counts again, no harm is done, because later checkpoints list the entries that still exist.
  const isSegment = (number: number): boolean => known.includes(number) || number > Math.max(0, ...known);
  // A reused file has irrevocably lost its previous name: its header names a segment that is no longer needed.
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
