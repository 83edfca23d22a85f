/** The far end of a line: a TCP server that records the received text. */
import { once } from 'node:events';
import { type AddressInfo, createServer, type Server, type Socket } from 'node:net';

export class FarEnd {
  readonly #server: Server;
  readonly #sockets = new Set<Socket>();
  readonly #waiting: (() => void)[] = [];
  received = '';
  connections = 0;
  /** Receives the text after it was recorded. */
  heard: (text: string, socket: Socket) => void = () => undefined;

  private constructor(server: Server) {
    this.#server = server;
    server.on('connection', (socket) => {
      this.connections++;
      this.#sockets.add(socket);
      socket.on('error', () => undefined);
      socket.on('close', () => {
        this.#sockets.delete(socket);
        this.#changed();
      });
      socket.on('data', (bytes) => {
        const text = bytes.toString('latin1');
        this.received += text;
        this.heard(text, socket);
        this.#changed();
      });
      this.#changed();
    });
  }

  static async listen(port = 0): Promise<FarEnd> {
    const server = createServer();
    server.listen(port, '127.0.0.1');
    await once(server, 'listening');
    return new FarEnd(server);
  }

  get port(): number {
    return (this.#server.address() as AddressInfo).port;
  }

  get open(): number {
    return this.#sockets.size;
  }

  say(text: string): void {
    for (const socket of this.#sockets) socket.write(text, 'latin1');
  }

  /** Resolves when `holds` returns true. It is checked after each event. */
  async until(holds: () => boolean): Promise<void> {
    while (!holds()) await new Promise<void>((resolve) => this.#waiting.push(resolve));
  }

  hangUp(): void {
    for (const socket of this.#sockets) socket.destroy();
  }

  async close(): Promise<void> {
    this.#server.close();
    this.hangUp();
    await once(this.#server, 'close');
  }

  #changed(): void {
    for (const resolve of this.#waiting.splice(0)) resolve();
  }
}

/** Records the events of a line, and lets a test wait for them. */
export class Heard {
  text = '';
  readonly closings: string[] = [];
  readonly #waiting: (() => void)[] = [];

  readonly data = (bytes: Uint8Array): void => {
    this.text += Buffer.from(bytes).toString('latin1');
    this.#changed();
  };

  readonly closed = (reason: string): void => {
    this.closings.push(reason);
    this.#changed();
  };

  async until(holds: () => boolean): Promise<void> {
    while (!holds()) await new Promise<void>((resolve) => this.#waiting.push(resolve));
  }

  #changed(): void {
    for (const resolve of this.#waiting.splice(0)) resolve();
  }
}
