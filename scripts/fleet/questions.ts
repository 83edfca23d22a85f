/** Requests to the hubs of a fleet while its cars drive. */
import { idOf } from '../../assembly/view.ts';
import { fleetVin } from './car.ts';
import type { FleetHub } from './engines.ts';
import type { FleetAnswers } from './table.ts';

/** Time in ms between two requests for Status. */
const ASK_INTERVAL_MS = 100;

/**
 * Asks the hubs in turn for the Status of some car. If a hub does not respond, asks the next one, as a client with
 * several hubs would.
 */
export class Questions implements FleetAnswers {
  /** If true, responses are counted. */
  counted = false;
  readonly answers: number[] = [];
  unheard = 0;
  elsewhere = 0;
  failed = 0;
  readonly #hubs: readonly FleetHub[];
  readonly #cars: number;
  #timer: NodeJS.Timeout | undefined;
  #asked = 0;

  constructor(hubs: readonly FleetHub[], cars: number) {
    this.#hubs = hubs;
    this.#cars = cars;
  }

  begin(): void {
    this.#timer = setInterval(() => void this.#ask(), ASK_INTERVAL_MS);
  }

  end(): void {
    clearInterval(this.#timer);
  }

  async #ask(): Promise<void> {
    const { counted } = this;
    const first = this.#asked++ % this.#hubs.length;
    const path = `/fleets/local/vehicles/${idOf(fleetVin(Math.floor(Math.random() * this.#cars)))}/status`;
    const began = performance.now();
    for (const hub of [...this.#hubs.slice(first), ...this.#hubs.slice(0, first)]) {
      const status = await statusOf(`${hub.url}${path}`);
      if (status !== 200 && status !== 404) continue;
      if (hub !== this.#hubs[first]) this.elsewhere++;
      if (status === 404) this.unheard++;
      else if (counted) this.answers.push(performance.now() - began);
      return;
    }
    this.failed++;
  }
}

/** Requests Status and returns the HTTP status code; undefined if the hub was killed. */
async function statusOf(url: string): Promise<number | undefined> {
  try {
    const response = await fetch(url);
    await response.arrayBuffer();
    return response.status;
  } catch {
    return undefined;
  }
}
