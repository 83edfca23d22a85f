/** List of settings in `docs/hub-reference.md`, generated from the schema of hub.yaml. */
import { hubSchema } from '../config/hub-schema.ts';
import { withSection } from './generated-section.ts';

interface Described {
  readonly description?: string;
  readonly properties?: Readonly<Record<string, Described>>;
  readonly required?: readonly string[];
  readonly enum?: readonly unknown[];
}

/** Returns docs/hub-reference.md with an up-to-date list. */
export function hubPage(): string {
  return withSection('docs/hub-reference.md', 'settings', rowsOf(hubSchema as unknown as Described, '').join(''));
}

function rowsOf({ properties = {}, required = [] }: Described, prefix: string): string[] {
  return Object.entries(properties).flatMap(([name, field]) => {
    const { description = '' } = field;
    const values =
      field.enum === undefined ? '' : `: ${[...new Set(field.enum.map((value) => `\`${value}\``))].join(', ')}`;
    const needed = required.includes(name) ? ' (required)' : '';
    const row = `- \`${prefix}${name}\`: ${description}${values}${needed}\n`;
    return [row, ...rowsOf(field, `${prefix}${name}.`)];
  });
}
