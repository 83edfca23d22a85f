/** The profiles that come with Vigie; see `profileFile`. */
import { existsSync, readdirSync, statSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

/** Name of the profile in its folder, next to its DBC files. */
const PROFILE = 'profile.yaml';

/**
 * Folder with one folder per shipped profile. In the project it lies beside this file; where all code is one file
 * (an executable has no module address), beside the executable.
 */
export const shippedProfiles: string = besideThisFile('vehicles');

function besideThisFile(name: string): string {
  const address: string | undefined = import.meta.url;
  return address === undefined ? join(dirname(process.execPath), name) : fileURLToPath(new URL(name, address));
}

/** Names of the profiles in a folder like {@link shippedProfiles}, sorted; none when it does not exist. */
export function shippedNames(shipped: string): string[] {
  if (!existsSync(shipped)) return [];
  return readdirSync(shipped)
    .filter((name) => existsSync(join(shipped, name, PROFILE)))
    .sort();
}

/** True when the words are a path and not the name of a shipped profile. */
export function isProfilePath(nameOrPath: string): boolean {
  return /[/\\]/.test(nameOrPath) || /\.ya?ml$/i.test(nameOrPath) || /^\.+$/.test(nameOrPath);
}

/**
 * The file of a profile: of a shipped one by its name, else of a folder with `profile.yaml` in it or of a YAML file.
 * @returns undefined when it is a name and there is nothing of that name.
 */
export function profileFile(nameOrPath: string, shipped: string): string | undefined {
  if (!isProfilePath(nameOrPath)) {
    const file = join(shipped, nameOrPath, PROFILE);
    if (nameOrPath !== '' && existsSync(file)) return file;
    if (!existsSync(nameOrPath)) return undefined;
  }
  return isFolder(nameOrPath) ? join(nameOrPath, PROFILE) : nameOrPath;
}

function isFolder(path: string): boolean {
  try {
    return statSync(path).isDirectory();
  } catch {
    // The reader of the file then reports why it cannot be read.
    return false;
  }
}
