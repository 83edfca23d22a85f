/** A hub and simulated cars at a broker. Each is a process of its own. */
import { copyFileSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as after } from 'node:timers/promises';
import { openStore } from '../../adapters/store/index.ts';
import { classes } from '../../protocol/classes.ts';
import { VigieProcess } from '../../test/rig/bench.ts';

const LOOK_MS = 250;
const SETTLE_MS = 240_000;
/** Number of looks between two requests for missing messages, and without a missing one. */
const LOOKS_PER_REQUEST = 40;
const QUIET_LOOKS = 20;

/** First and last number of each run. */
type Runs = readonly (readonly [first: number, last: number])[];

interface ClassNumbers {
  readonly class: number;
  readonly arrived: Runs;
  readonly givenUp: Runs;
}

export interface CutsOutcome {
  /** Number of messages that the broker has acknowledged to the cars. */
  readonly acknowledged: number;
  /** Those that the hub has not. */
  readonly missing: readonly string[];
}

export class CarsAndHub {
  readonly #folder: string;
  readonly #vins: readonly string[];
  readonly #cars: VigieProcess[] = [];
  #hub: VigieProcess | undefined;
  #file = '';
  #broker = '';
  #missing = 0;
  #cancel: (() => void) | undefined;
  /** Number of messages that the hub found missing, and requested, so far. */
  requested = 0;

  constructor(folder: string, cars: number) {
    this.#folder = folder;
    this.#vins = Array.from({ length: cars }, (_, i) => `VF3VGEBENCH${String(i + 1).padStart(6, '0')}`);
  }

  async start(broker: string, database: string, secretFile: string): Promise<void> {
    const data = this.#data('hub');
    mkdirSync(data, { recursive: true });
    this.#file = join(data, 'hub.yaml');
    writeFileSync(
      this.#file,
      `hub: 1
name: one
data: ${data}
broker: { url: '${broker}', group: cars }
database: { url: '${database}', secretFile: '${secretFile}' }
http: { listen: '127.0.0.1:0' }
`,
    );
    await this.attend();
    for (const vin of this.#vins) {
      const keys = join(this.#data(vin), 'keys');
      mkdirSync(keys, { recursive: true });
      copyFileSync(join(data, 'keys', 'trust.json'), join(keys, 'trust.json'));
    }
    this.#broker = broker;
    await this.#startCars();
    const looking = setInterval(() => void this.#look(), LOOK_MS);
    this.#cancel = () => clearInterval(looking);
  }

  /** Starts the hub if it is not running. */
  async attend(): Promise<void> {
    if (this.#hub !== undefined) return;
    this.#hub = new VigieProcess(['hub', '-c', this.#file]);
    await this.#hub.says('Ctrl-C ends');
  }

  async leave(): Promise<void> {
    await this.#hub?.end('SIGTERM');
    this.#hub = undefined;
  }

  /** Resolves when each car has sent what it has, nothing is missing any more, and the cars have ended. */
  async end(): Promise<CutsOutcome> {
    await this.attend();
    await this.#untilNoneMissing();
    // At its next start a car reports its numbers, so that the hub also notices a missing newest message.
    await this.#endCars();
    await this.#startCars();
    await this.#untilNoneMissing();
    await this.#endCars();
    const deadline = performance.now() + SETTLE_MS;
    for (;;) {
      const outcome = await this.#outcome();
      if (outcome.missing.length === 0 || performance.now() > deadline) return outcome;
      await after(1_000);
    }
  }

  async remove(): Promise<void> {
    this.#cancel?.();
    await Promise.all([this.#hub, ...this.#cars].map((one) => one?.end('SIGKILL')));
  }

  async #startCars(): Promise<void> {
    for (const vin of this.#vins) {
      const where = ['--broker', this.#broker, '--data', this.#data(vin), '--vin', vin, '--http', '0'];
      const car = new VigieProcess(['bench', ...where]);
      this.#cars.push(car);
      await car.says('Ctrl-C');
    }
  }

  async #endCars(): Promise<void> {
    await Promise.all(this.#cars.splice(0).map((car) => car.end('SIGTERM')));
  }

  #data(name: string): string {
    return join(this.#folder, name);
  }

  async #outcome(): Promise<CutsOutcome> {
    let acknowledged = 0;
    const missing: string[] = [];
    for (const vin of this.#vins) {
      const store = await openStore(join(this.#data(vin), 'outbox'));
      const kept = await this.#ask<{ readonly classes: readonly ClassNumbers[] }>(`/vigie/v1/vehicles/${vin}/numbers`);
      for (const number of classes.keys()) {
        const end = store.outbox.firstWaiting(number) ?? store.outbox.nextSeq(number);
        const { arrived = [], givenUp = [] } = kept?.classes.find((one) => one.class === number) ?? {};
        const known = new Set([...arrived, ...givenUp].flatMap(([first, last]) => numbers(first, last)));
        acknowledged += end;
        missing.push(...numbers(0, end - 1).flatMap((seq) => (known.has(seq) ? [] : [`${vin} ${number}/${seq}`])));
      }
      await store.close();
    }
    return { acknowledged, missing };
  }

  /** Has the hub ask at once: by itself it waits for minutes after a request that a cut took. */
  async #untilNoneMissing(): Promise<void> {
    const deadline = performance.now() + SETTLE_MS;
    for (let looks = 0, quiet = 0; quiet < QUIET_LOOKS && performance.now() < deadline; looks++) {
      if (this.#missing > 0 && looks % LOOKS_PER_REQUEST === 0) await this.#requestMissing();
      await after(LOOK_MS);
      quiet = this.#missing === 0 ? quiet + 1 : 0;
    }
  }

  async #requestMissing(): Promise<void> {
    for (const vin of this.#vins) {
      const { status } = await fetch(`${this.#url}/vigie/v1/vehicles/${vin}/resend`, { method: 'POST' });
      if (status !== 202) throw new Error(`the hub answered ${status} to a request for the missing messages of ${vin}`);
    }
  }

  get #url(): string | undefined {
    return /http:\/\/127\.0\.0\.1:\d+/.exec(this.#hub?.output ?? '')?.[0];
  }

  async #look(): Promise<void> {
    const found = await this.#ask<{ readonly missing: number }>('/vigie/v1/vehicles?pageSize=1');
    if (found === undefined) return;
    this.requested += Math.max(0, found.missing - this.#missing);
    this.#missing = found.missing;
  }

  /** Resolves with undefined while the hub does not answer. */
  async #ask<T>(path: string): Promise<T | undefined> {
    try {
      const response = await fetch(`${this.#url}${path}`);
      return response.ok ? ((await response.json()) as T) : undefined;
    } catch {
      return undefined;
    }
  }
}

function numbers(first: number, last: number): readonly number[] {
  return Array.from({ length: Math.max(0, last - first + 1) }, (_, i) => first + i);
}
