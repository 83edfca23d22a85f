/** A disk that loses, like a disk in a power cut, all that no program has synced: an ext4 file system in a file. */
import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as after } from 'node:timers/promises';

const MEBIBYTES = 512;
const UNMOUNT_TRIES = 50;
const UNMOUNT_PAUSE_MS = 100;
/** EXT4_IOC_SHUTDOWN of Linux with EXT4_GOING_FLAGS_NOLOGFLUSH: from now on nothing reaches the disk, not even the journal. */
const SHUT_DOWN = `
import fcntl, os, struct, sys
folder = os.open(sys.argv[1], os.O_RDONLY)
fcntl.ioctl(folder, 0x8004587D, struct.pack('I', 2))
`;

export class CuttableDisk {
  /** Where the file system is mounted. */
  readonly folder: string;
  readonly #image: string;

  /** Makes an empty file system in `parent` and mounts it. Needs root. */
  constructor(parent: string) {
    this.#image = join(parent, 'disk.img');
    this.folder = join(parent, 'disk');
    mkdirSync(this.folder, { recursive: true });
    execFileSync('truncate', ['-s', `${MEBIBYTES}M`, this.#image]);
    execFileSync('mkfs.ext4', ['-q', '-F', this.#image]);
    this.#mount();
  }

  /** Writes everything to the disk. */
  sync(): void {
    execFileSync('sync', ['-f', this.folder]);
  }

  /** Stops all writing at this moment. Programs that use the disk get errors from now on. */
  cut(): void {
    execFileSync('python3', ['-c', SHUT_DOWN, this.folder]);
  }

  /** Mounts it again after a cut, as soon as no program uses it: it has what reached the disk. */
  async power(): Promise<void> {
    await this.remove();
    this.#mount();
  }

  /** @throws Error if a cut keeps unsynced data, or loses synced data */
  async prove(): Promise<void> {
    const [synced, unsynced] = [join(this.folder, 'synced'), join(this.folder, 'unsynced')];
    writeFileSync(synced, 'synced', { flush: true });
    writeFileSync(unsynced, 'unsynced');
    this.cut();
    await this.power();
    if (!existsSync(synced)) throw new Error('the disk lost synced data in a cut, so it proves nothing');
    if (existsSync(unsynced)) throw new Error('the disk kept unsynced data in a cut, so it proves nothing');
  }

  /** Unmounts it as soon as no program uses it: the helpers of a killed program end a moment after it. */
  async remove(): Promise<void> {
    for (let tries = 0; ; tries++) {
      try {
        execFileSync('umount', [this.folder], { stdio: 'pipe' });
        return;
      } catch (error) {
        if (tries === UNMOUNT_TRIES) throw error;
        await after(UNMOUNT_PAUSE_MS);
      }
    }
  }

  #mount(): void {
    execFileSync('mount', ['-o', 'loop', this.#image, this.folder]);
  }
}
