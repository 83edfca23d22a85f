/**
 * Lists the files that use each numeric setting for users. The compiler finds them: each setting is renamed in its
 * declaration, so that the files that use it no longer compile.
 */
import { execFileSync } from 'node:child_process';
import { cpSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('..', import.meta.url));
/** Files that declare settings. */
const DECLARATIONS = ['protocol/settings.ts'];

/**
 * Returns the files that use each setting, first the one that declares it, and without tests. Settings that have the
 * same name are counted as one.
 */
export function settingFiles(): ReadonlyMap<string, readonly string[]> {
  const scratch = mkdtempSync(join(tmpdir(), 'vigie-settings-'));
  try {
    const { include, compilerOptions } = JSON.parse(readFileSync(join(root, 'tsconfig.json'), 'utf8'));
    const sources = (include as string[]).filter((path) => path !== 'test' && !path.includes('*'));
    for (const part of [...sources, 'package.json']) cpSync(join(root, part), join(scratch, part), { recursive: true });
    symlinkSync(join(root, 'node_modules'), join(scratch, 'node_modules'));
    const { tsBuildInfoFile: _, incremental: __, ...options } = compilerOptions;
    writeFileSync(join(scratch, 'tsconfig.json'), JSON.stringify({ compilerOptions: options, include: sources }));
    const groups = DECLARATIONS.flatMap((file) => rename(scratch, file));
    const found = new Map(groups.flatMap(({ file, names }) => names.map((name) => [name, new Set([file])])));
    for (const line of compile(scratch).split('\n')) {
      const [, path, place, message] = /^([\w/.-]+)\((\d+),\d+\): error \w+: (.*)$/.exec(line) ?? [];
      if (path === undefined || message === undefined) continue;
      const quoted = new Set([...message.matchAll(/['"](\w+)['"]/g)].map(([, name]) => name as string));
      const text = readFileSync(join(root, path), 'utf8');
      // If several properties of an object do not match, the compiler reports only the first; the others are near it.
      const around = text.split('\n').slice(Math.max(0, Number(place) - 4), Number(place) + 4);
      for (const { names } of groups.filter((group) => group.names.some((name) => quoted.has(name)))) {
        for (const name of names)
          if (isNamed(name, quoted.has(name) ? text : around.join('\n'))) found.get(name)?.add(path);
      }
    }
    return new Map([...found].map(([name, files]) => [name, [...files]]));
  } finally {
    rmSync(scratch, { recursive: true, force: true });
  }
}

/** Returns true if the text contains the name: types without the property also cause errors elsewhere. */
function isNamed(name: string, text: string): boolean {
  const code = text.replaceAll(/\/\*[\s\S]*?\*\/|\/\/.*$/gm, '');
  return new RegExp(`[.{,'"]\\s*${name}\\b|\\b${name}\\s*[:,}?]`).test(code);
}

interface Group {
  readonly file: string;
  readonly names: readonly string[];
}

/** Renames each setting in the file. Returns the settings, grouped by declaration. */
function rename(scratch: string, file: string): Group[] {
  const groups: Group[] = [];
  const declaration = /^( +)(\w+): (time|size|number)\(/gm;
  const renamed = readFileSync(join(root, file), 'utf8').replaceAll(/^export const \w+ = \{$[\s\S]*?^\}/gm, (group) => {
    groups.push({ file, names: [...group.matchAll(declaration)].map(([, , name]) => name as string) });
    return group.replaceAll(declaration, '$1$2Renamed: $3(');
  });
  writeFileSync(join(scratch, file), renamed);
  return groups;
}

/** Returns the compiler's output. The compiler is expected to fail. */
function compile(folder: string): string {
  const compiler = join(root, 'node_modules/typescript/lib/tsc.js');
  try {
    return execFileSync(process.execPath, [compiler, '--noEmit', '--pretty', 'false'], {
      cwd: folder,
      encoding: 'utf8',
      maxBuffer: 64 * 1024 * 1024,
    });
  } catch (error) {
    return (error as { stdout: string }).stdout;
  }
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const files = [...settingFiles()].sort(([, one], [, other]) => other.length - one.length);
  for (const [name, paths] of files) process.stdout.write(`${paths.length} ${name}: ${paths.join(' ')}\n`);
}
