/**
 * A strict parser for the part of CDDL (RFC 8610 appendix B) that tests need: rules with `=`, type and group choices,
 * maps, arrays, occurrence, member keys, ranges, control operators, `&( group )`, tags, comments. It excludes sockets,
 * generics, unwrapping and cuts. It is independent of the generator of the text.
 */
export type Value =
  | { readonly is: 'integer'; readonly value: bigint }
  | { readonly is: 'float'; readonly value: number }
  | { readonly is: 'text'; readonly value: string };

export type Type =
  | { readonly is: 'value'; readonly value: Value }
  | { readonly is: 'name'; readonly name: string }
  | { readonly is: 'choice'; readonly of: readonly Type[] }
  | { readonly is: 'range'; readonly from: Value; readonly to: Value; readonly exclusive: boolean }
  | { readonly is: 'control'; readonly target: Type; readonly operator: string; readonly argument: Type }
  | { readonly is: 'map' | 'array' | 'enumeration'; readonly group: Group }
  | { readonly is: 'tag'; readonly number: bigint; readonly content: Type };

/** Group choices, each a sequence of entries. */
export type Group = readonly (readonly Entry[])[];

export interface Entry {
  readonly least: number;
  readonly most: number;
  readonly key: Type | undefined;
  /** A type, or a group in parentheses, which is spliced in. */
  readonly type: Type | undefined;
  readonly group: Group | undefined;
}

interface Token {
  readonly kind: 'id' | 'number' | 'text' | 'control' | 'punctuation' | 'end';
  readonly text: string;
  readonly at: number;
}

