/** Catalogs: what the numbers of a car's custom signals stand for. */
import { count } from './count.ts';
import { bytes, enumeration, list, optional, quantity, record, required, type Static, text } from './fields.ts';

/** What the values of a custom signal are. */
export const signalKinds = ['quantity', 'flag', 'enumeration'] as const;
export type SignalKind = (typeof signalKinds)[number];

/** Bytes of the hash of a catalog. */
export const HASH_LENGTH = 8;

/** A catalog is sent in at most so many parts. */
const MOST_PARTS = 1_000;

const float = (description: string) => quantity({ unit: '1', resolution: 0, description });

const signalNameSchema = record(
  'SignalValueName',
  {
    count: required(
      1,
      quantity({ unit: '1', resolution: 1, description: 'The integer that stands for it in columns.' }),
    ),
    name: required(2, text({ description: 'Its name.' })),
  },
  { description: 'A value of an enumeration.' },
);

/** What one number stands for. */
export const catalogEntrySchema = record(
  'CatalogEntry',
  {
    number: required(
      1,
      count('Number of the signal in columns. In a car it never gets another meaning.', { minimum: 1 }),
    ),
    name: required(2, text({ description: 'Name of the signal, with points; COVESA VSS where it has one there.' })),
    kind: required(3, enumeration(signalKinds, { description: 'What its values are.' })),
    unit: optional(4, text({ description: 'Unit of a quantity; absent: it has none.' })),
    resolution: optional(5, float('value = count × resolution + offset; absent: 1.')),
    offset: optional(6, float('value = count × resolution + offset; absent: 0.')),
    names: optional(7, list(signalNameSchema, { description: 'Names of an enumeration; others are plain integers.' })),
  },
  { description: 'A custom signal of a car.' },
);
export type CatalogEntry = Static<typeof catalogEntrySchema>;

/** What a custom signal is, before it has a number. */
export type SignalDefinition = Omit<CatalogEntry, 'number'>;

export const catalogSchema = record(
  'Catalog',
  {
    catalog: required(
      1,
      bytes({
        description: 'Hash of the whole catalog, by which telemetry names it.',
        coding: 'docs/wire-format.md, "Catalogs"',
        maxLength: HASH_LENGTH,
      }),
    ),
    part: required(2, count('Number of this part, from 0.', { maximum: MOST_PARTS - 1 })),
    parts: required(3, count('How many parts the catalog has.', { minimum: 1, maximum: MOST_PARTS })),
    entries: required(4, list(catalogEntrySchema, { description: 'Signals, by ascending number.' })),
  },
  { description: 'What numbers of custom signals stand for.' },
);
export type Catalog = Static<typeof catalogSchema>;
