/** `vigie hub keys`, `renew` and `end` as programs, while a hub runs on the same PostgreSQL. */
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { SIGNS_AFTER_MS } from '../../hub/start/group-keys.ts';
import { VigieProcess } from '../rig/bench.ts';
import { describePeer } from '../rig/peers.ts';
import { PostgresRig } from '../rig/postgres.ts';

const VIN = 'VF3VGEHVBK0000001';
/** Time limit in ms for a change to reach the running hub, which reads its keys every five seconds. */
const REACHED = { timeout: 60_000 };
const TOKEN = /^[\w-]+\.[\w-]+\.[\w-]+$/m;

interface ListedKey {
  readonly id: string;
  readonly purpose: string;
  readonly signs: boolean;
  readonly ends?: number;
}

describePeer('initdb', 'keys of hubs on PostgreSQL', () => {
  const folder = mkdtempSync(join(tmpdir(), 'vigie-hub-keys-'));
  const server = new PostgresRig();
  let database: string;
  let hub: VigieProcess;
  let vehicles: string;

  beforeAll(async () => {
    await server.start();
    database = await server.create();
    hub = new VigieProcess(['hub', ...place(), '--port', '0', '--http', '0']);
    await hub.says('Ctrl-C ends');
    vehicles = `${/http:\/\/127\.0\.0\.1:\d+/.exec(hub.output)?.[0]}/fleets/north/vehicles`;
    await done('add', VIN, '--fleet', 'north', '--password');
  });
  afterAll(async () => {
    await hub?.end('SIGKILL');
    await server.remove();
    rmSync(folder, { recursive: true, force: true });
  });

  const place = (): string[] => ['--data', folder, '--database', database];

  /** Runs `vigie hub …` in a separate process to its end. */
  async function ran(...words: string[]): Promise<{ readonly status: number | null; readonly output: string }> {
    const process = new VigieProcess(['hub', ...words, ...place()]);
    const status = await process.ended();
    return { status, output: process.output };
  }

  async function done(...words: string[]): Promise<string> {
    const { status, output } = await ran(...words);
    expect([status, output]).toEqual([0, expect.anything()]);
    return output;
  }

  async function keysFor(purpose: string): Promise<readonly ListedKey[]> {
    const lines = (await done('keys')).trim().split('\n');
    return lines.map((line) => JSON.parse(line) as ListedKey).filter((key) => key.purpose === purpose);
  }

  async function signingKey(purpose: string): Promise<ListedKey> {
    const signing = (await keysFor(purpose)).filter(({ signs }) => signs);
    expect(signing).toHaveLength(1);
    return signing[0] as ListedKey;
  }

  /** Makes a key, and lets the time until it signs pass in the database. @returns its id */
  async function renewed(purpose: string, ...options: string[]): Promise<string> {
    const output = await done('keys', 'renew', purpose, ...options);
    const id = new RegExp(`^([0-9a-f]{16}), ${purpose}, signs from `, 'm').exec(output)?.[1] ?? output;
    expect((await signingKey(purpose)).id).not.toBe(id);
    const before = `signs_from = signs_from - ${2 * SIGNS_AFTER_MS}`;
    await server.execute(database, `UPDATE group_keys SET ${before} WHERE id = '${id}'`);
    expect((await signingKey(purpose)).id).toBe(id);
    return id;
  }

  const newToken = async (): Promise<string> => TOKEN.exec(await done('token', '--fleet', 'north'))?.[0] ?? '';
  const answer = async (token: string): Promise<number> =>
    (await fetch(vehicles, { headers: { authorization: `Bearer ${token}` } })).status;
  const trusted = (): readonly string[] => {
    const { keys } = JSON.parse(readFileSync(join(folder, 'keys', 'trust.json'), 'utf8'));
    return keys.map(({ kid }: { kid: string }) => kid);
  };

  test('a new database has one signing key for each purpose', async () => {
    for (const purpose of ['commands', 'tokens', 'pages']) {
      expect(await keysFor(purpose)).toEqual([expect.objectContaining({ signs: true })]);
    }
  });

  test('tokens of both keys are valid after a renewal, until the end of the previous key', async () => {
    const [old, before] = [await newToken(), await signingKey('tokens')];
    expect(await answer(old)).toBe(200);
    const only = await ran('keys', 'end', before.id);
    expect([only.status, only.output]).toEqual([2, expect.stringContaining('vigie hub keys renew tokens')]);
    const id = await renewed('tokens', '--keep', '7d');
    const previous = (await keysFor('tokens')).find((key) => key.id === before.id);
    expect(previous?.ends).toBeGreaterThan(Date.now());
    const fresh = await newToken();
    expect([await answer(old), await answer(fresh)]).toEqual([200, 200]);
    expect(await done('keys', 'end', before.id)).toBe(`${before.id}: ended\n`);
    await expect.poll(() => answer(old), REACHED).toBe(401);
    expect(await answer(fresh)).toBe(200);
    expect((await signingKey('tokens')).id).toBe(id);
  }, 300_000);

  test('a renewed key for commands is in the trust file with the previous one, until that is ended', async () => {
    const before = await signingKey('commands');
    const kids = trusted();
    expect(kids).toHaveLength(1);
    await renewed('commands');
    expect((await keysFor('commands')).map(({ ends }) => ends)).toEqual([undefined, undefined]);
    await expect.poll(() => trusted().length, REACHED).toBe(2);
    expect(trusted()).toEqual(expect.arrayContaining([...kids]));
    await done('keys', 'end', before.id);
    await expect.poll(() => trusted().length, REACHED).toBe(1);
    expect(trusted()).not.toEqual(kids);
  }, 300_000);

  test.each([
    ['an unknown id', ['keys', 'end', '0123456789abcdef'], 'there is no key "0123456789abcdef"'],
    ['an unknown purpose', ['keys', 'renew', 'pager'], 'commands, tokens, pages'],
    ['an invalid time', ['keys', 'renew', 'pages', '--keep', 'long'], '--keep'],
  ])('%s is refused, and changes no key', async (_case, words, message) => {
    const before = await done('keys');
    const { status, output } = await ran(...words);
    expect([status, output]).toEqual([2, expect.stringContaining(message)]);
    expect(await done('keys')).toBe(before);
  });
});