const ID = /[A-Za-z@_$](?:[-.]*[A-Za-z0-9@_$])*/y;
const NUMBER = /-?(?:0x[0-9A-Fa-f]+|0b[01]+|(?:0|[1-9][0-9]*)(?:\.(?!\.)[0-9]+)?(?:e[+-]?[0-9]+)?)/y;
const TEXT = /"(?:[\x20-\x21\x23-\x5b\x5d-\x7e\u{80}-\u{10fffd}]|\\["\\/bfnrt]|\\u[0-9A-Fa-f]{4})*"/uy;
const CONTROL = /\.[A-Za-z][A-Za-z0-9-]*/y;
const PUNCTUATION = /=>|\.\.\.|\.\.|\/\/|[=/{}[\]()&#,:*+?]/y;
const SPACE = /(?:[ \r\n]|;[\x20-\x7e\u{80}-\u{10fffd}]*\r?\n)*/uy;

function tokens(text: string): Token[] {
  const result: Token[] = [];
  let at = 0;
  const match = (pattern: RegExp): string | undefined => {
    pattern.lastIndex = at;
    return pattern.exec(text)?.[0];
  };
  for (;;) {
    at += match(SPACE)!.length;
    if (at === text.length) break;
    const found =
      take('text', TEXT) ??
      take('number', NUMBER) ??
      take('id', ID) ??
      take('punctuation', PUNCTUATION) ??
      take('control', CONTROL);
    if (found === undefined) throw fault(text, at, `unexpected ${JSON.stringify(text[at])}`);
    result.push(found);
    at += found.text.length;
  }
  result.push({ kind: 'end', text: 'the end', at });
  return result;

  function take(kind: Token['kind'], pattern: RegExp): Token | undefined {
    const part = match(pattern);
    return part === undefined ? undefined : { kind, text: part, at };
  }
}

function fault(text: string, at: number, message: string): Error {
  const before = text.slice(0, at).split('\n');
  return new Error(`CDDL ${before.length}:${before.at(-1)!.length + 1}: ${message}`);
}

/** Returns the rules by name, in order. Throws an Error with line and column for unsupported text. */
export function parseCddl(text: string): Map<string, Type> {
  const all = tokens(text);
  let next = 0;
  const peek = (ahead = 0): Token => all[Math.min(next + ahead, all.length - 1)]!;
  const isNext = (part: string, ahead = 0): boolean => peek(ahead).kind === 'punctuation' && peek(ahead).text === part;
  const fail = (wanted: string): Error => fault(text, peek().at, `expected ${wanted}, found ${peek().text}`);
  const accept = (part: string): boolean => {
    if (!isNext(part)) return false;
    next++;
    return true;
  };
  const expect = (part: string): void => {
    if (!accept(part)) throw fail(`"${part}"`);
  };

  function type(): Type {
    const of = [type1()];
    while (accept('/')) of.push(type1());
    return of.length === 1 ? of[0]! : { is: 'choice', of };
  }

  function type1(): Type {
    const target = type2();
    if (isNext('..') || isNext('...')) {
      const exclusive = all[next++]!.text === '...';
      const to = type2();
      if (target.is !== 'value' || to.is !== 'value' || target.value.is !== to.value.is || target.value.is === 'text') {
        throw fail('two numbers of one kind around a range');
      }
      return { is: 'range', from: target.value, to: to.value, exclusive };
    }
    if (peek().kind !== 'control') return target;
    const operator = all[next++]!.text.slice(1);
    if (!['size', 'cbor', 'ge', 'gt', 'le', 'lt'].includes(operator)) throw fail('a control operator that is known');
    return { is: 'control', target, operator, argument: type2() };
  }

  function type2(): Type {
    const token = peek();
    if (token.kind === 'number' || token.kind === 'text') return { is: 'value', value: value() };
    if (token.kind === 'id') {
      next++;
      return { is: 'name', name: token.text };
    }
    if (accept('(')) return closed(type(), ')');
    if (accept('{')) return closed({ is: 'map', group: group() }, '}');
    if (accept('[')) return closed({ is: 'array', group: group() }, ']');
    if (accept('&')) {
      expect('(');
      return closed({ is: 'enumeration', group: group() }, ')');
    }
    if (accept('#')) return tag();
    throw fail('a type');
  }

  function tag(): Type {
    // "6.18" is one number token.
    const [major, number] = peek().text.split('.');
    if (peek().kind !== 'number' || major !== '6' || number === undefined) throw fail('a tag as #6.n(type)');
    next++;
    expect('(');
    return closed({ is: 'tag', number: BigInt(number), content: type() }, ')');
  }

  function closed(inner: Type, end: string): Type {
    expect(end);
    return inner;
  }

  function value(): Value {
    const token = all[next++]!;
    if (token.kind === 'text') return { is: 'text', value: JSON.parse(token.text) as string };
    if (/^-?0[xb]/.test(token.text) || /^-?[0-9]+$/.test(token.text)) {
      const size = BigInt(token.text.replace('-', ''));
      return { is: 'integer', value: token.text.startsWith('-') ? -size : size };
    }
    return { is: 'float', value: Number(token.text) };
  }

  function group(): Group {
    const choices: Entry[][] = [[]];
    while (!isNext(')') && !isNext('}') && !isNext(']')) {
      if (accept('//')) choices.push([]);
      else {
        choices.at(-1)!.push(entry());
        accept(',');
      }
    }
    return choices;
  }

  function entry(): Entry {
    const [least, most] = occurrence();
    if (isNext('(')) {
      // Either a group to splice in, or a type in parentheses. A group of one type without a key is the latter.
      const start = next++;
      const inner = group();
      expect(')');
      const keyed = inner.some((choice) => choice.length !== 1 || choice[0]!.key !== undefined);
      if (keyed) return { least, most, key: undefined, type: undefined, group: inner };
      next = start;
    }
    const key = memberKey();
    return { least, most, key, type: type(), group: undefined };
  }

  function memberKey(): Type | undefined {
    const token = peek();
    if (isNext(':', 1)) {
      next += 2;
      if (token.kind === 'id') return { is: 'value', value: { is: 'text', value: token.text } };
      next -= 2;
      const key: Type = { is: 'value', value: value() };
      next++;
      return key;
    }
    const start = next;
    const key = type1();
    if (accept('=>')) return key;
    next = start;
    return undefined;
  }

  function occurrence(): [number, number] {
    if (accept('?')) return [0, 1];
    if (accept('+')) return [1, Infinity];
    const counted = peek().kind === 'number' && isNext('*', 1);
    if (!counted && !isNext('*')) return [1, 1];
    const least = counted ? Number(all[next++]!.text) : 0;
    const star = peek();
    expect('*');
    // In `n*m` the number touches the star. A number after a space is the entry itself.
    const touching = peek().kind === 'number' && peek().at === star.at + 1;
    return [least, touching ? Number(all[next++]!.text) : Infinity];
  }

  const rules = new Map<string, Type>();
  while (peek().kind !== 'end') {
    const name = peek();
    if (name.kind !== 'id') throw fail('a rule name');
    if (rules.has(name.text)) throw fault(text, name.at, `rule ${name.text} twice`);
    next++;
    expect('=');
    rules.set(name.text, type());
  }
  return rules;
}
