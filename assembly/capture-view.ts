/** Captures for the HTTP interfaces, as candump logs or MDF4, built from the parts that a car has stored or sent. */

import { formatCandump } from '../adapters/can/log/writer.ts';
import type { CaptureReport, CaptureView } from '../adapters/http/captures.ts';
import type { RecordStore } from '../agent/ports.ts';
import { unpackFrames } from '../protocol/captures/capture.ts';
import { defined } from '../protocol/defined.ts';
import type { Capture } from '../protocol/schema/capture.ts';

/** Returns a view of the captures in a car's records. */
export function captureViewOf(records: Pick<RecordStore, 'list'>): CaptureView {
  return viewOfParts(function* () {
    for (const { record } of records.list('capture')) yield record as Capture;
  });
}

/** Returns a view of captures. @param parts yields each part of all captures once, in any order */
export function viewOfParts(parts: () => Iterable<Capture> | AsyncIterable<Capture>): CaptureView {
  const partsOf = async (id: string): Promise<Capture[]> => {
    const own: Capture[] = [];
    for await (const part of parts()) if (part.id === id) own.push(part);
    return own.sort((a, b) => a.part - b.part);
  };
  return {
    async list() {
      const reports = new Map<string, CaptureReport>();
      for await (const { id, cause, of, monitorId, at, from, to, frames, columns, last } of parts()) {
        const known = reports.get(id);
        reports.set(id, {
          id,
          cause,
          of,
          ...defined({ monitorId }),
          at: textOf(at),
          from: textOf(from),
          to: textOf(to),
          frames: (known?.frames ?? 0) + frames,
          bytes: (known?.bytes ?? 0) + columns.length,
          complete: (known?.complete ?? false) || last,
        });
      }
      return [...reports.values()].sort((a, b) => (a.at === b.at ? compare(a.id, b.id) : compare(a.at, b.at)));
    },
    async log(id) {
      const own = await partsOf(id);
      return own.length === 0 ? undefined : logOf(own);
    },
    async mdf4(id) {
      const own = await partsOf(id);
      if (own.length === 0) return undefined;
      // Load it on request: a car otherwise does not need it.
      const { mdf4Of } = await import('../adapters/can/log/mdf4/writer.ts');
      return mdf4Of(own.map((part) => ({ frames: unpackFrames(part), buses: part.buses })));
    },
  };
}

/** Yields the log part by part, so that each part is unpacked only when it is needed. */
function* logOf(parts: readonly Capture[]): Generator<string> {
  for (const part of parts) yield candumpOf(part);
}

/** Formats the frames of a capture as a candump log. */
export function candumpOf(part: Capture): string {
  const frames = unpackFrames(part);
  let text = '';
  for (let i = 0; i < frames.count; i++) text += `${formatCandump(frames, i, part.buses)}\n`;
  return text;
}

function textOf(at: number): string {
  return new Date(at).toISOString();
}

/** Compares strings of equal length, or strings whose order does not matter. */
function compare(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}
