/** A car that is only a socket. With its own VIN, it publishes what a real agent published on a drive. */
import { downFilter, presenceTopic } from '../../protocol/topics.ts';
import type { Departure } from '../scenarios/drive.ts';
import { BareClient, type ClientOptions } from './client.ts';
import { publishPacket } from './packets.ts';

/** Largest number of unacknowledged messages: brokers with MQTT 5 accept 20 or more (Receive Maximum). */
const WINDOW = 16;
/** Packet identifier of a publication that does not belong to the drive. */
const PRESENCE = 65_534;
/** Time in s for which a broker keeps a message. */
const EXPIRY = 86_400;

/** Returns the VIN with number `index` in a fleet. ISO 3779 requires 17 characters. */
export function fleetVin(index: number): string {
  return `VF3VGEFLEET${String(index).padStart(6, '0')}`;
}

export interface BareCarOptions extends Pick<ClientOptions, 'host' | 'ports' | 'version'> {
  readonly index: number;
  /** Messages of the drive, fewer than 65,000. */
  readonly drive: readonly Departure[];
  /** Ratio of the car's time to real time. */
  readonly speed: number;
}

export class BareCar extends BareClient {
  /** Number of messages that the broker acknowledged. */
  taken = 0;
  takenBytes = 0;
  /** Number of repeated publications. */
  repeated = 0;
  readonly #car: BareCarOptions;
  readonly #vin: string;
  /** Time of departure; undefined while the car is parked. */
  #start: number | undefined;
  #next = 0;
  /** Positions in the drive of the messages that are not yet acknowledged. */
  readonly #inFlight = new Set<number>();

  constructor(car: BareCarOptions) {
    const vin = fleetVin(car.index);
    super({ ...car, node: car.index, clientId: vin, filter: downFilter(vin), will: presenceTopic(vin) });
    this.#car = car;
    this.#vin = vin;
  }

  /** True if all messages are acknowledged. */
  get arrived(): boolean {
    return this.#next === this.#car.drive.length && this.#inFlight.size === 0;
  }

  drive(start: number): void {
    this.#start = start;
  }

  override tick(now: number): void {
    super.tick(now);
    if (this.ready && this.#start !== undefined) this.#publish(now, this.#start);
  }

  protected override connected(now: number): void {
    const { version } = this.options;
    const online = { topic: presenceTopic(this.#vin), payload: Buffer.from('online'), id: PRESENCE, expiry: EXPIRY };
    this.write(publishPacket(version, { ...online, retain: true, repeated: false }), now);
    for (const place of this.#inFlight) {
      this.repeated++;
      this.#send(place, true, now);
    }
  }

  protected override acknowledged(id: number, now: number): void {
    const place = id - 1;
    if (!this.#inFlight.delete(place)) return;
    this.taken++;
    this.takenBytes += this.#car.drive[place]?.payload.length ?? 0;
    if (this.#start !== undefined) this.#publish(now, this.#start);
  }

  #publish(now: number, start: number): void {
    const { drive, speed } = this.#car;
    for (;;) {
      const departure = drive[this.#next];
      if (departure === undefined || this.#inFlight.size >= WINDOW || now < start + departure.after / speed) return;
      const place = this.#next++;
      this.#inFlight.add(place);
      this.#send(place, false, now);
    }
  }

  #send(place: number, repeated: boolean, now: number): void {
    const departure = this.#car.drive[place];
    if (departure === undefined) return;
    const { kind, payload, retain } = departure;
    const topic = `vigie/1/${this.#vin}/up/${kind}`;
    const id = place + 1;
    this.write(publishPacket(this.options.version, { topic, payload, id, retain, repeated, expiry: EXPIRY }), now);
  }
}
