/** Lists of fields in `docs/inspect.md`, generated from the schemas of the lines that `vigie inspect` prints. */
import type { TSchema } from 'typebox';
import * as lines from '../commands/inspect/schema.ts';
import { withSection } from './generated-section.ts';

/** The parts of a schema that the lists show. */
interface Described {
  readonly type?: string;
  readonly const?: unknown;
  readonly description?: string;
  readonly minimum?: number;
  readonly maximum?: number;
  readonly properties?: Readonly<Record<string, Described>>;
  readonly required?: readonly string[];
  readonly items?: Described;
  readonly enum?: readonly unknown[];
  readonly anyOf?: readonly Described[];
}

/** Returns docs/inspect.md with up-to-date lists. */
export function inspectPage(): string {
  const shown = new Set<string>();
  const lists = Object.values(lines as unknown as Record<string, TSchema>).map((schema) =>
    listOf(schema as Described, shown),
  );
  return withSection('docs/inspect.md', 'lines', lists.join('\n'));
}

/** @param shown rows of earlier lists: later lists only name the fields in these rows */
function listOf({ description, properties = {}, required = [] }: Described, shown: Set<string>): string {
  const kind = String(properties['kind']?.const);
  const rows = rowsOf(properties, required, '').filter((row) => !row.startsWith('- `kind`'));
  const names = rows.filter((row) => shown.has(row)).map((row) => /`.*?`/.exec(row)?.[0]);
  const fresh = rows.filter((row) => !shown.has(row));
  for (const row of fresh) shown.add(row);
  const above = names.length === 0 ? '' : ` Fields as above: ${names.join(', ')}.`;
  return `**\`${kind}\`**: ${description}.${above}\n${fresh.length === 0 ? '' : '\n'}${fresh.join('')}`;
}

function rowsOf(
  properties: Readonly<Record<string, Described>>,
  required: readonly string[],
  prefix: string,
): string[] {
  /** Names of objects by their fields, because some objects have the same fields. */
  const named = new Map<string, string>();
  return Object.entries(properties).flatMap(([name, field]) => {
    const { description = '' } = field;
    const absent = required.includes(name) ? '' : '?';
    const inner = field.items ?? field;
    const below = rowsOf(inner.properties ?? {}, inner.required ?? [], `${prefix}${name}${field.items ? '[]' : ''}.`);
    const fields = JSON.stringify(inner.properties ?? name);
    const same = named.get(fields);
    named.set(fields, name);
    const type = typeOf(field);
    const line = `- \`${prefix}${name}${absent}\`${type === 'count' ? '' : ` (${type})`}: ${description}`;
    return same === undefined ? [`${line}\n`, ...below] : [`${line}; fields as in \`${same}\`\n`];
  });
}

function typeOf({ type, minimum, maximum, items, anyOf, enum: names, const: value }: Described): string {
  if (names !== undefined) return 'name';
  if (anyOf !== undefined) return [...new Set(anyOf.map(typeOf))].join(' or ');
  if (value !== undefined) return `\`${String(value)}\``;
  if (type === 'array') return `list of ${typeOf(items ?? {})}`;
  if (minimum === undefined) return type ?? '';
  if (type === 'integer' && minimum === 0 && maximum === undefined) return 'count';
  return maximum === undefined ? `${type} from ${minimum}` : `${type} ${minimum} to ${maximum}`;
}
