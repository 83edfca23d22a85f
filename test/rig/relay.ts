/** A TCP relay in front of a broker that can hold and cut connections. */
import { once } from 'node:events';
import { connect, createServer, type Server, type Socket } from 'node:net';

interface Pair {
  readonly client: Socket;
  readonly broker: Socket;
}

export class Relay {
  readonly #server: Server;
  readonly #pairs = new Set<Pair>();
  /** Pairs of which one side has closed and the other has not noticed. */
  readonly #ended = new Set<Pair>();
  /** Bytes received from clients, per connection, in order. */
  readonly received: Buffer[][] = [];
  #held = false;
  /**
   * Silence after which a connection is dropped like by address translation, ms: nothing passes any more, and neither
   * side is notified.
   */
  patience = Number.POSITIVE_INFINITY;
  /** Number of dropped connections. */
  forgotten = 0;

  /** Port for connections made from now on. */
  brokerPort: number;

  private constructor(brokerPort: number) {
    this.brokerPort = brokerPort;
    this.#server = createServer({ noDelay: true }, (client) => {
      const broker = connect({ port: this.brokerPort, host: '127.0.0.1', noDelay: true });
      const pair = { client, broker };
      const bytes: Buffer[] = [];
      this.received.push(bytes);
      let last = performance.now();
      let known = true;
      const passes = (): boolean => {
        if (known && performance.now() - last > this.patience) {
          known = false;
          this.forgotten++;
          client.unpipe(broker).resume();
          broker.unpipe(client).resume();
        }
        last = performance.now();
        return known;
      };
      client.on('data', (chunk) => passes() && bytes.push(chunk));
      broker.on('data', passes);
      this.#pairs.add(pair);
      // While it holds, neither side notices the end of the other: the connection is half-open.
      const end = (): void => {
        if (this.#held) this.#ended.add(pair);
        else this.#end(pair, 'in order');
      };
      for (const socket of [client, broker]) {
        // The other side sees the end, with or without an error.
        socket.on('error', end).on('end', end).on('close', end);
      }
      client.pipe(broker, { end: false });
      broker.pipe(client, { end: false });
      if (this.#held) hold(pair);
    });
  }

  static async open(brokerPort: number): Promise<Relay> {
    const relay = new Relay(brokerPort);
    relay.#server.listen(0, '127.0.0.1');
    await once(relay.#server, 'listening');
    return relay;
  }

  get url(): string {
    const address = this.#server.address();
    if (address === null || typeof address === 'string') throw new Error('the relay does not listen');
    return `mqtt://127.0.0.1:${address.port}`;
  }

  /** Stops traffic in both directions. Connections stay open. */
  hold(): void {
    this.#held = true;
    for (const pair of this.#pairs) hold(pair);
  }

  /** Forwards held data, and everything after it. */
  release(): void {
    this.#held = false;
    for (const pair of this.#ended) this.#end(pair, 'in order');
    for (const { client, broker } of this.#pairs) {
      client.resume();
      broker.resume();
    }
  }

  /** Closes all connections abruptly. */
  cut(): void {
    for (const pair of this.#pairs) this.#end(pair, 'at once');
  }

  async close(): Promise<void> {
    const closed = once(this.#server, 'close');
    this.#server.close();
    this.cut();
    await closed;
  }

  #end(pair: Pair, how: 'in order' | 'at once'): void {
    this.#pairs.delete(pair);
    this.#ended.delete(pair);
    for (const socket of [pair.client, pair.broker]) {
      if (how === 'in order') socket.destroySoon();
      else socket.destroy();
    }
  }
}

function hold({ client, broker }: Pair): void {
  client.pause();
  broker.pause();
}
