/** The tables of `docs/inspect.md`, made from the schemas of the lines that `vigie inspect` prints. */
import type { TSchema } from 'typebox';
import * as lines from '../commands/inspect/schema.ts';
import { withSection } from './generated-section.ts';

/** The parts of a schema that the tables tell. */
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

/** docs/inspect.md with the tables as they are now. */
export function inspectPage(): string {
  const tables = Object.values(lines as unknown as Record<string, TSchema>).map((schema) =>
    tableOf(schema as Described),
  );
  return withSection('docs/inspect.md', 'lines', tables.join('\n'));
}

function tableOf({ description, properties = {}, required = [] }: Described): string {
  const kind = String(properties['kind']?.const);
  const rows = rowsOf(properties, required, '').filter((row) => !row.startsWith('| `kind`'));
  return `**\`${kind}\`**: ${description}.\n\n| field | type | |\n|---|---|---|\n${rows.join('')}`;
}

function rowsOf(
  properties: Readonly<Record<string, Described>>,
  required: readonly string[],
  prefix: string,
): string[] {
  return Object.entries(properties).flatMap(([name, field]) => {
    const { description = '' } = field;
    const absent = required.includes(name) ? '' : ' (may be absent)';
    const inner = field.items ?? field;
    const below = rowsOf(inner.properties ?? {}, inner.required ?? [], `${prefix}${name}${field.items ? '[]' : ''}.`);
    return [`| \`${prefix}${name}\` | ${typeOf(field)} | ${description}${absent} |\n`, ...below];
  });
}

function typeOf({ type, minimum, maximum, items, anyOf, enum: names, const: value }: Described): string {
  if (names !== undefined) return 'name';
  if (anyOf !== undefined) return [...new Set(anyOf.map(typeOf))].join(' or ');
  if (value !== undefined) return `\`${String(value)}\``;
  if (type === 'array') return `list of ${typeOf(items ?? {})}`;
  if (minimum === undefined) return type ?? '';
  return maximum === undefined ? `${type} from ${minimum}` : `${type} ${minimum} to ${maximum}`;
}
