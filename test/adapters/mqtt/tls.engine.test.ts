/** Trust between the car and its broker: TLS versions, revocation, expiry, renewal. */
import { writeFileSync } from 'node:fs';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { CloudClient, type MqttLinkOptions, type TlsFiles } from '../../../adapters/mqtt/index.ts';
import { Car, message, vin } from '../../rig/car.ts';
import { Authority, type Certificate } from '../../rig/certificates.ts';
import { MosquittoRig } from '../../rig/mosquitto.ts';
import { describePeer } from '../../rig/peers.ts';

describePeer('mosquitto', 'TLS to Mosquitto', () => {
  const brokers: MosquittoRig[] = [];
  const cars: Car[] = [];
  let authority: Authority;
  let server: Certificate;

  beforeAll(() => {
    const folder = new MosquittoRig();
    brokers.push(folder);
    authority = new Authority(folder.folder);
    server = authority.issue('broker');
  });

  afterEach(async () => {
    for (const car of cars.splice(0)) await car.link.close();
    for (const broker of brokers.slice(1)) await broker.kill();
  });

  afterAll(async () => {
    for (const broker of brokers) await broker.remove();
  });

  /** Starts a broker with this certificate that requires client certificates from the authority. */
  async function serve(shown: Certificate, ...settings: readonly string[]): Promise<string> {
    const broker = new MosquittoRig({
      listener: (port) => [
        `listener ${port} 127.0.0.1`,
        `cafile ${authority.certFile}`,
        `certfile ${shown.certFile}`,
        `keyfile ${shown.keyFile}`,
        'require_certificate true',
        'use_identity_as_username true',
        ...settings,
      ],
    });
    brokers.push(broker);
    await broker.start();
    return broker.url.replace('mqtt:', 'mqtts:');
  }

  function filesOf({ cert, key }: Certificate, more: Partial<TlsFiles> = {}): TlsFiles {
    return { ca: authority.cert, cert, key, ...more };
  }

  function carAt(url: string, tls: NonNullable<MqttLinkOptions['tls']>): Car {
    const car = new Car(url, { tls, closeTimeout: 300 });
    cars.push(car);
    return car;
  }

  it.each(['tlsv1.2', 'tlsv1.3'])('connects with %s', async (version) => {
    const url = await serve(server, `tls_version ${version}`);
    const car = await carAt(url, filesOf(authority.issue(vin))).start();
    await car.link.publish(message('encrypted'));
    expect(car.link.health()).toMatchObject({ state: 'up', broker: url });
  });

  it('refuses a broker with an expired certificate, with advice', async () => {
    const url = await serve(authority.issue('expired', 0));
    await expect(CloudClient.connect(url, { tls: filesOf(authority.issue('cloud')) })).rejects.toMatchObject({
      code: 'link.refused',
      message: expect.stringContaining("certificate has expired; renew it, or set this machine's clock"),
    });
  });

  describe('with a revocation list', () => {
    it('refuses a revoked broker, and no other', async () => {
      const stolen = authority.issue('stolen');
      const tls = filesOf(authority.issue('cloud'), { crl: authority.revoke(stolen) });
      await expect(CloudClient.connect(await serve(stolen), { tls })).rejects.toMatchObject({
        code: 'link.refused',
        message: expect.stringContaining('was revoked'),
      });
      const client = await CloudClient.connect(await serve(server), { tls });
      expect(client.connected).toBe(true);
      await client.close();
    });

    it('refuses every broker if the list is from another authority', async () => {
      const crl = new Authority(brokers[0]?.folder ?? '', 'elsewhere').revoke();
      const tls = filesOf(authority.issue('cloud'), { crl });
      await expect(CloudClient.connect(await serve(server), { tls })).rejects.toMatchObject({
        message: expect.stringContaining('crl has no list of an authority'),
      });
    });

    it('is refused itself if its own certificate was revoked', async () => {
      const ours = authority.issue('taken-away');
      const list = `${brokers[0]?.folder}/revoked.pem`;
      writeFileSync(list, authority.revoke(ours));
      const url = await serve(server, `crlfile ${list}`);
      await expect(CloudClient.connect(url, { tls: filesOf(ours) })).rejects.toMatchObject({ code: 'link.refused' });
      const client = await CloudClient.connect(url, { tls: filesOf(authority.issue('cloud')) });
      await client.close();
    });
  });

  it('uses a renewed certificate for the next connection, and the previous one while the files do not match', async () => {
    const url = await serve(server);
    const [old, renewed] = [authority.issue(vin, 10), authority.issue(`${vin}-renewed`, 300)];
    let files: TlsFiles = filesOf(old);
    const car = await carAt(url, () => files).start();
    const before = car.link.health().certificateExpires ?? 0;
    const notice = await car.log.take(({ event }) => event === 'link.certificate');
    expect(notice).toMatchObject({ level: 'warn', fields: { expires: new Date(before).toISOString() } });

    // The certificate is new, but its key is still the old one.
    files = filesOf({ ...renewed, key: old.key });
    const broker = brokers.at(-1);
    await broker?.stop();
    await broker?.start();
    await car.up();
    expect(car.link.health().certificateExpires).toBe(before);
    expect(car.log.all.filter(({ event }) => event === 'link.certificates.kept')).toHaveLength(1);

    files = filesOf(renewed);
    await broker?.stop();
    await broker?.start();
    await car.up();
    const days = ((car.link.health().certificateExpires ?? 0) - before) / 86_400_000;
    expect(days).toBeCloseTo(290, 1);
    await car.link.publish(message('renewed'));
  });
});
