/** Checks imports against the table of rooms, and finds cycles. Files are paths relative to the project's root. */
import { isBuiltin } from 'node:module';
import { posix } from 'node:path';
import { importsOf } from './reader.ts';
import { exceptions, packageRooms, type Room, rooms } from './rules.ts';

/** Imported specifiers by importing file. `undefined` means a computed path. */
export type ImportsByFile = ReadonlyMap<string, readonly (string | undefined)[]>;

/** Globs of all handwritten files. Generated files have no handwritten imports. */
export const SOURCES = [...new Set(Object.keys(rooms).map((room) => room.split('/', 1)[0]))]
  .filter((folder) => !folder?.endsWith('.json'))
  .map((folder) => (folder?.endsWith('.ts') ? folder : `${folder}/**/*.{ts,tsx,js,mjs}`));

/** Returns the table key for a file; undefined if the file is in no room. */
export function roomOf(path: string): string | undefined {
  const [first = '', second] = path.split('/');
  const keys = second === undefined ? [first] : [`${first}/${second}`, `${first}/*`, first];
  return keys.find((key) => rooms[key] !== undefined);
}

/** Returns the reason why the table refuses an import of `path`; undefined if it allows the import. */
export function refusal(path: string, specifier: string | undefined): string | undefined {
  const name = roomOf(path);
  const folder = folderOf(path);
  const room = rooms[name ?? ''];
  if (room === undefined || folder === undefined) return 'the file is in no room of scripts/imports/rules.ts';
  if (room.imports === 'any') return undefined;
  if (specifier === undefined) return 'write the path of an import as a plain text, so that it can be checked';
  if (!specifier.startsWith('.')) return outsideRefusal(folder, room, specifier);
  const target = posix.join(posix.dirname(path), specifier);
  const targetFolder = folderOf(target);
  if (targetFolder === folder) return undefined;
  if ([roomOf(target), targetFolder].some((name) => name !== undefined && room.imports.includes(name)))
    return undefined;
  if (exceptions.some(({ from, to }) => from === path && to === target)) return undefined;
  const allowed = room.imports.length === 0 ? 'no other room' : `only ${room.imports.join(', ')}`;
  return `${name} may import ${allowed}: pass ${target} in as a port, or move the code`;
}

/** Returns the import cycles, each as a list of files. */
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

/** Returns all faults in sources (by path), one line each. */
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

/** Returns the folder within which files may import each other: the room, or a single folder of `adapters/*`. */
function folderOf(path: string): string | undefined {
  const room = roomOf(path);
  return room?.endsWith('/*') ? path.split('/', 2).join('/') : room;
}

/** Returns the reason why the import of a module of Node or of a package is refused. */
function outsideRefusal(folder: string, room: Room, specifier: string): string | undefined {
  if (isBuiltin(specifier)) return room.withoutNode ? `${folder} runs without Node: use a port` : undefined;
  const name = specifier.split('/', specifier.startsWith('@') ? 2 : 1).join('/');
  const home = packageRooms[name];
  if (home !== undefined && home.room !== folder) return `only ${home.room} imports ${name}: ${home.reason}`;
  if (room.packages?.includes(name) === false) return `${folder} does not import the package ${name}`;
  return undefined;
}
