import { VigieError } from '../protocol/errors.ts';
import type { RemoteReport } from '../protocol/schema/remote.ts';
import { type DownKind, downKind } from '../protocol/topics.ts';
import { decodeWatch } from '../protocol/watch.ts';
import type { Log, Memory, Publisher } from './ports.ts';
import type { ArrivedCommand } from './remotes/command-intake.ts';
import { Remotes, type RemotesOptions } from './remotes/remotes.ts';
import { type OrderOfCallback, Requests, type Signer } from './remotes/requests.ts';

interface DownlinkParts extends Omit<RemotesOptions, 'memory'> {
  readonly memory: Memory;
  /** The unit's own key. */
  readonly signer?: Signer | undefined;
  /** Called for each command at the interface. Throws the reason to refuse the command. */
  readonly setOrigin: (id: string, order: OrderOfCallback) => void;
  /** Called for each state of a command, in the commit of its message. */
  readonly reported: (report: RemoteReport) => void;
  /** Called with the time until which a client watches the car, UTC ms. */
  readonly watched: (until: number) => void;
}

/** Messages to the car: commands from the broker and from its own HTTP interface. */
export class Downlink {
  readonly requests: Requests;
  readonly #vin: string;
  readonly #log: Log;
  readonly #remotes: Remotes;
  readonly #watched: DownlinkParts['watched'];

  constructor(parts: DownlinkParts) {
    const { vin, log, publisher, reported } = parts;
    this.#vin = vin;
    this.#log = log;
    this.#watched = parts.watched;
    const recording: Publisher = {
      put: (kind, body, options) => publisher.put(kind, body, options),
      secure: async (kind, body, options) => {
        if (kind !== 'remote') return publisher.secure(kind, body, options);
        const report = body as RemoteReport;
        // The changes that these calls make are written in the same commit.
        this.requests.reported(report);
        reported(report);
        await publisher.secure(kind, body, options);
        this.requests.heard(report.remoteActionId);
      },
    };
    const arrived = (command: ArrivedCommand): void => this.requests.arrived(command);
    this.#remotes = new Remotes({ ...parts, publisher: recording, arrived });
    this.requests = new Requests({ ...parts, receive: (payload) => this.#remotes.intake.receive(payload) });
    this.requests.recall(parts.memory, (id) => parts.ledger.find(id) !== undefined);
  }

  /** Processes a message on one of the car's down topics, from any sender. Never throws. */
  message(topic: string, payload: Uint8Array, correlation: Uint8Array | undefined): void {
    if (!this.#remotes.intake.admits()) return;
    const kind: DownKind | undefined = downKind(this.#vin, topic);
    if (kind === undefined || kind === 'ack') {
      this.#log.warn('downlink.unknown', { topic });
      return;
    }
    if (kind === 'watch') {
      this.#watch(topic, payload);
      return;
    }
    // The signed content determines the kind of a command. Topics only separate the rights at the broker.
    this.#remotes.intake.message(payload, correlation);
  }

  /** Completes commands that a power cut interrupted; the commands themselves log failures. */
  resume(): void {
    this.#remotes.resume().catch(this.#complain);
  }

  /** Call after the unit fell asleep or woke. */
  rested(): void {
    this.#remotes.rested();
  }

  stop(): void {
    this.#remotes.stop();
  }

  /** Resolves when no write of commands is in progress any more. */
  settled(): Promise<void> {
    return this.#remotes.settled();
  }

  /** Returns the state for {@link Memory}. */
  *states(): Generator<readonly [key: string, value: unknown]> {
    yield* this.#remotes.states();
    yield* this.requests.states();
  }

  #watch(topic: string, payload: Uint8Array): void {
    try {
      this.#watched(decodeWatch(payload).until);
    } catch (error) {
      if (!(error instanceof VigieError)) throw error;
      this.#log.warn('downlink.malformed', { topic, error: error.message });
    }
  }

  readonly #complain = (error: Error): void => {
    this.#log.error('agent.workFailed', { error: error.message });
  };
}
