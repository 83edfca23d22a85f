import { execFileSync } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, describe, expect, it } from 'vitest';

const script = fileURLToPath(new URL('../../scripts/install-peers.sh', import.meta.url));

const folder = mkdtempSync(join(tmpdir(), 'vigie-peers-'));
afterAll(() => rmSync(folder, { recursive: true }));

/** Creates a directory with these programs, which do nothing and succeed, and runs the script there. */
function runWith(programs: readonly string[]): string {
  const place = mkdtempSync(join(folder, 'place-'));
  for (const name of programs) writeFileSync(join(place, name), '#!/bin/sh\n', { mode: 0o755 });
  // Not root, so that the script installs nothing, whoever runs the test.
  writeFileSync(join(place, 'id'), '#!/bin/sh\necho 1000\n', { mode: 0o755 });
  return execFileSync('/bin/sh', [script], { env: { PATH: place, PEERS_PATH: place }, encoding: 'utf8' });
}

const pairs = [...readFileSync(script, 'utf8').matchAll(/([a-z_0-9-]+):([a-z0-9-]+)(?=[ ;])/g)].map(
  ([, peer = '', name = '']) => ({ peer, name }),
);

describe('scripts/install-peers.sh', () => {
  it('install-peers.sh names all packages in one line if no program exists, and does not fail', () => {
    const packages = [...pairs.map(({ name }) => name), 'python3-cbor2'].join(' ');
    expect(runWith([])).toBe(
      `not installed, their tests are skipped: ${packages} (as root on Debian this script installs them)\n`,
    );
  });

  it('install-peers.sh names only the packages of missing programs', () => {
    const there = pairs.map(({ peer }) => peer).filter((peer) => peer !== 'jq');
    expect(runWith(there)).toMatch(/^not installed, their tests are skipped: jq \(/);
  });

  it('install-peers.sh prints nothing if all programs exist', () => {
    expect(runWith(pairs.map(({ peer }) => peer))).toBe('');
  });

  it('install-peers.sh knows every program that tests need', () => {
    const tests = fileURLToPath(new URL('..', import.meta.url));
    const files = readdirSync(tests, { recursive: true, encoding: 'utf8' }).filter((name) => name.endsWith('.test.ts'));
    const asked = files.flatMap((name) => {
      const calls = readFileSync(join(tests, name), 'utf8').matchAll(/^describePeers?\((?:\[([^\]]+)\]|([^,]+)),/gm);
      return [...calls].flatMap(([, several, one]) =>
        (several ?? one ?? '').split(',').map((word) => word.trim().slice(1, -1)),
      );
    });
    expect(asked.length).toBeGreaterThan(20);
    for (const peer of ['mosquitto', 'socat', 'strace', 'gcc']) expect(asked).toContain(peer);
    const known = pairs.map(({ peer }) => peer);
    const programs = asked.filter((peer) => !peer.startsWith('/'));
    expect(programs.filter((peer) => !known.includes(peer))).toEqual([]);
  });
});
