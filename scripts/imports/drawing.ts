/** Diagram of the rooms for docs/architecture.md and README.md, made from the table that the check uses. */
import { readdirSync } from 'node:fs';
import { withSection } from '../generated-section.ts';
import { rooms } from './rules.ts';

const folders = Object.entries(rooms).filter(([name]) => !/\.(json|ts)$/.test(name) || name === 'main.ts');
/** Rooms that each room of the program imports. Tools may import everything and are not drawn. */
const importsOfRoom = new Map(
  folders.flatMap(([name, { imports }]) =>
    imports === 'any' ? [] : [[name, imports.filter((room) => room !== 'package.json')] as const],
  ),
);

/** Returns true if other arrows also lead from one room to the other: the direct arrow is then omitted. */
function implied(from: string, to: string): boolean {
  return (importsOfRoom.get(from) ?? []).some((between) => between !== to && importsOf(between).includes(to));
}

/** Returns the imports of a room. `adapters/http` and its neighbours are a single box. */
function importsOf(name: string): readonly string[] {
  return importsOfRoom.get(boxOf(name)) ?? [];
}

function boxOf(name: string): string {
  return importsOfRoom.has(name) ? name : name.replace(/\/.*/, '/*');
}

export function architecturePage(): string {
  const id = (name: string): string => name.replaceAll(/\W/g, '_');
  const boxes = [...importsOfRoom.keys()].map((name) => `  ${id(name)}["${name}"]`);
  const arrows = [...importsOfRoom].flatMap(([name, imports]) =>
    imports.filter((to) => !implied(name, to)).map((to) => `  ${id(name)} --> ${id(boxOf(to))}`),
  );
  const drawing = ['```mermaid', 'flowchart TD', ...boxes, ...new Set(arrows), '```'];
  return withSection('docs/architecture.md', 'rooms', drawing.join('\n'));
}

export function readmeWithRooms(): string {
  const rows = folders.map(([name, { holds }]) => {
    const within = name.endsWith('/*') ? `: ${foldersIn(name.slice(0, -2)).join(', ')}` : '';
    return `| \`${name}\` | ${holds}${within} |`;
  });
  const head = ['| room | contents |', '| ---- | -------- |'];
  return withSection('README.md', 'rooms', [...head, ...rows].join('\n'));
}

function foldersIn(room: string): readonly string[] {
  return readdirSync(new URL(`../../${room}`, import.meta.url)).map((name) => `\`${name}\``);
}
