/** The broker of the bench behind TLS, in this process. */
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { createServer, type Server } from 'node:tls';
import { Aedes } from 'aedes';
import type { Authority, Certificate } from './certificates.ts';

export interface TlsBroker {
  /** Certificate of the server. */
  readonly server: Certificate;
  /** Authority of the client certificates. If omitted, clients need none. */
  readonly clientsBy?: Authority;
  /** The only TLS version it accepts. If omitted, all versions of Node. */
  readonly version?: 'TLSv1.2' | 'TLSv1.3';
}

export class TlsAedesRig {
  readonly #server: Server;
  readonly #aedes: Aedes;

  private constructor(server: Server, aedes: Aedes) {
    this.#server = server;
    this.#aedes = aedes;
  }

  static async start({ server: shown, clientsBy, version }: TlsBroker): Promise<TlsAedesRig> {
    const aedes = await Aedes.createBroker();
    const server = createServer(
      {
        cert: Buffer.from(shown.cert),
        key: Buffer.from(shown.key),
        ...(clientsBy === undefined ? {} : { ca: Buffer.from(clientsBy.cert), requestCert: true }),
        ...(version === undefined ? {} : { minVersion: version, maxVersion: version }),
      },
      (socket) => aedes.handle(socket),
    );
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    return new TlsAedesRig(server, aedes);
  }

  get url(): string {
    return `mqtts://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  async stop(): Promise<void> {
    const closed = once(this.#server, 'close');
    this.#server.close();
    await new Promise<void>((resolve) => this.#aedes.close(resolve));
    await closed;
  }
}
