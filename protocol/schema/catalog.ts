/** Catalogs: definitions of the numbers of a car's custom signals. */
import { count } from './count.ts';
import { bytes, enumeration, list, optional, quantity, record, required, type Static, text } from './fields.ts';

/** Types of the values of a custom signal. */
export const signalKinds = ['quantity', 'flag', 'enumeration'] as const;
export type SignalKind = (typeof signalKinds)[number];

/** Length of a catalog hash in bytes. */
export const HASH_LENGTH = 8;

/** Maximum number of parts of a catalog. */
const MOST_PARTS = 1_000;

const float = (description: string) => quantity('1', 0, [], description);

const signalNameSchema = record('SignalValueName', 'A value of an enumeration.', {
  count: required(1, quantity('1', 1, [], 'The integer that stands for it in columns.')),
  name: required(2, text('Its name.')),
});

/** Definition of one number. */
export const catalogEntrySchema = record('CatalogEntry', 'A custom signal of a car.', {
  number: required(
    1,
    count('Number of the signal in columns. In a car it never gets another meaning.', { minimum: 1 }),
  ),
  name: required(2, text('Name of the signal, with points; COVESA VSS where it has one there.')),
  kind: required(3, enumeration('What its values are.', signalKinds)),
  unit: optional(4, text('Unit of a quantity; absent: it has none.')),
  resolution: optional(5, float('value = count × resolution + offset; absent: 1.')),
  offset: optional(6, float('value = count × resolution + offset; absent: 0.')),
  names: optional(7, list('Names of an enumeration; others are plain integers.', signalNameSchema)),
});
export type CatalogEntry = Static<typeof catalogEntrySchema>;

/** Definition of a custom signal without its number. */
export type SignalDefinition = Omit<CatalogEntry, 'number'>;

export const catalogSchema = record('Catalog', 'What numbers of custom signals stand for.', {
  catalog: required(
    1,
    bytes('Hash of the whole catalog, by which telemetry names it.', {
      coding: 'docs/wire-format.md, "Catalogs"',
      maxLength: HASH_LENGTH,
    }),
  ),
  part: required(2, count('Number of this part, from 0.', { maximum: MOST_PARTS - 1 })),
  parts: required(3, count('How many parts the catalog has.', { minimum: 1, maximum: MOST_PARTS })),
  entries: required(4, list('Signals, by ascending number.', catalogEntrySchema)),
});
export type Catalog = Static<typeof catalogSchema>;
