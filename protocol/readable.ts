/** Bodies for people and programs: columns as series with names and units, hashes in hexadecimal. */
import type { Body, BodyKind, Message } from './schema/message.ts';
import { type Telemetry, type TelemetryJson, telemetryJson } from './schema/telemetry.ts';
import type { Catalogs } from './signals/catalog.ts';
import { hexOf } from './signals/hash.ts';
import { type SignalsJson, signalsJson } from './signals/telemetry.ts';
import { slotById } from './slots.ts';

/** Readings of Status and of custom signals. */
export type ReadableTelemetry = TelemetryJson & Partial<SignalsJson>;

type ReadableCollision = Omit<Body<'collision'>, 'readings'> & { readonly readings?: ReadableTelemetry };

/** `T` with its collision, if present, in readable form. */
type WithReadableCollision<T> = Omit<T, 'collision'> & { readonly collision?: ReadableCollision };

type Entry<T> = NonNullable<T> extends readonly (infer E)[] ? E : never;

type ReadableEvent = Omit<Body<'event'>, 'telemetry' | 'values' | 'extensions'> & {
  readonly telemetry?: ReadableTelemetry;
  readonly values?: readonly WithReadableCollision<Entry<Body<'event'>['values']>>[];
  readonly extensions?: readonly WithReadableCollision<Entry<Body<'event'>['extensions']>>[];
};

/** Readable body of a message of kind `K`. */
export type ReadableBody<K extends BodyKind = BodyKind> = K extends 'status'
  ? Omit<Body<'status'>, 'stale'> & { readonly stale?: readonly string[] }
  : K extends 'telemetry'
    ? ReadableTelemetry
    : K extends 'catalog'
      ? Omit<Body<'catalog'>, 'catalog'> & { readonly catalog: string }
      : K extends 'capture'
        ? Omit<Body<'capture'>, 'columns' | 'size' | 'start'> & { readonly bytes: number }
        : K extends 'collision'
          ? ReadableCollision
          : K extends 'event'
            ? ReadableEvent
            : Body<K>;

/**
 * Returns the readable body of a message. Adds a catalog to `catalogs`, and looks up names of custom signals there.
 * @throws VigieError `message.malformed` or `message.unbounded` for columns that cannot be read
 */
export function readableBody(message: Message, catalogs: Catalogs): ReadableBody {
  const readings = (telemetry: Telemetry): ReadableTelemetry => {
    return { ...telemetryJson(telemetry), ...signalsJson(telemetry, catalogs) };
  };
  switch (message.kind) {
    case 'status': {
      const { stale, ...body } = message.body;
      return stale === undefined ? body : { ...body, stale: stale.map((id) => slotById.get(id)?.path ?? `#${id}`) };
    }
    case 'telemetry':
      return readings(message.body);
    case 'catalog':
      catalogs.add(message.body);
      return { ...message.body, catalog: hexOf(message.body.catalog) };
    case 'capture': {
      const { columns, size: _, start: __, ...readable } = message.body;
      return { ...readable, bytes: columns.length };
    }
    case 'collision':
      return readableCollision(message.body, readings);
    case 'event': {
      const { telemetry, values, extensions, ...body } = message.body;
      return {
        ...body,
        ...(values === undefined ? {} : { values: values.map((value) => withCollision(value, readings)) }),
        ...(extensions === undefined ? {} : { extensions: extensions.map((one) => withCollision(one, readings)) }),
        ...(telemetry === undefined ? {} : { telemetry: readings(telemetry) }),
      };
    }
    default:
      return message.body;
  }
}

type Readings = (telemetry: Telemetry) => ReadableTelemetry;

function readableCollision({ readings, ...body }: Body<'collision'>, readable: Readings): ReadableCollision {
  return readings === undefined ? body : { ...body, readings: readable(readings) };
}

function withCollision<T extends { readonly collision?: Body<'collision'> }>(
  { collision, ...rest }: T,
  readable: Readings,
): WithReadableCollision<T> {
  return collision === undefined ? rest : { ...rest, collision: readableCollision(collision, readable) };
}
