/** A real PostgreSQL on a free loopback port, with its data in a separate folder. */
import { execFileSync, spawnSync } from 'node:child_process';
import { chmodSync, chownSync, existsSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir, userInfo } from 'node:os';
import { join } from 'node:path';
import pg from 'pg';
import { Daemon, withFreePorts } from './daemon.ts';
import { findPeer } from './peers.ts';
import type { SmallDisk } from './small-disk.ts';

const INITDB = ['--no-sync', '--auth=trust', '--username=vigie', '--encoding=UTF8', '--locale=C'];

/** The server refuses to run as root. */
const isRoot = userInfo().uid === 0;

export interface PostgresOptions {
  readonly disk?: SmallDisk;
  readonly folder?: string;
  readonly settings?: Readonly<Record<string, string>>;
}

export class PostgresRig {
  readonly #disk: SmallDisk | undefined;
  readonly #settings: Readonly<Record<string, string>>;
  readonly #folder: string;
  #port = 0;
  #daemon: Daemon | undefined;
  #databases = 0;

  readonly #isKept: boolean;

  /** @param options.disk disk for its data, or `folder`, which are kept, instead of a temporary folder */
  constructor({ disk, folder, settings = {} }: PostgresOptions = {}) {
    this.#disk = disk;
    this.#settings = settings;
    this.#isKept = (disk ?? folder) !== undefined;
    this.#folder = disk?.seen ?? folder ?? mkdtempSync(join(tmpdir(), 'vigie-postgres-'));
  }

  /** Directory with the files of all its databases. */
  get files(): string {
    return join(this.#folder, 'data', 'base');
  }

  /** Creates its data at the first start. */
  async start(): Promise<this> {
    const data = join(this.#folder, 'data');
    if (!existsSync(data)) {
      mkdirSync(data);
      if (isRoot) {
        const id = (kind: string): number => Number(execFileSync('id', [kind, 'postgres'], { encoding: 'utf8' }));
        chmodSync(this.#folder, 0o755);
        chownSync(data, id('-u'), id('-g'));
      }
      const [program, ...words] = this.#command('initdb', ...INITDB, this.#data);
      const made = spawnSync(program, words, { encoding: 'utf8' });
      if (made.status !== 0) throw new Error(`initdb failed:\n${made.stdout}${made.stderr}`);
    }
    if (this.#port !== 0) await this.#run(this.#port);
    else await withFreePorts(1, ([port = 0]) => this.#run(port));
    return this;
  }

  /** Process id, or 0 if it is stopped. */
  get pid(): number {
    return this.#daemon?.pid ?? 0;
  }

  /** Resolves when it answers again. Restarts it if it gave up because it could not write its log. */
  async revive(url: string): Promise<void> {
    for (;;) {
      if (this.#daemon?.ended === true) await this.start();
      try {
        await this.execute(url, 'SELECT 1');
        return;
      } catch {
        // It is recovering.
      }
    }
  }

  /** Creates a database and returns its URL. `options` are those of CREATE DATABASE. */
  async create(options = ''): Promise<string> {
    const name = `hub${++this.#databases}`;
    await this.execute(this.#urlOf('postgres'), `CREATE DATABASE ${name} ${options}`);
    return this.#urlOf(name);
  }

  /** Returns the URL of a database, which it creates if it is missing. */
  async database(name: string): Promise<string> {
    const known = await this.execute(this.#urlOf('postgres'), `SELECT 1 FROM pg_database WHERE datname = '${name}'`);
    if (known.length === 0) await this.execute(this.#urlOf('postgres'), `CREATE DATABASE ${name}`);
    return this.#urlOf(name);
  }

  /** Executes statements on a separate connection. Returns the rows of the last one. */
  async execute(url: string, ...statements: string[]): Promise<readonly Record<string, unknown>[]> {
    const client = new pg.Client({ connectionString: url });
    await client.connect();
    try {
      let rows: Record<string, unknown>[] = [];
      for (const sql of statements) rows = (await client.query<Record<string, unknown>>(sql)).rows;
      return rows;
    } finally {
      await client.end();
    }
  }

  /** Immediate shutdown: nothing is closed in order, and the next start recovers from the WAL. */
  async kill(): Promise<void> {
    await this.#daemon?.end('SIGQUIT');
    this.#daemon = undefined;
  }

  /** Fast shutdown: everything is on disk. */
  async stop(): Promise<void> {
    await this.#daemon?.end('SIGINT');
    this.#daemon = undefined;
  }

  async remove(): Promise<void> {
    await this.kill();
    if (!this.#isKept) rmSync(this.#folder, { recursive: true, force: true });
  }

  /** Path of its data as the server sees it. */
  get #data(): string {
    return join(this.#disk?.folder ?? this.#folder, 'data');
  }

  #urlOf(database: string): string {
    return `postgres://vigie@127.0.0.1:${this.#port}/${database}`;
  }

  async #run(port: number): Promise<void> {
    const settings = {
      listen_addresses: '127.0.0.1',
      port: String(port),
      unix_socket_directories: '',
      // The machine keeps running, so a written commit survives the server without a sync.
      fsync: 'off',
      ...this.#settings,
    };
    const [program, ...words] = this.#command(
      'postgres',
      '-D',
      this.#data,
      ...Object.entries(settings).flatMap(([name, value]) => ['-c', `${name}=${value}`]),
    );
    this.#daemon = await Daemon.start({
      program,
      arguments: words,
      environment: { LC_ALL: 'C' },
      ready: /database system is ready to accept connections/,
    });
    this.#port = port;
  }

  #command(program: string, ...words: string[]): [program: string, ...words: string[]] {
    const full = findPeer(program) ?? '';
    // The wrapper replaces itself by the program, so that signals reach the server.
    const as = ['--reuid=postgres', '--regid=postgres', '--init-groups'];
    const server = isRoot ? ['/usr/bin/setpriv', ...as, full, ...words] : [full, ...words];
    const [first = '', ...rest] = [...(this.#disk?.inside ?? []), ...server];
    return [first.includes('/') ? first : (findPeer(first) ?? first), ...rest];
  }
}
