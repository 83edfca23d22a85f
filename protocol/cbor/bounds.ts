import { VigieError } from '../errors.ts';
import { hex } from '../hex.ts';
import { head, MAJOR, malformed } from './head.ts';

export interface Bounds {
  /** Length of the whole encoding in bytes. */
  readonly maximumBytes: number;
  /** Nesting depth of arrays and maps; a lone scalar has depth 0. */
  readonly maximumDepth: number;
  /** Total number of data items, including the keys of maps. */
  readonly maximumItems: number;
  /** The only allowed tag number; it may precede only the outermost item. */
  readonly tag?: number;
}

/** An array or map that is being read. */
interface Level {
  /** Number of data items that remain. */
  remaining: number;
  /** Keys read so far, if this is a map. */
  readonly keys: Set<string> | undefined;
}

const utf8 = new TextDecoder('utf-8', { fatal: true });

/**
 * Checks, without building objects, that `bytes` are one well-formed CBOR data item (RFC 8949 section 3
 * and appendix C) within `bounds`, with definite lengths only, no tags except the allowed one, UTF-8 in every text
 * string (section 5.3.1) and no duplicate map keys (section 5.6). Time is linear in the bytes, memory in the bounds.
 * Throws `message.unbounded` if a bound is exceeded, and `message.malformed` for all other faults.
 */
export function checkBounds(bytes: Uint8Array, bounds: Bounds): void {
  if (bytes.length > bounds.maximumBytes) throw unbounded(`${bytes.length} bytes`, bounds.maximumBytes);
  const levels: Level[] = [];
  let items = 0;
  let position = bounds.tag === undefined ? 0 : afterTag(bytes, bounds.tag);
  do {
    const start = position;
    const { major, argument, next } = head(bytes, start);
    if (++items > bounds.maximumItems) throw unbounded('more data items', bounds.maximumItems);
    position = next;
    const level = levels.at(-1);
    if (level !== undefined) {
      if (level.keys !== undefined && level.remaining % 2 === 0) addKey(level.keys, bytes, start);
      level.remaining--;
    }
    if (major === MAJOR.bytes || major === MAJOR.text) {
      if (argument > bytes.length - position) throw malformed('ends in the middle of a string', start);
      if (major === MAJOR.text) checkText(bytes.subarray(position, position + argument), start);
      position += argument;
    } else if (major === MAJOR.array || major === MAJOR.map) {
      const remaining = major === MAJOR.map ? argument * 2 : argument;
      if (remaining > bytes.length - position) throw malformed('ends in the middle of an array or map', start);
      levels.push({ remaining, keys: major === MAJOR.map ? new Set() : undefined });
      if (levels.length > bounds.maximumDepth) throw unbounded('deeper nesting', bounds.maximumDepth);
    } else if (major === MAJOR.tag) {
      throw malformed(`has tag ${argument}, which this protocol does not use,`, start);
    }
    while (levels.at(-1)?.remaining === 0) levels.pop();
  } while (levels.length > 0);
  if (position !== bytes.length)
    throw malformed(`goes on for ${bytes.length - position} bytes after its end`, position);
}

function afterTag(bytes: Uint8Array, tag: number): number {
  const { major, argument, next } = head(bytes, 0);
  if (major !== MAJOR.tag || argument !== tag) throw malformed(`does not begin with tag ${tag}`, 0);
  return next;
}

/** Adds a key: an integer or a string, as all keys of this protocol are. Comparing other keys would require a tree. */
function addKey(keys: Set<string>, bytes: Uint8Array, start: number): void {
  const { major, argument, next } = head(bytes, start);
  // Decoders return an integer of 9 bytes as a bigint, so a lookup by its number would fail.
  if (major <= MAJOR.negative && next - start === 9 && argument <= 0xffff_ffff) {
    throw malformed('has a map key in more bytes than it needs', start);
  }
  let key: string;
  if (major <= MAJOR.negative)
    key = `${major} ${argument <= Number.MAX_SAFE_INTEGER ? argument : hex(bytes.subarray(start, next))}`;
  else if (major <= MAJOR.text) key = `${major} ${hex(bytes.subarray(next, next + argument))}`;
  else throw malformed('has a map key that is neither an integer nor a string', start);
  if (keys.has(key)) throw malformed('has a map key twice', start);
  keys.add(key);
}

function checkText(bytes: Uint8Array, start: number): void {
  try {
    utf8.decode(bytes);
  } catch (cause) {
    if (!(cause instanceof TypeError)) throw cause;
    throw malformed('has a text that is not UTF-8', start);
  }
}

function unbounded(what: string, maximum: number): VigieError {
  return new VigieError('message.unbounded', `CBOR has ${what}; at most ${maximum} allowed`);
}
