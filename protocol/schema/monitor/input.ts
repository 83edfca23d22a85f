/** Reads input from people and other programs: each fault names the member and the rule. */
import { VigieError } from '../../errors.ts';

/** Returns the error for a member at `where` that breaks a rule. */
export function malformed(where: string, rule: string): VigieError {
  return new VigieError('input.malformed', rule, { where });
}

/** Returns the error for a member at `where` that names something that does not exist. */
export function unknown(where: string, what: string): VigieError {
  return new VigieError('input.unknown', what, { where });
}

/** Strings that no message can represent (cbor/scalars.ts). */
const unfaithful = /\p{Surrogate}|^\ufeff/u;

/** One member of the input with its path, e.g. `triggerParam.triggers[2].name`. */
export class Member {
  readonly value: unknown;
  readonly where: string;

  constructor(value: unknown, where: string) {
    this.value = value;
    this.where = where;
  }

  /** True if the member is absent, or null as some clients write it. */
  get absent(): boolean {
    return this.value === undefined || this.value === null;
  }

  /** Returns a member of this object: the first of several spellings that is present. */
  member(name: string, ...spellings: readonly string[]): Member {
    const object = this.object();
    const found = [name, ...spellings].find((one) => Object.hasOwn(object, one) && object[one] !== null) ?? name;
    const value = Object.hasOwn(object, found) ? object[found] : undefined;
    return new Member(value, this.where === '' ? found : `${this.where}.${found}`);
  }

  object(): Readonly<Record<string, unknown>> {
    const { value } = this;
    if (typeof value === 'object' && value !== null && !Array.isArray(value)) return value as Record<string, unknown>;
    throw malformed(this.#place, `must be an object${this.#found}`);
  }

  list(minimum: number, maximum: number): Member[] {
    const { value } = this;
    if (!Array.isArray(value)) throw malformed(this.#place, `must be an array${this.#found}`);
    if (value.length < minimum || value.length > maximum) {
      throw malformed(this.#place, `must have ${minimum} to ${maximum} entries, has ${value.length}`);
    }
    return Array.from(value, (entry: unknown, index) => new Member(entry, `${this.where}[${index}]`));
  }

  text(maximum = 256): string {
    const { value } = this;
    if (typeof value !== 'string') throw malformed(this.#place, `must be a string${this.#found}`);
    if (value.length > maximum) throw malformed(this.#place, `must have at most ${maximum} characters`);
    if (unfaithful.test(value))
      throw malformed(this.#place, 'must not have lone surrogates or begin with a byte order mark');
    return value;
  }

  oneOf<const V extends readonly string[]>(values: V): V[number] {
    const text = this.text();
    if (values.includes(text)) return text;
    throw malformed(this.#place, `must be one of ${values.join(', ')}, is ${JSON.stringify(text)}`);
  }

  number(minimum: number, maximum: number): number {
    const { value } = this;
    if (typeof value !== 'number' || !Number.isFinite(value)) {
      throw malformed(this.#place, `must be a number${this.#found}`);
    }
    if (value >= minimum && value <= maximum) return value;
    throw malformed(this.#place, `must be ${minimum} to ${maximum}, is ${value}`);
  }

  integer(minimum: number, maximum: number): number {
    const number = this.number(minimum, maximum);
    if (Number.isInteger(number)) return number;
    throw malformed(this.#place, `must be a whole number, is ${number}`);
  }

  get #place(): string {
    return this.where === '' ? 'monitor' : this.where;
  }

  get #found(): string {
    if (this.absent) return ', is missing';
    return Array.isArray(this.value) ? ', is an array' : `, is a ${typeof this.value}`;
  }
}
