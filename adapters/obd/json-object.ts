import type { Diagnostic } from '../../protocol/diagnostic.ts';
import { reasonOf, VigieError } from '../../protocol/errors.ts';
import { lineOf, lineOfSyntaxError, pathText, type Step } from './json-place.ts';

/** A document in parsing, and its unknown members. */
export interface SignalSetText {
  readonly text: string;
  readonly file: string;
  readonly unknown: Map<string, { count: number; finding: (count: number) => Diagnostic }>;
}

/** Maximum number of unknown member names reported separately; each requires a search through the file. */
const MOST_FINDINGS = 50;

/**
 * An object of a JSON document. Its members are read one by one with a type check; a fault contains file, line and
 * path. Members not read are the {@link rest}.
 */
export class JsonObject {
  readonly #source: SignalSetText;
  readonly #path: readonly Step[];
  readonly #members: ReadonlyMap<string, unknown>;
  readonly #taken = new Set<string>();

  private constructor(source: SignalSetText, path: readonly Step[], members: object) {
    this.#source = source;
    this.#path = path;
    this.#members = new Map(Object.entries(members));
  }

  /** @throws VigieError `input.malformed` if the text is not JSON or not an object. */
  static parse(source: SignalSetText): JsonObject {
    let value: unknown;
    try {
      value = JSON.parse(source.text);
    } catch (cause) {
      const reason = reasonOf(cause);
      const where = `${source.file}:${lineOfSyntaxError(source.text)}`;
      throw new VigieError('input.malformed', `not JSON: ${reason}`, { where, cause });
    }
    return JsonObject.#of(source, [], value);
  }

  static #of(source: SignalSetText, path: readonly Step[], value: unknown): JsonObject {
    if (typeof value !== 'object' || value === null || Array.isArray(value)) {
      throw malformed(source, path, 'must be an object');
    }
    return new JsonObject(source, path, value);
  }

  /** Creates an error about this object. */
  fault(message: string): VigieError {
    return malformed(this.#source, this.#path, message);
  }

  names(): string[] {
    return [...this.#members.keys()];
  }

  text(name: string): string | undefined {
    const value = this.#take(name);
    if (value === undefined || typeof value === 'string') return value;
    throw this.#wrong(name, 'must be text');
  }

  boolean(name: string): boolean | undefined {
    const value = this.#take(name);
    if (value === undefined || typeof value === 'boolean') return value;
    throw this.#wrong(name, 'must be true or false');
  }

  number(name: string): number | undefined {
    const value = this.#take(name);
    if (value === undefined || (typeof value === 'number' && Number.isFinite(value))) return value;
    throw this.#wrong(name, 'must be a number');
  }

  numbers(name: string): number[] | undefined {
    const value = this.#take(name);
    if (value === undefined) return undefined;
    if (Array.isArray(value) && value.every((item) => typeof item === 'number')) return value;
    throw this.#wrong(name, 'must be a list of numbers');
  }

  /** Reads hexadecimal digits, `least` to `most` of them, in upper case. */
  hex(name: string, least: number, most: number): string | undefined {
    const value = this.text(name);
    if (value === undefined) return undefined;
    if (/^[0-9A-Fa-f]*$/.test(value) && value.length >= least && value.length <= most) return value.toUpperCase();
    throw this.#wrong(name, `must be ${least} to ${most} hexadecimal digits, not "${value.slice(0, 20)}"`);
  }

  object(name: string): JsonObject | undefined {
    const value = this.#take(name);
    return value === undefined ? undefined : JsonObject.#of(this.#source, [...this.#path, name], value);
  }

  textOrObject(name: string): string | JsonObject {
    const value = this.#take(name);
    return typeof value === 'string' ? value : JsonObject.#of(this.#source, [...this.#path, name], value);
  }

  /** Reads a required list of objects; it may be empty. */
  objects(name: string): JsonObject[] {
    const value = this.#take(name);
    if (!Array.isArray(value)) throw this.fault(`must have "${name}", a list`);
    return value.map((item, i) => JsonObject.#of(this.#source, [...this.#path, name, i], item));
  }

  /** Returns the members not read. Notes each name that is not `known` once; `what` is the kind of object. */
  rest(what: string, known: readonly string[]): Record<string, unknown> {
    const more: Record<string, unknown> = {};
    for (const [name, value] of this.#members) {
      if (this.#taken.has(name)) continue;
      // A member called __proto__ must remain an ordinary member.
      Object.defineProperty(more, name, { value, enumerable: true, configurable: true, writable: true });
      if (!known.includes(name)) this.#note(what, name);
    }
    return more;
  }

  #note(what: string, name: string): void {
    const { unknown, file, text } = this.#source;
    const full = unknown.size >= MOST_FINDINGS;
    const key = full && !unknown.has(`${what}.${name}`) ? '' : `${what}.${name}`;
    const noted = unknown.get(key);
    if (noted !== undefined) {
      noted.count++;
      return;
    }
    const path = [...this.#path, name];
    const subject = key === '' ? 'there are further unknown members' : `"${name}" is no known member of ${what}`;
    unknown.set(key, {
      count: 1,
      finding: (count) => ({
        file,
        line: lineOf(text, path),
        severity: 'warning',
        message: `${subject}${count > 1 ? `, ${count} times` : ''}; kept and not used`,
      }),
    });
  }

  #take(name: string): unknown {
    this.#taken.add(name);
    return this.#members.get(name);
  }

  #wrong(name: string, message: string): VigieError {
    return malformed(this.#source, [...this.#path, name], message);
  }
}

function malformed({ text, file }: SignalSetText, path: readonly Step[], message: string): VigieError {
  return new VigieError('input.malformed', `${pathText(path)} ${message}`, { where: `${file}:${lineOf(text, path)}` });
}
