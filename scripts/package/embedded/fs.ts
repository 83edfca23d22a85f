/**
 * `node:fs` for the program's own modules in the executable. The embedded files (profiles, the page of the interface)
 * appear next to the executable, although the file system does not contain them. All other paths use the file system.
 */
import * as fs from 'node:fs';
import { dirname, relative } from 'node:path';
import { files } from 'vigie:files';
import { unpack } from './unpack.ts';

export * from 'node:fs';

const home = dirname(process.execPath);

const folders = new Map<string, Set<string>>();
for (const path of Object.keys(files)) {
  const names = path.split('/');
  for (let depth = 1; depth < names.length; depth++) {
    const folder = names.slice(0, depth).join('/');
    folders.set(folder, (folders.get(folder) ?? new Set()).add(names[depth] as string));
  }
}

function placeOf(path: unknown): string {
  return typeof path === 'string' ? relative(home, path) : '';
}

export const existsSync: typeof fs.existsSync = (path) => {
  const place = placeOf(path);
  return Object.hasOwn(files, place) || folders.has(place) || fs.existsSync(path);
};

export const accessSync: typeof fs.accessSync = (path, mode) => {
  if (files[placeOf(path)] === undefined || mode !== fs.constants.R_OK) fs.accessSync(path, mode);
};

/** Stats of an embedded file or folder: its kind and length, readable by everyone. */
class CarriedStats {
  readonly mode = 0o444;
  readonly size: number;
  readonly #folder: boolean;

  constructor(size: number, folder: boolean) {
    this.size = size;
    this.#folder = folder;
  }

  isDirectory(): boolean {
    return this.#folder;
  }

  isFile(): boolean {
    return !this.#folder;
  }
}

export const statSync = ((path: fs.PathLike, options?: fs.StatSyncOptions) => {
  const place = placeOf(path);
  const packed = files[place];
  if (packed !== undefined) return new CarriedStats(unpack(packed).length, false);
  return folders.has(place) ? new CarriedStats(0, true) : fs.statSync(path, options);
}) as typeof fs.statSync;

export const readdirSync = ((path: fs.PathLike, options?: fs.ObjectEncodingOptions) => {
  const names = folders.get(placeOf(path));
  return names === undefined ? fs.readdirSync(path, options) : [...names];
}) as typeof fs.readdirSync;

export const readFileSync = ((
  path: fs.PathOrFileDescriptor,
  options?: BufferEncoding | { encoding?: BufferEncoding },
) => {
  const packed = files[placeOf(path)];
  if (packed === undefined) return fs.readFileSync(path, options as BufferEncoding);
  const encoding = typeof options === 'string' ? options : options?.encoding;
  const bytes = unpack(packed);
  return encoding === undefined ? bytes : bytes.toString(encoding);
}) as typeof fs.readFileSync;
