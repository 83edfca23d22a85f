/** Bodies as people and programs read them: columns as series with names, hashes in hexadecimal. */
import type { Body, BodyKind, Message } from './schema/message.ts';
import { type TelemetryJson, telemetryJson } from './schema/telemetry.ts';
import type { Catalogs } from './signals/catalog.ts';
import { hexOf } from './signals/hash.ts';
import { type SignalsJson, signalsJson } from './signals/telemetry.ts';

/** The body of a message of kind `K`, readable. */
export type ReadableBody<K extends BodyKind = BodyKind> = K extends 'telemetry'
  ? TelemetryJson & Partial<SignalsJson>
  : K extends 'catalog'
    ? Omit<Body<'catalog'>, 'catalog'> & { readonly catalog: string }
    : K extends 'capture'
      ? Omit<Body<'capture'>, 'columns' | 'size' | 'start'> & { readonly bytes: number }
      : K extends 'collision'
        ? Omit<Body<'collision'>, 'readings'> & { readonly readings?: TelemetryJson }
        : Body<K>;

/**
 * `catalogs` take up the message of a catalog, and give the names of custom signals.
 * @throws VigieError `message.malformed` or `message.unbounded` for columns that cannot be read
 */
export function readableBody(message: Message, catalogs: Catalogs): ReadableBody {
  switch (message.kind) {
    case 'telemetry':
      return { ...telemetryJson(message.body), ...signalsJson(message.body, catalogs) };
    case 'catalog':
      catalogs.add(message.body);
      return { ...message.body, catalog: hexOf(message.body.catalog) };
    case 'capture': {
      const { columns, size: _, start: __, ...readable } = message.body;
      return { ...readable, bytes: columns.length };
    }
    case 'collision': {
      const { readings, ...body } = message.body;
      return readings === undefined ? body : { ...body, readings: telemetryJson(readings) };
    }
    default:
      return message.body;
  }
}
