/** A disk of a few MiB in memory, in its own mount namespace, which disappears after the test. */
import { spawnSync } from 'node:child_process';
import { closeSync, mkdtempSync, openSync, rmSync, writeSync } from 'node:fs';
import { tmpdir, userInfo } from 'node:os';
import { join } from 'node:path';
import { Daemon } from './daemon.ts';

const isRoot = userInfo().uid === 0;
/** An ordinary user becomes root in a user namespace. */
const alone = isRoot ? ['--mount'] : ['--map-root-user', '--mount'];

/** Whether this machine can create such a disk. */
export const canMount: boolean = spawnSync('unshare', [...alone, 'true']).status === 0;

export class SmallDisk {
  /** Mount point, for programs that are started with {@link inside}. */
  readonly folder: string;
  readonly #keeper: Daemon;

  private constructor(folder: string, keeper: Daemon) {
    this.folder = folder;
    this.#keeper = keeper;
  }

  static async create(mebibytes: number): Promise<SmallDisk> {
    const folder = mkdtempSync(join(tmpdir(), 'vigie-small-disk-'));
    const script = 'mount -t tmpfs -o size="$1"m,mode=777 tmpfs "$2" && echo mounted && exec sleep infinity';
    const words = [...alone, 'sh', '-c', script, 'sh', String(mebibytes), folder];
    return new SmallDisk(folder, await Daemon.start({ program: 'unshare', arguments: words, ready: /mounted/ }));
  }

  /** Command prefix that gives a program access to the disk. */
  get inside(): readonly string[] {
    const user = isRoot ? [] : ['--user', '--preserve-credentials'];
    return ['nsenter', `--target=${this.#keeper.pid}`, ...user, '--mount'];
  }

  /** Path of the disk for this process. SQLite cannot open files there. */
  get seen(): string {
    return `/proc/${this.#keeper.pid}/root${this.folder}`;
  }

  /** Fills the remaining space. */
  fill(): void {
    const file = openSync(join(this.seen, 'ballast'), 'a');
    const page = new Uint8Array(4096);
    try {
      for (;;) writeSync(file, page);
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'ENOSPC') throw error;
    } finally {
      closeSync(file);
    }
  }

  /** Frees the space that {@link fill} used. */
  free(): void {
    rmSync(join(this.seen, 'ballast'));
  }

  async remove(): Promise<void> {
    await this.#keeper.end('SIGKILL');
    rmSync(this.folder, { recursive: true, force: true });
  }
}
