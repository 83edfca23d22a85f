/** Errors of `vigie watch` at TLS brokers that refuse it. They name the options of watch. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { VigieProcess, vigie } from '../rig/bench.ts';
import { Authority, type Certificate } from '../rig/certificates.ts';
import { TlsAedesRig } from '../rig/tls-aedes.ts';

const VIN = 'VF3WATCHEDCAR0001';

describe('watch at a broker with TLS', () => {
  let folder: string;
  let authority: Authority;
  let server: Certificate;
  let mine: Certificate;
  let stranger: Certificate;
  beforeAll(() => {
    folder = mkdtempSync(join(tmpdir(), 'vigie-certificates-'));
    authority = new Authority(folder);
    [server, mine] = [authority.issue('broker'), authority.issue('mine')];
    stranger = new Authority(folder, 'other').issue('stranger');
  });
  afterAll(() => rmSync(folder, { recursive: true, force: true }));

  const shown = ({ certFile, keyFile }: Certificate) => ['--cert', certFile, '--cert-key', keyFile];

  describe.each(['TLSv1.3', 'TLSv1.2'] as const)('%s that requires a certificate of its clients', (version) => {
    let broker: TlsAedesRig;
    beforeAll(async () => {
      broker = await TlsAedesRig.start({ server, clientsBy: authority, version });
    });
    afterAll(() => broker.stop());
    const watch = (...options: string[]) => vigie('watch', VIN, '--broker', broker.url, ...options);

    test('a client with a certificate is admitted', async () => {
      const watching = new VigieProcess([
        'watch',
        VIN,
        '--broker',
        broker.url,
        '--ca',
        authority.certFile,
        ...shown(mine),
      ]);
      await watching.says(`watching ${VIN}`);
      expect(await watching.end('SIGINT'), watching.output).toBe(0);
    });

    test('a client without a certificate gets an error that names --cert and --cert-key', async () => {
      const { status, stderr } = await watch('--ca', authority.certFile);
      expect(status).toBe(2);
      expect(stderr).toContain('requires a certificate of its clients; give --cert and --cert-key');
      expect(stderr).not.toContain('rec_layer');
    });

    test('a certificate of another authority is not accepted', async () => {
      const { status, stderr } = await watch('--ca', authority.certFile, ...shown(stranger));
      expect(status).toBe(2);
      expect(stderr).toContain('does not accept the certificate that it was shown');
      expect(stderr).toContain('--cert');
    });
  });

  test('an unknown broker authority gives an error that names --ca', async () => {
    const broker = await TlsAedesRig.start({ server });
    const { status, stderr } = await vigie('watch', VIN, '--broker', broker.url);
    await broker.stop();
    expect(status).toBe(2);
    expect(stderr).toContain('give it as --ca');
  });

  test('a wrong --ca gives an error that names --ca', async () => {
    const broker = await TlsAedesRig.start({ server: stranger });
    const { status, stderr } = await vigie('watch', VIN, '--broker', broker.url, '--ca', authority.certFile);
    await broker.stop();
    expect(status).toBe(2);
    expect(stderr).toContain('give it as --ca');
  });
});
