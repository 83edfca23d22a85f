/** `vigie watch` at brokers that authenticate their clients. */
import { execFileSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { VigieProcess, vigie } from '../rig/bench.ts';
import { Authority, type Certificate } from '../rig/certificates.ts';
import { MosquittoRig } from '../rig/mosquitto.ts';
import { describePeer } from '../rig/peers.ts';

const VIN = 'VF3WATCHEDCAR0001';

/** Starts `vigie watch`, waits for its first line, and ends it. */
async function watches(...options: readonly string[]): Promise<void> {
  const watching = new VigieProcess(['watch', VIN, ...options]);
  try {
    await watching.says(`watching ${VIN}`);
  } finally {
    await watching.end('SIGINT');
  }
}

describePeer('mosquitto', 'a broker that lets in', () => {
  const brokers: MosquittoRig[] = [];
  afterAll(async () => {
    for (const broker of brokers) await broker.remove();
  });

  async function serve(listener: (port: number, folder: string) => readonly string[]): Promise<MosquittoRig> {
    const broker: MosquittoRig = new MosquittoRig({ listener: (port) => listener(port, broker.folder) });
    brokers.push(broker);
    await broker.start();
    return broker;
  }

  test('watch connects with user name and password', async () => {
    const broker = await serve((port, folder) => {
      execFileSync('mosquitto_passwd', ['-c', '-b', join(folder, 'users'), 'anna', 'a secret'], { stdio: 'pipe' });
      return [`listener ${port} 127.0.0.1`, 'allow_anonymous false', `password_file ${join(folder, 'users')}`];
    });
    const password = join(broker.folder, 'password');
    writeFileSync(password, 'a secret\n');
    await watches('--broker', broker.url, '--username', 'anna', '--password-file', password);
    const refused = await vigie('watch', VIN, '--broker', broker.url);
    expect(refused.status).toBe(2);
    expect(refused.stderr).toContain('does not let this client in');
  });

  test('watch connects with a client certificate of the broker’s authority', async () => {
    let ours: Certificate | undefined;
    let ca = '';
    const broker = await serve((port, folder) => {
      const authority = new Authority(folder);
      const server = authority.issue('broker');
      ours = authority.issue('vigie-cloud');
      ca = authority.certFile;
      const shown = [`cafile ${ca}`, `certfile ${server.certFile}`, `keyfile ${server.keyFile}`];
      return [`listener ${port} 127.0.0.1`, ...shown, 'require_certificate true', 'use_identity_as_username true'];
    });
    const url = broker.url.replace('mqtt:', 'mqtts:');
    const { certFile = '', keyFile = '' } = ours ?? {};
    await watches('--broker', url, '--ca', ca, '--cert', certFile, '--cert-key', keyFile);
    const unknown = await vigie('watch', VIN, '--broker', url);
    expect(unknown.status).toBe(2);
    expect(unknown.stderr).toContain('give it as --ca');
  });
});
