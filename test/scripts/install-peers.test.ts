import { execFileSync } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { findPeer } from '../rig/peers.ts';

const script = fileURLToPath(new URL('../../scripts/install-peers.sh', import.meta.url));

function run(path: string): string {
  return execFileSync('/bin/sh', [script], { env: { PATH: path }, encoding: 'utf8' });
}

describe('scripts/install-peers.sh', () => {
  it('says in one line what is missing where it cannot install, and fails nothing', () => {
    const folder = mkdtempSync(join(tmpdir(), 'path-'));
    symlinkSync(findPeer('id') ?? '', join(folder, 'id'));
    // Without apt-get on the path there is nothing to install with, whoever runs it.
    expect(run(folder)).toMatch(
      /^not installed, their tests are skipped:.* mosquitto-clients can-utils.* socat gcc python3 systemd openssl bsdutils jq \(.*\)\n$/,
    );
    rmSync(folder, { recursive: true });
  });

  const peers = [...readFileSync(script, 'utf8').matchAll(/([a-z_0-9-]+):[a-z0-9-]+(?=[ ;])/g)].map(
    ([, peer = '']) => peer,
  );

  it('knows every program that tests ask for', () => {
    const folder = fileURLToPath(new URL('..', import.meta.url));
    const files = readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter((name) =>
      name.endsWith('.test.ts'),
    );
    const asked = files.flatMap((name) => {
      const calls = readFileSync(join(folder, name), 'utf8').matchAll(/^describePeers?\((?:\[([^\]]+)\]|([^,]+)),/gm);
      return [...calls].flatMap(([, several, one]) =>
        (several ?? one ?? '').split(',').map((word) => word.trim().slice(1, -1)),
      );
    });
    expect(asked.length).toBeGreaterThan(20);
    for (const peer of ['mosquitto', 'socat', 'strace', 'gcc']) expect(asked).toContain(peer);
    expect(asked.filter((peer) => !peers.includes(peer))).toEqual([]);
  });

  const absent = peers.filter((peer) => findPeer(peer) === undefined);
  it.skipIf(absent.length > 0)(
    `says and does nothing when all is there (absent: ${absent.join(', ') || 'none'})`,
    () => {
      expect(run(process.env['PATH'] ?? '')).toBe('');
    },
  );
});
