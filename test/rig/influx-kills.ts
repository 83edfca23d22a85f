/**
 * A car whose readings go to a real InfluxDB through a relay with faults. The rig then compares the readings of the car
 * with those in InfluxDB.
 */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { VigieProcess } from './bench.ts';
import { handOver } from './hand-over.ts';
import { InfluxRig } from './influx.ts';
import { InfluxRelay, type RequestFault, readingsIn } from './influx-relay.ts';

const VIN = 'VF30A00000B000042';

export class InfluxKills {
  readonly #folder = mkdtempSync(join(tmpdir(), 'vigie-influx-'));
  readonly #influx = new InfluxRig();
  readonly #relay = new InfluxRelay(this.#influx, async () => {
    await this.#car?.end('SIGKILL');
  });
  #car: VigieProcess | undefined;

  async start(): Promise<void> {
    await this.#influx.start();
    await this.#influx.query('CREATE DATABASE cars');
    await this.#relay.start();
    writeFileSync(
      this.#file,
      `configuration: 1
vin: ${VIN}
profile: bench
data: ${this.#data}
can: [{ bus: body, simulated: true }]
mqtt: { url: mqtt://127.0.0.1:1 }
outbox: { batch: 1s }
exits: { influx: { url: '${this.#relay.url}', database: cars } }
`,
    );
    this.#drive();
  }

  /** Resolves when a request had this fault, and the killed program runs again. */
  async suffer(fault: RequestFault): Promise<void> {
    await this.#relay.suffer(fault);
    if (fault.startsWith('sender')) {
      // The kills stand for power cuts. As crashes of one boot, the third would start the minimal mode, without exits.
      rmSync(join(this.#data, 'starts.json'), { force: true });
      this.#drive();
    }
  }

  /** Stops the car, hands over the rest, and returns the readings on both sides: path, time in ms, value; sorted. */
  async outcome(): Promise<{ readonly car: string[]; readonly influx: string[] }> {
    await this.#car?.end('SIGTERM');
    const car = await handOver(this.#file, this.#data, VIN);
    return { car, influx: (await readingsIn(this.#influx, 'cars')).map(({ text }) => text).sort() };
  }

  async remove(): Promise<void> {
    await this.#car?.end('SIGKILL');
    this.#relay.close();
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
}
