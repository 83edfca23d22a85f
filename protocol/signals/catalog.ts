/** Catalogs as messages: sent in parts by the car, assembled by receivers. */
import { compile } from '../cbor/codec.ts';
import { type Catalog, type CatalogEntry, catalogEntrySchema, type SignalDefinition } from '../schema/catalog.ts';
import { Fnv, hexOf } from './hash.ts';
import { type SignalValue, valuesOf } from './values.ts';

/** Maximum size in bytes of the entries in one part: the message can then be packed, and small brokers accept it. */
const PART = 48_000;

const codec = compile(catalogEntrySchema);

/** Returns the hash of a catalog, over the CBOR of its entries in ascending order of their numbers. */
export function catalogHash(entries: readonly CatalogEntry[]): Uint8Array {
  const fnv = new Fnv();
  for (const entry of entries) fnv.add(codec.encode(entry, 0));
  return fnv.hash;
}

/** Returns the bodies of the messages of a catalog; `entries` are sorted by number. */
export function catalogParts(entries: readonly CatalogEntry[]): Catalog[] {
  const catalog = catalogHash(entries);
  const groups: CatalogEntry[][] = [[]];
  let bytes = 0;
  for (const entry of entries) {
    const size = codec.encode(entry, 0).length;
    if (bytes > 0 && bytes + size > PART) {
      groups.push([]);
      bytes = 0;
    }
    bytes += size;
    groups.at(-1)!.push(entry);
  }
  return groups.map((group, part) => ({ catalog, part, parts: groups.length, entries: group }));
}

/** A signal of a catalog, with the meaning of its integers. */
interface NamedSignal {
  readonly definition: SignalDefinition;
  readonly value: (count: number) => SignalValue;
}

/** Catalogs of one car at a receiver. */
export class Catalogs {
  readonly #byHash = new Map<string, Map<number, NamedSignal>>();

  /** Adds a part, in any order and any number of times. */
  add({ catalog, entries }: Catalog): void {
    const hash = hexOf(catalog);
    const signals = this.#byHash.get(hash) ?? new Map<number, NamedSignal>();
    this.#byHash.set(hash, signals);
    for (const { number, ...definition } of entries) {
      signals.set(number, { definition, value: valuesOf(definition) });
    }
  }

  has(catalog: Uint8Array): boolean {
    return this.#byHash.has(hexOf(catalog));
  }

  /** Returns the definition of a number of a catalog, or undefined if its part has not arrived. */
  signal(catalog: Uint8Array, number: number): NamedSignal | undefined {
    return this.#byHash.get(hexOf(catalog))?.get(number);
  }
}
