/** A real PostgreSQL on a free loopback port, with its data in a folder of its own. */
import { execFileSync, spawnSync } from 'node:child_process';
import { chmodSync, chownSync, existsSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir, userInfo } from 'node:os';
import { join } from 'node:path';
import pg from 'pg';
import { Daemon, withFreePorts } from './daemon.ts';
import { findPeer } from './peers.ts';

const INITDB = ['--no-sync', '--auth=trust', '--username=vigie', '--encoding=UTF8', '--locale=C'];

/** The server refuses to run as root. */
const isRoot = userInfo().uid === 0;

export class PostgresRig {
  readonly #folder = mkdtempSync(join(tmpdir(), 'vigie-postgres-'));
  #port = 0;
  #daemon: Daemon | undefined;
  #databases = 0;

  /** Directory of the files of all its databases. */
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
      const [program, ...words] = this.#command('initdb', ...INITDB, data);
      const made = spawnSync(program, words, { encoding: 'utf8' });
      if (made.status !== 0) throw new Error(`initdb failed:\n${made.stdout}${made.stderr}`);
    }
    if (this.#port !== 0) await this.#run(data, this.#port);
    else await withFreePorts(1, ([port = 0]) => this.#run(data, port));
    return this;
  }

  /** URL of a new database. `options` are those of CREATE DATABASE. */
  async create(options = ''): Promise<string> {
    const name = `hub${++this.#databases}`;
    await this.execute(this.#urlOf('postgres'), `CREATE DATABASE ${name} ${options}`);
    return this.#urlOf(name);
  }

  /** Executes statements on a connection of their own; rows of the last. */
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

  /** Immediate shutdown: it ends nothing in order and recovers from its log at the next start. */
  async kill(): Promise<void> {
    await this.#daemon?.end('SIGQUIT');
    this.#daemon = undefined;
  }

  async remove(): Promise<void> {
    await this.kill();
    rmSync(this.#folder, { recursive: true, force: true });
  }

  #urlOf(database: string): string {
    return `postgres://vigie@127.0.0.1:${this.#port}/${database}`;
  }

  async #run(data: string, port: number): Promise<void> {
    const settings = {
      listen_addresses: '127.0.0.1',
      port: String(port),
      unix_socket_directories: '',
      // The machine keeps running, so a commit that is written needs no sync to outlive the server.
      fsync: 'off',
    };
    const [program, ...words] = this.#command(
      'postgres',
      ...['-D', data, ...Object.entries(settings).flatMap(([name, value]) => ['-c', `${name}=${value}`])],
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
    // It becomes the program, so that signals reach the server itself.
    const as = ['--reuid=postgres', '--regid=postgres', '--init-groups'];
    return isRoot ? ['/usr/bin/setpriv', ...as, full, ...words] : [full, ...words];
  }
}
