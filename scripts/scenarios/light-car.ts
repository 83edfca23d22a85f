/** A car without frames: a real link that publishes a recorded drive under a VIN of its own. */
import { MqttLink } from '../../adapters/mqtt/index.ts';
import type { Log } from '../../agent/ports.ts';
import { VigieError } from '../../protocol/errors.ts';
import type { Departure } from './drive.ts';

/** Number `index` of a fleet; ISO 3779 has 17 characters. */
export function fleetVin(index: number): string {
  return `VF3VGEFLEET${String(index).padStart(6, '0')}`;
}

export class LightCar {
  readonly vin: string;
  readonly link: MqttLink;
  acknowledged = 0;
  acknowledgedBytes = 0;
  /** Publishes that were made again, because the link was lost. */
  repeated = 0;
  #up: (() => void)[] = [];

  constructor(index: number, url: string, log: Log) {
    this.vin = fleetVin(index);
    this.link = new MqttLink({ url, vin: this.vin, log, connectTimeout: 60_000, closeTimeout: 20_000 });
  }

  /** Resolves when it is up. */
  open(): Promise<void> {
    this.link.open({
      up: () => {
        for (const resolve of this.#up.splice(0)) resolve();
      },
      down: () => undefined,
      message: () => undefined,
    });
    return this.#connected();
  }

  /** Resolves when the broker has it, however often the link was lost meanwhile. */
  async publish({ kind, payload }: Departure): Promise<void> {
    const outgoing = { topic: `vigie/1/${this.vin}/up/${kind}`, payload, retain: false, expiry: 86_400 };
    for (;;) {
      try {
        await this.link.publish(outgoing);
        this.acknowledged++;
        this.acknowledgedBytes += payload.length;
        return;
      } catch (error) {
        if (!(error instanceof VigieError) || error.code !== 'link.lost') throw error;
        this.repeated++;
        await this.#connected();
      }
    }
  }

  async #connected(): Promise<void> {
    while (!this.link.connected) await new Promise<void>((resolve) => this.#up.push(resolve));
  }
}
