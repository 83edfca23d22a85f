import { mkdtempSync, readFileSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { connect, createServer, type Server } from 'node:tls';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { vigie } from '../rig/bench.ts';

describe('vigie hub certify', () => {
  let folder: string;
  let server: Server | undefined;

  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'vigie-certify-'));
  });

  afterEach(() => {
    server?.close();
    rmSync(folder, { recursive: true, force: true });
  });

  const certify = (...args: readonly string[]) => vigie('hub', 'certify', ...args, '--data', join(folder, 'hub'));

  test('makes certificates by which a broker and a hub admit each other', async () => {
    const { status, stdout, stderr } = await certify('broker,localhost', 'vigie-cloud', '--out', folder);
    expect({ status, stderr }).toEqual({ status: 0, stderr: '' });
    expect(stdout).toBe(`${join(folder, 'broker.pem')}\n${join(folder, 'vigie-cloud.pem')}\n`);
    expect(statSync(join(folder, 'broker.key')).mode & 0o777).toBe(0o600);
    const of = (name: string) => ({
      ca: readFileSync(join(folder, 'ca.pem')),
      cert: readFileSync(join(folder, `${name}.pem`)),
      key: readFileSync(join(folder, `${name}.key`)),
    });
    const client = await new Promise<string | undefined>((resolve, reject) => {
      const listening = createServer({ ...of('broker'), requestCert: true, rejectUnauthorized: true }, (socket) => {
        resolve(String(socket.getPeerCertificate().subject.CN));
        socket.end();
      }).on('tlsClientError', reject);
      server = listening.listen(0, '127.0.0.1', () => {
        const { port } = listening.address() as { port: number };
        connect({ ...of('vigie-cloud'), host: '127.0.0.1', port, servername: 'localhost' })
          .on('error', reject)
          .resume();
      });
    });
    expect(client).toBe('vigie-cloud');
  });

  test.each([
    ['VF3VGEBENCH000001', 'is a VIN: cars get certificates by enrolment'],
    ['broker,VF3VGEBENCH000001', 'is a VIN'],
    ['../broker', 'is not a host name, an address or a user name'],
    ['broker,', 'is not a host name'],
  ])('refuses the name %s', async (name, reason) => {
    const { status, stderr } = await certify(name, '--out', folder);
    expect(status).toBe(2);
    expect(stderr).toContain(reason);
  });

  test('names the directory of the files if that does not exist', async () => {
    const missing = join(folder, 'missing');
    const { status, stderr } = await certify('broker', '--out', missing);
    expect(status).not.toBe(0);
    expect(stderr).toContain(`${missing}`);
  });
});
