/** The link waits for missing or damaged certificates and passwords, and names them. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { BrokerCredentials, type TlsFiles } from '../../../adapters/mqtt/credentials.ts';
import { MqttLink } from '../../../adapters/mqtt/index.ts';
import { VigieError } from '../../../protocol/errors.ts';
import { Car, vin } from '../../rig/car.ts';
import { Authority, type Certificate } from '../../rig/certificates.ts';
import { MemoryLog } from '../../rig/log.ts';
import { accept, obliging, ScriptedBroker } from '../../rig/script.ts';

const closers: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const close of closers.splice(0)) await close();
});

const folder = mkdtempSync(join(tmpdir(), 'vigie-credentials-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

describe('certificates', () => {
  let authority: Authority;
  let ours: Certificate;
  let other: Certificate;
  beforeAll(() => {
    authority = new Authority(folder);
    ours = authority.issue('ours');
    other = authority.issue('other');
  });

  const junk = new TextEncoder().encode('no certificate');
  const paths = { ca: '/etc/ca.pem', cert: '/etc/cert.pem', key: '/etc/key.pem', crl: '/etc/list.pem' };
  const sound = (): TlsFiles => ({ ca: authority.cert, cert: ours.cert, key: ours.key, paths });

  it.each<[string, () => Partial<TlsFiles>, RegExp]>([
    ['an authority', () => ({ ca: junk }), /ca \(\/etc\/ca\.pem\) is damaged, or is not PEM/],
    ['a certificate', () => ({ cert: junk }), /cert \(\/etc\/cert\.pem\) is damaged/],
    ['a certificate that is empty', () => ({ cert: new Uint8Array(0) }), /cert \(\/etc\/cert\.pem\) is damaged/],
    ['a key', () => ({ key: ours.key.subarray(0, 200) }), /key \(\/etc\/key\.pem\) is damaged/],
    ['a list', () => ({ crl: junk }), /crl \(\/etc\/list\.pem\) is damaged/],
    ['a key of another certificate', () => ({ key: other.key }), /key \(\/etc\/key\.pem\) does not belong to cert/],
  ])('that are unusable are named: %s', (_, spoilt, said) => {
    const files = { ...sound(), ...spoilt() };
    expect(() => new BrokerCredentials(files, new MemoryLog())).toThrow(said);
    const waiting = new BrokerCredentials(() => files, new MemoryLog());
    expect(() => waiting.context()).toThrow(said);
  });

  it('that appear later are used from then on, and stay in use if their files are damaged again', () => {
    let files: () => TlsFiles = () => {
      throw new VigieError('input.unreadable', 'key cannot be read', { where: '/etc/key.pem' });
    };
    const log = new MemoryLog();
    const credentials = new BrokerCredentials(() => files(), log);
    expect(() => credentials.context()).toThrow('/etc/key.pem: key cannot be read');
    expect(credentials.expires).toBeUndefined();
    files = sound;
    const context = credentials.context();
    expect(credentials.expires).toBeGreaterThan(Date.now());
    files = () => ({ ...sound(), key: junk });
    expect(credentials.context()).toBe(context);
    expect(log.lines.filter(({ event }) => event.startsWith('link.certificates'))).toMatchObject([
      { level: 'warn', event: 'link.certificates.kept', fields: { reason: expect.any(String) } },
    ]);
  });
});

describe('a password', () => {
  it('is read again for each connection, and the link waits while it cannot be read', async () => {
    const said: string[] = [];
    const broker = await ScriptedBroker.open((packet, socket) => {
      if ((packet[0] ?? 0) >> 4 !== 1) return obliging(packet, socket);
      said.push(packet.toString('latin1').slice(-3));
      return accept;
    });
    let read = (): string => {
      throw new VigieError('input.unreadable', 'the secret cannot be read', { where: '/etc/password' });
    };
    const password = (): string => read();
    const car = new Car(broker.url, { protocol: 4, username: 'unit', password, closeTimeout: 200 });
    closers.push(
      () => car.link.close(),
      () => broker.close(),
    );
    car.open();
    const { fields } = await car.log.take(({ event }) => event === 'link.unreachable');
    expect(fields).toMatchObject({ reason: expect.stringContaining('/etc/password: the secret cannot be read') });
    expect(said).toEqual([]);
    read = () => 'abc';
    await car.up();
    expect(said).toEqual(['abc']);
  });
});

it('unusable files passed directly are an error at once', () => {
  const options = { url: 'mqtts://127.0.0.1:1', vin, log: new MemoryLog(), tls: { ca: new Uint8Array(1) } };
  expect(() => new MqttLink(options)).toThrow(/ca is damaged/);
});
