/** The rooms and their arrows for docs/architecture.md, from the table that the check uses. */
import { withSection } from '../generated-section.ts';
import { rooms } from './rules.ts';

/** Rooms of the program; tools may import everything and are not drawn. */
const drawn = Object.entries(rooms).flatMap(([name, { holds, imports }]) => {
  const tool = imports === 'any' || name === 'package.json' || name === 'vitest.config.ts';
  return tool ? [] : [{ name, holds, imports: imports.filter((room) => room !== 'package.json') }];
});
const importsOfRoom = new Map(drawn.map(({ name, imports }) => [name, imports]));

/** Whether an import is allowed over rooms between as well: such an arrow is left out. */
function implied(from: string, to: string): boolean {
  return (importsOfRoom.get(from) ?? []).some((between) => between !== to && importsOfRoom.get(between)?.includes(to));
}

export function architecturePage(): string {
  const id = (name: string): string => name.replaceAll(/\W/g, '_');
  const nodes = drawn.map(({ name, holds }) => `  ${id(name)}["${name}<br/>${holds}"]`);
  const arrows = drawn.flatMap(({ name, imports }) =>
    imports.filter((to) => !implied(name, to)).map((to) => `  ${id(name)} --> ${id(to)}`),
  );
  return withSection(
    'docs/architecture.md',
    'rooms',
    ['```mermaid', 'flowchart TD', ...nodes, ...arrows, '```'].join('\n'),
  );
}
