/**
 * A car whose readings go to a real InfluxDB through a proxy, which kills one of the two at a chosen point of a request,
 * or answers with nonsense. In the end the readings of the car are compared with those in InfluxDB.
 */
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { buffer } from 'node:stream/consumers';
import { SystemClock } from '../../adapters/clock/system.ts';
import { openStore } from '../../adapters/store/index.ts';
import { UnitRest } from '../../agent/power/rest.ts';
import { openNumberedExits } from '../../assembly/numbered-exits.ts';
import { loadConfiguration } from '../../config/configuration.ts';
import { shownValue } from '../../protocol/interface/json/shown-value.ts';
import { readingsFromTelemetry, type Telemetry } from '../../protocol/schema/telemetry.ts';
import { VigieProcess } from './bench.ts';
import { InfluxRig } from './influx.ts';
import { MemoryLog } from './log.ts';

/** `before` and `after`: before and after InfluxDB gets the request; the car never gets an answer to it. */
export const faults = [
  'car killed before',
  'influx killed before',
  'car killed after',
  'influx killed after',
  'nonsense',
  'hung up after',
] as const;
type Fault = (typeof faults)[number];

const VIN = 'VF30A00000B000042';

export class InfluxKills {
  readonly #folder = mkdtempSync(join(tmpdir(), 'vigie-influx-'));
  readonly #influx = new InfluxRig();
  readonly #proxy: Server = createServer((request, response) => void this.#pass(request, response));
  #car: VigieProcess | undefined;
  /** The fault of the next request, and the function to call after it. */
  #next: { readonly fault: Fault; readonly done: () => void } | undefined;

  async start(): Promise<void> {
    await this.#influx.start();
    await this.#influx.query('CREATE DATABASE cars');
    this.#proxy.listen(0, '127.0.0.1');
    await once(this.#proxy, 'listening');
    writeFileSync(
      this.#file,
      `configuration: 1
vin: ${VIN}
profile: bench
data: ${this.#data}
can: [{ bus: body, simulated: true }]
mqtt: { url: mqtt://127.0.0.1:1 }
outbox: { batch: 1s }
exits: { influx: { url: 'http://127.0.0.1:${(this.#proxy.address() as AddressInfo).port}', database: cars } }
`,
    );
    this.#drive();
  }

  /** Resolves when a request had this fault, and the killed program runs again. */
  async suffer(fault: Fault): Promise<void> {
    await new Promise<void>((done) => {
      this.#next = { fault, done };
    });
    if (fault.startsWith('influx')) await this.#influx.start();
    if (fault.startsWith('car')) {
      // The kills stand for power cuts. As crashes of one boot, the third would start the minimal mode, without exits.
      rmSync(join(this.#data, 'starts.json'), { force: true });
      this.#drive();
    }
  }

  /** Stops the car, hands over the rest, and returns the readings on both sides: path, time in ms, value; sorted. */
  async outcome(): Promise<{ readonly car: string[]; readonly influx: string[] }> {
    await this.#car?.end('SIGTERM');
    const { configuration } = loadConfiguration(this.#file, {});
    const exits = configuration?.exits;
    if (exits === undefined) throw new Error('the configuration has no exits');
    const store = await openStore(join(this.#data, 'outbox'));
    const options = {
      clock: new SystemClock(),
      log: new MemoryLog(),
      rest: new UnitRest(),
      agent: { timeKnown: true },
    };
    const numbered = openNumberedExits({ ...options, configuration: exits, vin: VIN, store });
    await Promise.all(numbered.running.map((one) => one.poke()));
    await numbered.close();
    const readings = [...store.records.list('telemetry')].flatMap(({ record }) =>
      readingsFromTelemetry(record as Telemetry),
    );
    const car = readings.map(({ slot, at, value }) => `${slot.path} ${at} ${String(shownValue(slot, value))}`);
    await store.close();
    return { car: car.sort(), influx: (await this.#stored()).sort() };
  }

  async remove(): Promise<void> {
    await this.#car?.end('SIGKILL');
    this.#proxy.closeAllConnections();
    this.#proxy.close();
    await this.#influx.remove();
    rmSync(this.#folder, { recursive: true, force: true });
  }

  get #data(): string {
    return join(this.#folder, 'data');
  }

  get #file(): string {
    return join(this.#folder, 'vigie.yaml');
  }

  #drive(): void {
    this.#car = new VigieProcess(['run', '--config', this.#file]);
  }

  async #stored(): Promise<string[]> {
    const { series = [] } = await this.#influx.query('SELECT value, flag, text FROM vigie GROUP BY path', 'cars');
    return series.flatMap(({ tags, values }) =>
      values.map(([ns, value, flag, text]) => {
        const [path = ''] = [tags?.['path']];
        return `${path} ${String(ns).slice(0, -6)} ${String(value ?? flag ?? text)}`;
      }),
    );
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
    if (fault === 'car killed before') await this.#car?.end('SIGKILL');
    if (fault === 'influx killed before') await this.#influx.kill();
    const status = fault?.endsWith('before') === true ? undefined : await this.#forward(request, body);
    if (fault === 'car killed after') await this.#car?.end('SIGKILL');
    if (fault === 'influx killed after') await this.#influx.kill();
    if (fault === undefined && status !== undefined) response.writeHead(status).end();
    else request.socket.destroy();
    done();
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
