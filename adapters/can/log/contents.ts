/** The recordings in a file that are not bus logs, such as those of GNSS receivers: unpacked, each with a name. */
import { BegunInput, type ByteInput, fill, openInput } from './input.ts';
import { fileOf, isTar, magicSize, mostPackings, packingOf, TAR_HEADER_BYTES } from './packing.ts';
import { UnpackedInput } from './unpacked.ts';
import { entriesOf, inputOf } from './zip.ts';

interface Content {
  /** Name for users: the path, with the name in the archive. */
  readonly name: string;
  /** True if the content is in an archive, perhaps among other files. */
  readonly archived: boolean;
  /** Unpacked bytes, which are closed before the next content is opened. */
  readonly bytes: ByteInput;
}

/**
 * Yields the file itself, or the content of a packed file (gzip, zstd), or the files in an archive in the order of
 * their names.
 * @param path a file, or `-` for standard input
 * @throws VigieError `input.unreadable`; `input.malformed` for an archive that is damaged, encrypted or too large
 */
export async function* contentsOf(path: string): AsyncGenerator<Content, undefined> {
  const name = path === '-' ? 'standard input' : path;
  yield* contentsIn(await openInput(path), name, false, mostPackings);
}

async function* contentsIn(
  given: ByteInput,
  name: string,
  archived: boolean,
  packings: number,
): AsyncGenerator<Content, undefined> {
  let input = given;
  try {
    let begun = input instanceof BrokenInput ? new Uint8Array(0) : await magicOf(input);
    for (let left = packings; left > 0; left--) {
      const packing = packingOf(begun);
      if (packing === undefined) break;
      if (packing === 'zip') {
        yield* entriesIn(input, begun, name, left - 1);
        return;
      }
      input = new UnpackedInput(packing, input, begun);
      begun = await magicOf(input);
    }
    if (packings > 0 && isTar(begun)) {
      yield* entriesIn(input, begun, name, packings - 1);
      return;
    }
    yield { name, archived, bytes: new BegunInput(input, begun) };
  } finally {
    await input.close();
  }
}

async function* entriesIn(
  input: ByteInput,
  begun: Uint8Array,
  name: string,
  packings: number,
): AsyncGenerator<Content, undefined> {
  const file = await fileOf(input, begun, name, false);
  try {
    for (const entry of await entriesOf(file, name)) {
      const inside = `${name}/${entry.name}`;
      const bytes = await inputOf(entry, file, inside).catch((error: unknown) => new BrokenInput(error));
      yield* contentsIn(bytes, inside, true, packings);
    }
  } finally {
    await file.close();
  }
}

/** Reads the bytes that identify an archive: only a few, because a live source may be silent for hours. */
async function magicOf(input: ByteInput): Promise<Uint8Array> {
  const magic = new Uint8Array(input.size === 0 ? magicSize : TAR_HEADER_BYTES);
  return magic.subarray(0, await fill(input, magic, 0, magic.length));
}

/** A file in an archive that cannot be unpacked while others can. Fails when it is read. */
class BrokenInput implements ByteInput {
  readonly size = 0;
  readonly position = 0;
  readonly #error: unknown;

  constructor(error: unknown) {
    this.#error = error;
  }

  read(): Promise<number> {
    return Promise.reject(this.#error);
  }

  async close(): Promise<void> {}
}
