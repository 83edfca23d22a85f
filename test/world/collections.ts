/** Custom signals and collections around the agent of a unit: real parts, with the signals of the world. */

import { Collector } from '../../agent/collect/collector.ts';
import type { PreparedCollection } from '../../agent/collect/running-collection.ts';
import type { SignalParts } from '../../agent/options.ts';
import type { Clock, FrameBatch, FrameDecoder, Log, Memory } from '../../agent/ports.ts';
import type { MakeRecorder, Recorder, RecorderParts } from '../../agent/recorders/recorder.ts';
import type { AgentCommand } from '../../agent/remotes/agent-command.ts';
import { CustomSignals } from '../../agent/signals/custom-signals.ts';
import { deflate } from '../../assembly/deflate.ts';
import { defined } from '../../protocol/defined.ts';
import { VigieError } from '../../protocol/errors.ts';
import type { CollectOrder, HelloCollect } from '../../protocol/schema/collect.ts';
import type { ClockQuality } from '../../protocol/schema/message.ts';
import type { WorldCar } from './car.ts';
import { collectedSignal, profilesOfSignals, type RawSignal, rawSignals } from './signals.ts';

/** More bytes than a world collects. */
const BYTES_PER_DAY = 1e9;
const INTERVAL = 1_000;
const buses: readonly string[] = [];

export interface CollectionsParts {
  readonly car: WorldCar;
  /** Number of the car's profile in this run. */
  readonly variant: number;
  readonly clock: Clock & { quality(): ClockQuality };
  readonly log: Log;
  readonly memory: Memory;
  readonly commit: () => Promise<void>;
  /** Makes the agent send a `hello` message. */
  readonly hello: () => void;
  /** Time that readings wait to be sent together, ms. */
  readonly batch: number;
}

/** Collections in one run of an agent. */
export class WorldCollections implements Recorder {
  readonly name = 'collect';
  readonly watches = [];
  readonly #parts: CollectionsParts;
  #recorderParts: RecorderParts | undefined;
  #custom: CustomSignals | undefined;
  #collector: Collector | undefined;
  #isResuming = true;

  constructor(parts: CollectionsParts) {
    this.#parts = parts;
  }

  readonly signals = (parts: SignalParts): CustomSignals => {
    this.#custom = new CustomSignals(profilesOfSignals[this.#parts.variant] ?? [], parts);
    return this.#custom;
  };

  readonly recorder: MakeRecorder = (parts) => {
    this.#recorderParts = parts;
    return this;
  };

  /** Restores the collections of an earlier run, once the agent has started. */
  resume(): void {
    const { clock, log, memory, commit, hello, batch } = this.#parts;
    if (this.#recorderParts === undefined || this.#custom === undefined) throw new Error('the agent is not built');
    this.#collector = new Collector({
      ...this.#recorderParts,
      clock,
      log,
      memory,
      commit,
      deflate,
      batch,
      bytesPerDay: BYTES_PER_DAY,
      quality: () => clock.quality(),
      numbers: this.#custom.numbers,
      prepare: (order) => this.#prepare(order),
      changed: () => {
        if (!this.#isResuming) hello();
      },
    });
    const collector = this.#collector;
    memory.keep(() => collector.states());
    collector.resume();
    this.#isResuming = false;
  }

  readonly order: AgentCommand = async (body, at) => {
    if (this.#collector === undefined) throw new Error('a command came before the agent was built');
    return this.#collector.order(body, at);
  };

  /** As in `assembly/collect.ts`. */
  take(batch: FrameBatch): void {
    this.#collector?.take(batch, buses);
  }

  /** Report of collections in hello. */
  get running(): HelloCollect['running'] {
    return this.#collector?.hello()?.running ?? [];
  }

  hello(): { readonly collect?: HelloCollect } {
    const collect = this.#collector?.hello();
    return defined({ collect });
  }

  tick(now: number): void {
    this.#collector?.tick(now);
  }

  flush(): void {
    this.#collector?.flush();
  }

  correct(by: number, latest: number): void {
    this.#collector?.correct(by, latest);
  }

  #prepare({ signals, interval = INTERVAL }: CollectOrder): PreparedCollection {
    const raws = signals.map(({ signal }) => signal.split('.')[1] as RawSignal);
    const unknown = raws.find((raw) => !rawSignals.includes(raw));
    if (unknown !== undefined) throw new VigieError('input.unknown', `the car has no signal ${unknown}`);
    const { car } = this.#parts;
    return {
      signals: signals.map((one, place) =>
        collectedSignal(one.name ?? one.signal, raws[place] as RawSignal, one.interval ?? interval),
      ),
      decoder: () => decoderOf(car, raws),
    };
  }
}

/** Decodes these signals of the frames that the car sends now. */
function decoderOf(car: WorldCar, raws: readonly RawSignal[]): FrameDecoder {
  return {
    decode: (batch, sink) => {
      for (let frame = 0; frame < batch.count; frame++) {
        const at = batch.at[frame] as number;
        for (const [place, signal] of raws.entries()) {
          const raw = car.raws[frame]?.[signal] as number;
          sink.reading(place, raw, raw, at);
        }
        sink.settled(at);
      }
    },
  };
}
