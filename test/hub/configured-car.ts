/** The whole agent as `vigie run` builds it, on simulated time, with a configuration that a hub can replace. */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Car } from '../../assembly/car.ts';
import { startConfigured } from '../../assembly/configured.ts';
import { beginRecords } from '../../assembly/directory.ts';
import { Configurations, type Unwritten } from '../../assembly/generation.ts';
import { Service, Starts } from '../../assembly/service.ts';
import type { Vehicle } from '../../assembly/vehicle.ts';
import type { IdentifiedConfiguration } from '../../config/configuration.ts';
import type { TestClock } from '../commands/remote-car.ts';
import { MemoryLog } from '../rig/log.ts';

export interface ConfiguredCarOptions {
  readonly vin: string;
  readonly url: string;
  /** File with the keys that may command the car. */
  readonly trust: string;
  readonly clock: TestClock;
}

export class ConfiguredCar {
  readonly vin: string;
  readonly log = new MemoryLog();
  /** The configuration in use. */
  configuration: IdentifiedConfiguration | undefined;
  vehicle: Vehicle | undefined;
  readonly #options: ConfiguredCarOptions;
  readonly #folder = mkdtempSync(join(tmpdir(), 'vigie-configured-'));
  #end: () => void = () => undefined;
  #ended: Promise<void> = Promise.resolve();

  constructor(options: ConfiguredCarOptions) {
    this.vin = options.vin;
    this.#options = options;
    mkdirSync(join(this.#folder, 'records'));
    writeFileSync(join(this.#folder, 'drive.log'), frames([0, 1]));
    writeFileSync(join(this.#folder, 'vigie.yaml'), `vin: ${options.vin}\n${configurationOf(options)}`);
  }

  /** Runs until {@link stop}. Restarts after each change of the configuration. */
  start(): void {
    let goesOn = true;
    const told = new Promise<void>((resolve) => {
      this.#end = () => {
        goesOn = false;
        resolve();
      };
    });
    const unwritten: Unwritten = {};
    this.#ended = (async () => {
      while (goesOn) await this.#run(told, unwritten);
    })();
  }

  async stop(): Promise<void> {
    this.#end();
    await this.#ended;
  }

  async remove(): Promise<void> {
    await this.stop();
    rmSync(this.#folder, { recursive: true, force: true });
  }

  async #run(told: Promise<void>, unwritten: Unwritten): Promise<void> {
    const { clock, vin } = this.#options;
    const { log } = this;
    const [file, data] = [join(this.#folder, 'vigie.yaml'), join(this.#folder, 'records')];
    await beginRecords(data, log);
    const starts = await Starts.open(data, log);
    const environment = {};
    const configurations = await Configurations.open({ file, data, environment, clock, log, unwritten, vin });
    const { configuration, vehicle } = await configurations.choose();
    [this.configuration, this.vehicle] = [configuration, vehicle];
    const { profile } = configuration;
    const service = await Service.open({ vin, profile, data, clock, log, environment, configurations, starts });
    let car: Car | undefined;
    try {
      car = await startConfigured(configuration, { vehicle, data, clock, log, monitors: undefined, service });
      await Promise.race([told, configurations.changed]);
    } finally {
      configurations.close();
      await car?.stop();
      await service.close(true);
    }
  }
}

/** A log with a frame at each of these seconds. */
function frames(seconds: readonly number[]): string {
  return seconds.map((second) => `(170000000${second}.000000) can0 100#0000000000000000\n`).join('');
}

/** A configuration that is valid for any car at this broker. */
export function configurationOf(
  { url, trust }: Pick<ConfiguredCarOptions, 'url' | 'trust'>,
  profile = 'bench',
): string {
  return `configuration: 1
profile: ${profile}
data: ./records
can: [{ bus: body, log: drive.log }]
mqtt: { url: ${url} }
commands: { trust: ${trust} }
`;
}
