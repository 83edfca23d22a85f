/** Compares imports with the table of rooms, and finds cycles. Files are paths from the project's root. */
import { isBuiltin } from 'node:module';
import { posix } from 'node:path';
import { importsOf } from './reader.ts';
import { exceptions, packageRooms, type Room, rooms } from './rules.ts';

/** Specifiers by the file that imports them; `undefined` is a computed path. */
export type ImportsByFile = ReadonlyMap<string, readonly (string | undefined)[]>;

/** All files that a maintainer writes; generated ones import nothing by hand. */
export const SOURCES = Object.keys(rooms)
  .map((room) => room.replace('/*', ''))
  .filter((room) => !room.endsWith('.json'))
  .map((room) => (room.endsWith('.ts') ? room : `${room}/**/*.{ts,tsx,js,mjs}`));

/** Key of the table for a file; undefined outside all rooms. */
export function roomOf(path: string): string | undefined {
  const [first = '', second] = path.split('/');
  if (rooms[`${first}/*`] !== undefined && second !== undefined) return `${first}/*`;
  return rooms[first] === undefined ? undefined : first;
}

/** Why the table refuses an import of `path`; undefined if it allows the import. */
export function refusal(path: string, specifier: string | undefined): string | undefined {
  const name = roomOf(path);
  const room = name === undefined ? undefined : rooms[name];
  if (room === undefined) return 'the file is in no room of scripts/imports/rules.ts';
  if (room.imports === 'any') return undefined;
  if (specifier === undefined) return 'write the path of an import as a plain text, so that it can be checked';
  if (!specifier.startsWith('.')) return outsideRefusal(folderOf(path), room, specifier);
  const target = posix.join(posix.dirname(path), specifier);
  if (folderOf(target) === folderOf(path)) return undefined;
  if (room.imports.includes(roomOf(target) ?? '')) return undefined;
  if (exceptions.some(({ from, to }) => from === path && to === target)) return undefined;
  const allowed = room.imports.length === 0 ? 'no other room' : `only ${room.imports.join(', ')}`;
  return `${name} may import ${allowed}: pass ${target} in as a port, or move the code`;
}

/** Cycles among files, each as the files on it. */
export function cycles(imports: ImportsByFile): readonly (readonly string[])[] {
  const found: string[][] = [];
  const done = new Set<string>();
  const open: string[] = [];
  const visit = (path: string): void => {
    if (done.has(path)) return;
    const start = open.indexOf(path);
    if (start >= 0) {
      found.push(open.slice(start));
      return;
    }
    open.push(path);
    for (const specifier of imports.get(path) ?? []) {
      const target = specifier?.startsWith('.') ? posix.join(posix.dirname(path), specifier) : '';
      if (imports.has(target)) visit(target);
    }
    open.pop();
    done.add(path);
  };
  for (const path of imports.keys()) visit(path);
  return found;
}

/** All faults of sources by their paths, one line each. */
export function importFaults(files: ReadonlyMap<string, string>): readonly string[] {
  const imports = new Map([...files].map(([path, text]) => [path, importsOf(path, text)]));
  const refused = [...imports].flatMap(([path, specifiers]) =>
    specifiers.flatMap((specifier) => {
      const reason = refusal(path, specifier);
      return reason === undefined ? [] : [`${path} imports ${specifier ?? 'a computed path'}: ${reason}`];
    }),
  );
  const circles = cycles(imports).map((cycle) => `imports in a circle: ${[...cycle, cycle[0]].join(' -> ')}`);
  return [...refused, ...circles];
}

/** Folder within which files may import each other: the room, and one folder of `adapters/*`. */
function folderOf(path: string): string {
  const [first = '', second] = path.split('/');
  return rooms[`${first}/*`] === undefined ? first : `${first}/${second}`;
}

/** Why a module of Node or of a package is refused. */
function outsideRefusal(folder: string, room: Room, specifier: string): string | undefined {
  if (isBuiltin(specifier)) return room.withoutNode ? `${folder} runs without Node: use a port` : undefined;
  const name = specifier.split('/', specifier.startsWith('@') ? 2 : 1).join('/');
  const home = packageRooms[name];
  if (home !== undefined && home.room !== folder) return `only ${home.room} imports ${name}: ${home.reason}`;
  if (room.packages?.includes(name) === false) return `${folder} does not import the package ${name}`;
  return undefined;
}
