/** A real OpenID Connect provider on the loopback interface that signs in every visitor as `anna`. */
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import Provider from 'oidc-provider';

export const CLIENT = { id: 'vigie-hub', secret: 'a long secret of the hub' };

export class IdentityProvider {
  /** Groups of anna, which the provider includes on request. */
  groups: readonly string[] = ['north', 'a group of another program'];
  readonly url: string;
  readonly #server: Server;
  #serve: ReturnType<Provider['callback']> | undefined;
  #provider: Provider | undefined;

  private constructor(server: Server) {
    this.#server = server;
    this.url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    server.on('request', (request, response) => {
      const [, interaction] = /^\/interaction\/([\w-]+)$/.exec(request.url ?? '') ?? [];
      if (interaction !== undefined && this.#provider !== undefined) {
        this.#agree(this.#provider, request, response).catch((error: Error) =>
          response.writeHead(500).end(error.message),
        );
      } else if (this.#serve === undefined) response.writeHead(503).end();
      else void this.#serve(request, response);
    });
  }

  static async start(): Promise<IdentityProvider> {
    const server = createServer();
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    return new IdentityProvider(server);
  }

  /** Registers the client at `url`. */
  register(url: string): void {
    this.#provider = new Provider(this.url, {
      clients: [{ client_id: CLIENT.id, client_secret: CLIENT.secret, redirect_uris: [`${url}/vigie/v1/signed-in`] }],
      claims: { openid: ['sub'], email: ['email', 'groups'] },
      features: { devInteractions: { enabled: false } },
      pkce: { required: () => true },
      interactions: { url: (_, { uid }) => `/interaction/${uid}` },
      findAccount: (_, id) => ({
        accountId: id,
        claims: () => ({ sub: id, email: `${id}@example.org`, groups: [...this.groups] }),
      }),
    });
    this.#serve = this.#provider.callback();
  }

  async stop(): Promise<void> {
    this.#server.closeAllConnections();
    await new Promise((resolve) => this.#server.close(resolve));
  }

  async #agree(provider: Provider, ...exchange: Parameters<Provider['interactionDetails']>): Promise<void> {
    const { prompt, params, session } = await provider.interactionDetails(...exchange);
    if (prompt.name === 'login') return provider.interactionFinished(...exchange, { login: { accountId: 'anna' } });
    const grant = new provider.Grant({ accountId: session?.accountId, clientId: String(params['client_id']) });
    grant.addOIDCScope(String(params['scope']));
    await provider.interactionFinished(...exchange, { consent: { grantId: await grant.save() } });
  }
}
