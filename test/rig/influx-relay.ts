/**
 * A proxy in front of a real InfluxDB, which kills it or the sender at a chosen point of a request, or answers with
 * nonsense.
 */
import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { buffer } from 'node:stream/consumers';
import type { InfluxRig } from './influx.ts';

/** `before` and `after`: before and after InfluxDB gets the request; the sender never gets an answer to it. */
export const requestFaults = [
  'sender killed before',
  'influx killed before',
  'sender killed after',
  'influx killed after',
  'nonsense',
  'hung up after',
] as const;
export type RequestFault = (typeof requestFaults)[number];

export class InfluxRelay {
  readonly #influx: InfluxRig;
  readonly #killSender: () => Promise<void>;
  readonly #server: Server = createServer((request, response) => void this.#pass(request, response));
  /** The fault of the next request, and the function to call after it. */
  #next: { readonly fault: RequestFault; readonly done: () => void } | undefined;
  #passed: () => void = () => undefined;

  constructor(influx: InfluxRig, killSender: () => Promise<void>) {
    this.#influx = influx;
    this.#killSender = killSender;
  }

  async start(): Promise<void> {
    this.#server.listen(0, '127.0.0.1');
    await once(this.#server, 'listening');
  }

  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  /** Resolves when a request had this fault, and InfluxDB runs again. */
  async suffer(fault: RequestFault): Promise<void> {
    await new Promise<void>((done) => {
      this.#next = { fault, done };
    });
    if (fault.startsWith('influx')) await this.#influx.start();
  }

  /** Resolves when InfluxDB has answered the next request. */
  passed(): Promise<void> {
    return new Promise((resolve) => {
      this.#passed = resolve;
    });
  }

  close(): void {
    this.#server.closeAllConnections();
    this.#server.close();
  }

  async #pass(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const body = await buffer(request);
    const { fault = undefined, done = () => undefined } = this.#next ?? {};
    this.#next = undefined;
    if (fault === 'nonsense') {
      response.writeHead(200, { 'content-type': 'text/html' }).end('<html>Sign in</html>');
      done();
      return;
    }
    if (fault === 'sender killed before') await this.#killSender();
    if (fault === 'influx killed before') await this.#influx.kill();
    const status = fault?.endsWith('before') === true ? undefined : await this.#forward(request, body);
    if (fault === 'sender killed after') await this.#killSender();
    if (fault === 'influx killed after') await this.#influx.kill();
    if (fault === undefined && status !== undefined) response.writeHead(status).end();
    else request.socket.destroy();
    done();
    if (status !== undefined) this.#passed();
  }

  /** Returns undefined if InfluxDB is away. */
  async #forward({ url = '', headers }: IncomingMessage, body: Buffer): Promise<number | undefined> {
    try {
      const sent = { 'content-encoding': String(headers['content-encoding']) };
      return (await fetch(`${this.#influx.url}${url}`, { method: 'POST', headers: sent, body: Uint8Array.from(body) }))
        .status;
    } catch {
      return undefined;
    }
  }
}

interface StoredReading {
  readonly vin: string;
  /** Path, time in ms and value. */
  readonly text: string;
}

/** Returns all readings in a database. */
export async function readingsIn(influx: InfluxRig, database: string): Promise<readonly StoredReading[]> {
  const { series = [] } = await influx.query('SELECT value, flag, text FROM vigie GROUP BY path, vin', database);
  return series.flatMap(({ tags, values }) =>
    values.map(([ns, value, flag, text]) => {
      const { path = '', vin = '' } = tags ?? {};
      return { vin, text: `${path} ${String(ns).slice(0, -6)} ${String(value ?? flag ?? text)}` };
    }),
  );
}
