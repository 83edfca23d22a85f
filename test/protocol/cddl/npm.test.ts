/** Compares npm's `cddl` with the strict parser of the tests on the published grammar. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parse as parseByNpm } from 'cddl';
import { expect, test } from 'vitest';
import { vigieCddl } from '../../../protocol/vigie-cddl.ts';
import { type Entry, parseCddl, type Type } from './parser.ts';

/** A node in the syntax tree of npm's `cddl`, whose own types have no common form. */
interface Node {
  readonly Type: unknown;
  readonly Name?: string;
  readonly Value?: unknown;
  readonly Operator?: { readonly Type: string; readonly Value: Node };
  readonly Occurrence?: { readonly n: number; readonly m: number | null };
  readonly PropertyType?: readonly (Node | string)[];
  readonly Properties?: readonly Node[];
  readonly Values?: readonly Node[];
}

test("npm's cddl parses every rule of the grammar like the parser of the tests", () => {
  const ours = Object.fromEntries([...parseCddl(vigieCddl())].map(([name, type]) => [name, written(type)]));
  const theirs = Object.fromEntries(byNpm(vigieCddl()).map((rule) => [rule.Name, ruleByNpm(rule)]));
  expect(Object.keys(ours).length).toBeGreaterThan(200);
  expect(theirs).toEqual(ours);
});

function byNpm(text: string): readonly Node[] {
  const folder = mkdtempSync(join(tmpdir(), 'vigie-cddl-'));
  try {
    writeFileSync(join(folder, 'vigie.cddl'), text);
    return parseByNpm(join(folder, 'vigie.cddl')) as readonly Node[];
  } finally {
    rmSync(folder, { recursive: true });
  }
}

/** A common notation for both trees. */
function written(type: Type): string {
  switch (type.is) {
    case 'value':
      return String(type.value.value);
    case 'name':
      return type.name;
    case 'choice':
      return type.of.map(written).join(' / ');
    case 'range':
      return `${type.from.value}..${type.to.value}`;
    case 'control':
      return `${written(type.target)} .${type.operator} ${written(type.argument)}`;
    case 'map':
      return `{ ${type.group.flat().map(member).join(', ')} }`;
    case 'array':
      return `[ ${type.group.flat().map(member).join(', ')} ]`;
    default:
      throw new Error(`the grammar has ${type.is}`);
  }
}

function member({ least, most, key, type }: Entry): string {
  const name = key === undefined ? '' : `${written(key)} => `;
  return `${least}*${most} ${name}${written(type as Type)}`;
}

function ruleByNpm(rule: Node): string {
  if (rule.Type === 'group' || rule.Type === 'array') return typeByNpm(rule);
  return (rule.PropertyType ?? []).map(typeByNpm).join(' / ');
}

function typeByNpm(node: Node | string): string {
  if (typeof node === 'string') return node;
  if (node.Operator !== undefined) {
    const { Operator: operator, ...target } = node;
    return `${typeByNpm(target)} .${operator.Type} ${typeByNpm(operator.Value)}`;
  }
  if (node.Type === 'literal') return String(node.Value);
  if (node.Type === 'range') {
    const { Min, Max } = node.Value as { readonly Min: Node; readonly Max: Node };
    return `${typeByNpm(Min)}..${typeByNpm(Max)}`;
  }
  if (node.Type === 'array') return `[ ${(node.Values ?? []).map(memberByNpm).join(', ')} ]`;
  if (node.Type === 'group' && node.Properties !== undefined)
    return `{ ${node.Properties.map(memberByNpm).join(', ')} }`;
  if (node.Type === 'group') return String(node.Value);
  return typeByNpm(node.Type as Node | string);
}

function memberByNpm({ Name, Occurrence, Type: type, Operator }: Node): string {
  const name = Name === '' ? '' : `${Name} => `;
  const [first] = Array.isArray(type) ? (type as readonly Node[]) : [type as Node | string];
  const spelt = typeByNpm(Operator === undefined ? (first as Node) : { Type: first, Operator });
  return `${Occurrence?.n}*${Occurrence?.m} ${name}${spelt}`;
}
