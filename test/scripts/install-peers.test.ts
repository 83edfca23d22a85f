import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync, symlinkSync } from 'node:fs';
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
      /^not installed, their tests are skipped:.* mosquitto-clients can-utils.* socat gcc python3 systemd \(.*\)\n$/,
    );
    rmSync(folder, { recursive: true });
  });

  const peers = ['mosquitto', 'mosquitto_pub', 'candump', 'gpsd', 'nats-server', 'rabbitmq-server', 'strace'];
  peers.push('socat', 'gcc', 'python3', 'systemd-analyze');
  const absent = peers.filter((peer) => findPeer(peer) === undefined);
  it.skipIf(absent.length > 0)(
    `says and does nothing when all is there (absent: ${absent.join(', ') || 'none'})`,
    () => {
      expect(run(process.env['PATH'] ?? '')).toBe('');
    },
  );
});
