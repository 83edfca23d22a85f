/** Messages of a car as JSON, for `vigie export` and plain topics: each with its number, limited to what a caller may see. */
import { shiftInstants } from '../../instants.ts';
import { type ReadableBody, readableBody } from '../../readable.ts';
import { type Kind, recordKinds } from '../../schema/kind.ts';
import { bodies, type Message } from '../../schema/message.ts';
import type { Catalogs } from '../../signals/catalog.ts';
import { hexOf } from '../../signals/hash.ts';
import { type Sees, scopeOfPath, seenRecord } from '../visible-members.ts';

/** Contents of an export, with the kinds of messages that it needs. */
export const exportKinds = {
  readings: ['telemetry', 'waypoint', 'text'],
  records: [...recordKinds, 'event', 'remote'],
  trips: ['trip'],
} as const satisfies Readonly<Record<string, readonly Kind[]>>;
export type ExportContent = keyof typeof exportKinds;
export const exportContents = Object.keys(exportKinds) as readonly ExportContent[];

/** A wanted message. */
export interface MessageLine {
  readonly class: number;
  readonly boot: number;
  readonly seq: number;
  readonly kind: Kind;
  /** UTC ms. */
  readonly at: number;
  /** Readable body. If omitted, the caller may not see it. */
  readonly body?: object;
}

/** Consecutive messages of one class and start that the export does not need: only their numbers. */
export interface UnusedNumbers {
  readonly class: number;
  readonly boot: number;
  readonly numbers: readonly [first: number, last: number];
  /** Their time: before the period, in it or unknown, or after it. */
  readonly side: -1 | 0 | 1;
}

export type PageEntry = MessageLine | UnusedNumbers;

/** `GET /vigie/v1/vehicles/{vin}/messages`: by class, then by number. */
export interface MessagePage {
  readonly entries: readonly PageEntry[];
  /** Value of `after` for the next page. If omitted, this is the last page. */
  readonly next?: string;
}

/** Longest time in ms from the first to the last reading of a message: a sleeping car closes a batch later. */
export const MAX_SPAN_MS = 3_600_000;

/** Returns the times of a message and its body with `behind` ms added, which its start did not know. */
export function corrected<M extends Message>(message: M, behind: number): M {
  if (behind === 0) return message;
  const { at, kind, body } = message;
  return { ...message, at: at + behind, body: shiftInstants(bodies[kind], body, behind) };
}

/** Returns the time in UTC ms by which a message belongs to a period: when its record, or its first reading, was made. */
export function timeOf({ kind, at, body }: Message): number {
  if (kind === 'telemetry') return body.start;
  if (kind === 'waypoint') return body.points[0]?.at ?? at;
  if (kind === 'text') return body.at;
  return (recordKinds as readonly Kind[]).includes(kind) ? (body as { readonly createdAt: number }).createdAt : at;
}

/** Returns the body of a message as JSON, as visible to the caller; undefined if it is hidden. */
export function seenBody(sees: Sees, message: Message, catalogs: Catalogs): object | undefined {
  const all = sees('data:telemetry') && sees('data:position');
  switch (message.kind) {
    case 'telemetry': {
      const { series, catalog, signals } = readableBody(message, catalogs) as ReadableBody<'telemetry'>;
      // The meaning of an unknown slot is not known either.
      const seen = series.filter(({ path }) => all || (!path.startsWith('#') && sees(scopeOfPath(path))));
      const own = all && signals !== undefined ? { catalog, signals } : {};
      return seen.length === 0 && !all ? undefined : { series: seen, ...own };
    }
    case 'waypoint':
      return sees('data:position') ? message.body : undefined;
    case 'text':
      return all ? message.body : undefined;
    default: {
      const body = seenRecord(sees, message.kind, message.body);
      if (body === undefined) return undefined;
      return withoutBytes(readableBody({ ...message, body } as Message, catalogs)) as object;
    }
  }
}

/** Replaces bytes by hexadecimal text. */
function withoutBytes(value: unknown): unknown {
  if (value instanceof Uint8Array) return hexOf(value);
  if (Array.isArray(value)) return value.map(withoutBytes);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([name, member]) => [name, withoutBytes(member)]));
}
