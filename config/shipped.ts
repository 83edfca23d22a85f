/** Shipped profiles. `profileFile` finds them. */
import { existsSync, readdirSync, statSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

/** File name of the profile in its folder, next to its DBC files. */
const PROFILE = 'profile.yaml';

/**
 * Folder with one folder for each shipped profile. In the project it is next to this file. If all code is in one file
 * (an executable, whose modules have no address), it is next to the executable.
 */
export const shippedProfiles: string = besideThisFile('vehicles');

function besideThisFile(name: string): string {
  const address: string | undefined = import.meta.url;
  return address === undefined ? join(dirname(process.execPath), name) : fileURLToPath(new URL(name, address));
}

/** Returns the sorted names of the profiles in a folder like {@link shippedProfiles}; none if it does not exist. */
export function shippedNames(shipped: string): string[] {
  if (!existsSync(shipped)) return [];
  return readdirSync(shipped)
    .filter((name) => existsSync(join(shipped, name, PROFILE)))
    .sort();
}

/** Returns true for a path, and false for the name of a shipped profile. */
export function isProfilePath(nameOrPath: string): boolean {
  return /[/\\]/.test(nameOrPath) || /\.ya?ml$/i.test(nameOrPath) || /^\.+$/.test(nameOrPath);
}

/**
 * Returns the file of a profile: of a shipped one by its name, the `profile.yaml` in a folder, or a YAML file. @returns
 * undefined for a name that no shipped profile has
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
    // The code that reads the file reports why it is unreadable.
    return false;
  }
}
