/** Recordings of receivers with gpsd's reports (`.chk`): those of this folder and the optional shared ones. */
import { readdirSync } from 'node:fs';
import { basename, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { sharedData } from '../../shared.ts';

export interface Recording {
  readonly name: string;
  readonly path: string;
}

const recordingsIn = (folder: string): Recording[] =>
  readdirSync(folder)
    .filter((name) => /\.log(\.chk)?$/.test(name))
    .map((name) => ({ name: basename(name), path: join(folder, name) }));

export const own = (): readonly Recording[] => recordingsIn(fileURLToPath(new URL('recorded/', import.meta.url)));
/** Empty unless {@link sharedData} exists. */
export const shared = (): readonly Recording[] => recordingsIn(join(sharedData, 'gnss'));

/** Recordings made directly from a receiver. */
export const receivers = (recordings: readonly Recording[]): readonly Recording[] =>
  recordings.filter(({ name }) => name.endsWith('.log'));
