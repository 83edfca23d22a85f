/**
 * Sends the present values of a car to A Better Routeplanner, in the fields of its published telemetry interface
 * (Iternio, `1/tlm/send`). It plans with present values, so values of an outage are not sent later.
 */
import type { StatusReader } from '../../agent/model/status.ts';
import type { Clock, Log } from '../../agent/ports.ts';
import { defined } from '../../protocol/defined.ts';
import { reasonOf, VigieError } from '../../protocol/errors.ts';
import { reachesPowerOfTwo } from '../../protocol/powers-of-two.ts';
import { type Slot, type SlotValue, slotByPath } from '../../protocol/slots.ts';
import type { ForwarderReport } from './forwarder.ts';

/** Times in ms between two messages while the car drives or charges, and otherwise. */
const ACTIVE_INTERVAL_MS = 10_000;
const IDLE_INTERVAL_MS = 1_800_000;
/** Time in ms without a response after which a request has failed. */
const TIMEOUT_MS = 10_000;

const CHARGING = 'energies.Electric.extension.electric.charging';
const STATE_OF_CHARGE = 'energies.Electric.level';
const MOVING = 'kinetic.moving';

/** Fields that are values of Status, in the unit of Status divided by `per`. */
const FIELDS: readonly (readonly [field: string, path: string, per?: number])[] = [
  ['soc', STATE_OF_CHARGE],
  ['speed', 'kinetic.speed'],
  ['lat', 'lastPosition.latitude'],
  ['lon', 'lastPosition.longitude'],
  ['elevation', 'lastPosition.altitude'],
  ['heading', 'lastPosition.heading'],
  ['capacity', 'energies.Electric.extension.electric.battery.load.capacity', 1_000],
  ['soe', 'energies.Electric.extension.electric.battery.load.residual', 1_000],
  ['soh', 'energies.Electric.extension.electric.battery.health.capacity'],
  ['est_battery_range', 'energies.Electric.autonomy'],
  ['ext_temp', 'environment.air.temp'],
  ['odometer', 'odometer.mileage'],
];

export interface AbrpOptions {
  /** Address of the interface, without `/1/tlm/send`. */
  readonly url: string;
  /** Returns the key of the program. Called for each message, as `token`. */
  readonly apiKey: () => string;
  /** Returns the token of the car. */
  readonly token: () => string;
  readonly status: StatusReader;
  /** Returns true if the exit may send the value. */
  readonly sees: (slot: Slot) => boolean;
  /** Returns true if the time of the car is known. */
  readonly timeKnown: () => boolean;
  readonly clock: Clock;
  readonly log: Log;
}

export class AbrpExit {
  readonly #options: AbrpOptions;
  readonly #closing = new AbortController();
  #cancel: (() => void) | undefined;
  #running: Promise<void> | undefined;
  #sentAt = Number.NEGATIVE_INFINITY;
  #failures = 0;
  #error: string | undefined;
  #succeededAt: number | undefined;

  constructor(options: AbrpOptions) {
    this.#options = options;
  }

  /** Sends a message if one is due, and looks again after the shorter interval. Resolves after the answer. */
  poke(): Promise<void> {
    this.#cancel?.();
    this.#cancel = undefined;
    this.#running ??= this.#round().then(() => {
      this.#running = undefined;
      if (this.#closing.signal.aborted) return;
      this.#cancel = this.#options.clock.after(ACTIVE_INTERVAL_MS, () => void this.poke());
    });
    return this.#running;
  }

  get report(): Omit<ForwarderReport, 'name'> {
    const [error, succeededAt] = [this.#error, this.#succeededAt];
    return { waiting: 0, lost: 0, refused: 0, ...defined({ error, succeededAt }) };
  }

  /** Sends a message now. Rejects if the values for it are not known, or with the reason of the failure. */
  async test(): Promise<void> {
    const message = this.#message();
    if (message === undefined) throw new VigieError('input.unknown', 'the charge or the time is not known yet');
    await this.#send(message);
    if (this.#error !== undefined) throw new VigieError('link.refused', this.#error);
  }

  close(): void {
    this.#closing.abort();
    this.#cancel?.();
  }

  async #round(): Promise<void> {
    const { clock } = this.#options;
    const due = this.#sentAt + (this.#isActive() ? ACTIVE_INTERVAL_MS : IDLE_INTERVAL_MS) <= clock.monotonic();
    const message = due ? this.#message() : undefined;
    if (message === undefined) return;
    this.#sentAt = clock.monotonic();
    await this.#send(message);
  }

  #isActive(): boolean {
    return this.#read(MOVING, true) === true || this.#read(`${CHARGING}.status`, true) === 'InProgress';
  }

  /** Returns the fields that are known, or undefined if the state of charge or the time is not. */
  #message(): Readonly<Record<string, unknown>> | undefined {
    const { clock, timeKnown } = this.#options;
    const active = this.#isActive();
    const message: Record<string, unknown> = { utc: Math.round(clock.now() / 1_000) };
    for (const [field, path, per = 1] of FIELDS) {
      const value = this.#read(path, active);
      if (typeof value === 'number') message[field] = value / per;
    }
    if (message['soc'] === undefined || !timeKnown()) return undefined;
    const charging = this.#read(`${CHARGING}.status`, active);
    const mode = this.#read(`${CHARGING}.chargingMode`, active);
    const moving = this.#read(MOVING, active);
    if (charging !== undefined) message['is_charging'] = charging === 'InProgress';
    if (charging === 'InProgress' && mode !== undefined) message['is_dcfc'] = mode === 'Quick';
    if (moving !== undefined) message['is_parked'] = moving === false;
    return message;
  }

  /** Returns the value if the exit may send it. `fresh`: only if its source is not silent. */
  #read(path: string, fresh: boolean): SlotValue | undefined {
    const { status, sees, clock } = this.#options;
    const slot = slotByPath.get(path);
    if (slot === undefined || !sees(slot) || (fresh && !status.fresh(slot, clock.now()))) return undefined;
    return status.value(slot);
  }

  async #send(message: Readonly<Record<string, unknown>>): Promise<void> {
    const { url, apiKey, token, log, clock } = this.#options;
    try {
      const response = await fetch(`${url.replace(/\/$/, '')}/1/tlm/send`, {
        method: 'POST',
        redirect: 'error',
        headers: { authorization: `APIKEY ${apiKey()}`, 'content-type': 'application/json' },
        body: JSON.stringify({ token: token(), tlm: message }),
        signal: AbortSignal.any([AbortSignal.timeout(TIMEOUT_MS), this.#closing.signal]),
      });
      const answer: unknown = await response.json();
      const { status } = (answer ?? {}) as { readonly status?: unknown };
      if (response.status !== 200 || status !== 'ok') throw new Error(`answer ${response.status}, ${String(status)}`);
      this.#failures = 0;
      this.#error = undefined;
      this.#succeededAt = Math.round(clock.now());
    } catch (error) {
      if (this.#closing.signal.aborted) return;
      this.#failures++;
      this.#error = reasonOf(error);
      if (!reachesPowerOfTwo(this.#failures - 1, this.#failures)) return;
      log.warn('exit.abrpFailed', { reason: this.#error, times: this.#failures });
    }
  }
}
