import type { StatusReader } from '../agent/model/status.ts';
import { decodeMessage } from '../protocol/cbor/message.ts';
import { counted } from '../protocol/counted.ts';
import { readableBody } from '../protocol/readable.ts';
import type { Message } from '../protocol/schema/message.ts';
import { Catalogs } from '../protocol/signals/catalog.ts';

/** Data for the report about the car. */
export interface Told {
  readonly status: Pick<StatusReader, 'contents'>;
  /** Number of messages that the broker has not acknowledged. */
  readonly waiting: number;
}

/** Report of a running bench: prints each event of the car, and the car's state when `tell` is called. */
export class BenchReport {
  /** Returns UTC milliseconds. */
  readonly #now: () => number;
  readonly #write: (line: string) => void;
  readonly #topics = new Set<string>();
  /** Trips whose start was printed: an open trip is sent in several messages. */
  readonly #trips = new Set<string>();
  readonly #catalogs = new Catalogs();
  #bytes = 0;
  #json = 0;
  #acknowledged = 0;
  /** Number of acknowledged messages at the previous call of `tell`. */
  #told = 0;

  constructor(now: () => number, write: (line: string) => void) {
    this.#now = now;
    this.#write = write;
  }

  /** Call when the broker has acknowledged a message. */
  published(topic: string, payload: Uint8Array): void {
    this.#acknowledged++;
    if (!this.#topics.has(topic)) {
      this.#topics.add(topic);
      this.#write(`published ${topic} (${counted(payload.byteLength, 'byte')} of CBOR)`);
    }
    const message = decodeMessage(payload);
    this.#count(message, payload.byteLength);
    const event = this.#eventOf(message);
    if (event !== undefined) this.#line(event);
  }

  /** Total size of the acknowledged messages, and their total size as JSON. */
  get sizes(): { readonly bytes: number; readonly json: number } {
    return { bytes: this.#bytes, json: this.#json };
  }

  #count(message: Message, bytes: number): void {
    // The readable form of a capture omits its frames, so its size cannot be compared.
    if (message.kind === 'capture') return;
    this.#bytes += bytes;
    this.#json += Buffer.byteLength(JSON.stringify({ ...message, body: readableBody(message, this.#catalogs) }));
  }

  /** Prints the current state of car and link. */
  tell({ status, waiting }: Told): void {
    const fresh = this.#acknowledged - this.#told;
    this.#told = this.#acknowledged;
    const link =
      fresh === 0 && waiting > 0
        ? `the broker acknowledges nothing, ${counted(waiting, 'message waits', 'messages wait')} for it`
        : `${counted(this.#acknowledged, 'message')} published`;
    this.#line(`${stateOf(status)}; ${link}`);
  }

  #line(text: string): void {
    this.#write(`${new Date(this.#now()).toISOString().slice(11, 19)} ${text}`);
  }

  #eventOf(message: Message): string | undefined {
    switch (message.kind) {
      case 'trip': {
        const { id, done = false, distance, duration } = message.body;
        if (done) {
          this.#trips.delete(id);
          const way = distance === undefined ? '' : `: ${distance} km`;
          return `trip ended${way}${duration === undefined ? '' : ` in ${duration} s`}`;
        }
        if (this.#trips.has(id)) return undefined;
        this.#trips.add(id);
        return 'trip began';
      }
      case 'alert':
        return `alert ${message.body.type} ${message.body.active ? 'began' : 'ended'}`;
      case 'stolen':
        return `the car ${message.body.state ? 'counts as stolen' : 'no longer counts as stolen'}`;
      case 'collision':
        return 'collision recorded';
      case 'alarm':
        return `alarm ${message.body.trigger?.type ?? message.body.status?.activation ?? ''}`;
      case 'event':
        return message.body.refresh || message.body.complement ? undefined : `monitor ${message.body.monitorId} fired`;
      case 'remote': {
        const { type, status, failureCause } = message.body;
        return `command ${type}: ${status}${failureCause === undefined ? '' : ` (${failureCause})`}`;
      }
      case 'gap':
        return `${counted(message.body.count, `${message.body.lost} message`)} given up`;
      default:
        return undefined;
    }
  }
}

function stateOf(status: Told['status']): string {
  const { kinetic, ignition, doorsState, energies } = status.contents();
  const speed = Math.round(kinetic?.speed ?? 0);
  const motion = speed > 0 ? `the car drives at ${speed} km/h` : 'the car stands';
  const charging = energies?.some(({ extension }) => extension?.electric?.charging?.status === 'InProgress') === true;
  const details = [
    ...(ignition?.type === undefined ? [] : [`ignition ${ignition.type}`]),
    ...(doorsState?.lockedStates === undefined ? [] : [`doors ${doorsState.lockedStates.join(' ')}`]),
    ...(charging ? ['charging'] : []),
  ];
  return [motion, ...details].join(', ');
}
