import { execFileSync } from 'node:child_process';
import { X509Certificate } from 'node:crypto';
import { mkdtempSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { Authority } from './certificates.ts';
import { describePeer } from './peers.ts';
import { runFolder } from './run.ts';

const folder = mkdtempSync(join(runFolder(), 'certificates-'));
const authority = new Authority(folder);

test('a certificate names its owner, hosts and issuer, and is signed by the authority alone', () => {
  const names = ['car.example', ...Array.from({ length: 20 }, (_, i) => `car-${i}.example`)];
  const certificate = new X509Certificate(authority.issue('server', 2, names).cert);
  const own = new X509Certificate(authority.cert);
  expect(certificate.subject).toBe('CN=server');
  expect(certificate.issuer).toBe('CN=ca');
  expect(certificate.subjectAltName).toBe(['IP Address:127.0.0.1', ...names.map((name) => `DNS:${name}`)].join(', '));
  expect(certificate.checkIssued(own)).toBe(true);
  expect(certificate.verify(own.publicKey)).toBe(true);
  expect(certificate.verify(new X509Certificate(new Authority(folder, 'ca-2').cert).publicKey)).toBe(false);
  expect([own.ca, certificate.ca]).toEqual([true, false]);
});

test('a certificate that is valid for zero days has expired', () => {
  expect(new X509Certificate(authority.issue('expired', 0).cert).validToDate.getTime()).toBeLessThan(Date.now());
});

describePeer('openssl', 'what openssl says of certificates', () => {
  test('a certificate is valid unless a revocation list names it', () => {
    const [kept, revoked] = [authority.issue('kept'), authority.issue('revoked')];
    const list = join(folder, 'list.pem');
    writeFileSync(list, authority.revoke(revoked));
    const verify = (file: string): string =>
      execFileSync('openssl', ['verify', '-CAfile', authority.certFile, '-crl_check', '-CRLfile', list, file], {
        encoding: 'utf8',
        stdio: 'pipe',
      });
    expect(verify(kept.certFile)).toBe(`${kept.certFile}: OK\n`);
    expect(() => verify(revoked.certFile)).toThrow(/certificate revoked/);
  });
});
