/** The link waits for a missing certificate that the broker requires, and names it. */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeEach, expect, it } from 'vitest';
import type { TlsFiles } from '../../../adapters/mqtt/credentials.ts';
import { Car, message, vin } from '../../rig/car.ts';
import { Authority } from '../../rig/certificates.ts';
import { MosquittoRig } from '../../rig/mosquitto.ts';
import { describePeer } from '../../rig/peers.ts';

const closers: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const close of closers.splice(0)) await close();
});

const folder = mkdtempSync(join(tmpdir(), 'vigie-credentials-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

describePeer('mosquitto', 'a link to a broker that wants a certificate', () => {
  let broker: MosquittoRig;
  let authority: Authority;
  beforeEach(async () => {
    authority = new Authority(folder, 'peer');
    const server = authority.issue('broker');
    broker = new MosquittoRig({
      listener: (port) => [
        `listener ${port} 127.0.0.1`,
        `cafile ${authority.certFile}`,
        `certfile ${server.certFile}`,
        `keyfile ${server.keyFile}`,
        'require_certificate true',
        'use_identity_as_username true',
      ],
    });
    await broker.start();
  });
  afterEach(() => broker.remove());

  it('waits for the missing file, names it, and connects when it exists', async () => {
    const { cert, key } = authority.issue(vin);
    const file = join(folder, 'unit.key');
    const tls = (): TlsFiles => ({ ca: authority.cert, cert, key: readFileSync(file) });
    const car = new Car(broker.url.replace('mqtt:', 'mqtts:'), { tls, closeTimeout: 300 });
    closers.push(() => car.link.close());
    car.open();
    await car.log.take(({ event }) => event === 'link.unreachable');
    expect(car.link.health()).toMatchObject({ reason: expect.stringContaining(file) });
    writeFileSync(file, key);
    await car.up();
    await car.link.publish(message('at last'));
  });
});
