import { defined } from '../../protocol/defined.ts';
import type { DeliveringSource, SourceKind, TrialSource } from '../configuration/trial.ts';
import type { Clock, FrameSource, ReadingSink, ReadingSource, SourceHealth } from '../ports.ts';

/** Facts about one source. */
export interface SourceVitals {
  readonly name: string;
  readonly state: SourceHealth['state'];
  /** Reason for the wait. */
  readonly reason?: string;
  /** Number of frames, or of deliveries for a source of readings. */
  readonly frames: number;
  /** Milliseconds since the source's last delivery. Omitted if it never delivered. */
  readonly silence?: number;
  /** The source's own counts since the start, by name. */
  readonly counts: Readonly<Record<string, number>>;
}

/** Time in ms after which a source that still opens counts as stuck: serial adapters search for half a minute. */
const OPENING = 180_000;
/**
 * Silence in ms after which a source is stuck, if it delivered before, reports that it runs, and the car was in use all
 * that time. Long enough that a broken wire, which looks the same from here, causes at most two restarts in 10 minutes.
 */
const SILENCE = 300_000;

/** Time in ms after a frame for which a bus counts as carrying frames. */
const SPEAKS_MS = 5_000;

/** Wraps a source and counts its deliveries. */
class Meter {
  readonly name: string;
  readonly kind: SourceKind;
  readonly #clock: Clock;
  readonly #health: (() => SourceHealth) | undefined;
  readonly #first: (source: DeliveringSource) => void;
  #frames = 0;
  #readings = 0;
  /** Number of frames on the bus at the last look, and the last look at which it had changed. */
  #heard: number | undefined;
  #heardAt = Number.NEGATIVE_INFINITY;
  #last: number | undefined;
  #openingSince: number | undefined;

  /** `first` is called at the first reading. */
  constructor(
    { kind, name }: DeliveringSource,
    clock: Clock,
    health: (() => SourceHealth) | undefined,
    first: (source: DeliveringSource) => void,
  ) {
    this.name = name;
    this.kind = kind;
    this.#clock = clock;
    this.#health = health;
    this.#first = first;
  }

  read(readings: number): void {
    const isFirst = this.#readings === 0 && readings > 0;
    this.#readings += readings;
    if (isFirst) this.#first(this);
  }

  get activity(): TrialSource {
    const { name, kind } = this;
    const { state, reason, frames, counts } = this.vitals();
    // A bus may carry frames that the kernel keeps from the agent, because the profile names none of them.
    const heard = frames + Math.max(0, (counts['interfaceFrames'] ?? 0) - (counts['sent'] ?? 0));
    const now = this.#clock.monotonic();
    if (this.#heard === undefined ? frames > 0 : heard !== this.#heard) this.#heardAt = now;
    this.#heard = heard;
    const speaks = now - this.#heardAt <= SPEAKS_MS;
    return { name, kind, state, ...defined({ reason }), speaks, readings: this.#readings };
  }

  readonly delivered = (frames: number): void => {
    this.#frames += frames;
    this.#last = this.#clock.monotonic();
  };

  vitals(): SourceVitals {
    const { state, reason, counts } = this.#health?.() ?? { state: 'running', reason: undefined, counts: {} };
    return {
      name: this.name,
      state,
      ...defined({ reason }),
      frames: this.#frames,
      ...(this.#last === undefined ? {} : { silence: Math.round(this.#clock.monotonic() - this.#last) }),
      counts,
    };
  }

  /** Returns the reason why the source is stuck, or undefined. `used`: ms for which the car has been in use, or 0. */
  stuck(used: number): string | undefined {
    const { state, silence } = this.vitals();
    const now = this.#clock.monotonic();
    this.#openingSince = state === 'opening' ? (this.#openingSince ?? now) : undefined;
    if (this.#openingSince !== undefined && now - this.#openingSince > OPENING) {
      return `source ${this.name} has been opening for ${seconds(now - this.#openingSince)}`;
    }
    // A source without any delivery since this start has a wiring fault, which no restart repairs; a source without
    // a report, such as a log, may have reached its end.
    const claims = this.#health !== undefined && state === 'running';
    if (claims && silence !== undefined && Math.min(silence, used) > SILENCE) {
      return `source ${this.name} says that it runs and gave nothing for ${seconds(silence)}`;
    }
    return undefined;
  }
}

interface SourceWatchOptions {
  /** Returns the number of readings of the agent, from all sources. */
  readonly readings: () => number;
  /** Called when a source delivers its first reading. */
  readonly first: (source: DeliveringSource) => void;
}

/** Counts the deliveries of the agent's sources, and reports which sources are stuck. */
export class SourceWatch {
  readonly #clock: Clock;
  readonly #options: SourceWatchOptions;
  readonly #meters: Meter[] = [];
  #usedSince: number | undefined;

  constructor(clock: Clock, options: SourceWatchOptions = { readings: () => 0, first: () => undefined }) {
    this.#clock = clock;
    this.#options = options;
  }

  /** Wraps a source of frames. */
  frames(name: string, source: FrameSource): FrameSource {
    const meter = this.#meter('frames', name, source.health?.bind(source));
    const { readings } = this.#options;
    return {
      get buses() {
        return source.buses;
      },
      start: (receive) =>
        source.start((batch) => {
          meter.delivered(batch.count);
          const before = readings();
          receive(batch);
          meter.read(readings() - before);
        }),
      stop: () => source.stop(),
      ...(source.health === undefined ? {} : { health: source.health.bind(source) }),
    };
  }

  /** Wraps a source of readings. */
  readings(name: string, source: ReadingSource): ReadingSource {
    const kind = source.apart === true ? 'receiver' : 'requests';
    const meter = this.#meter(kind, name, source.health?.bind(source));
    return {
      ...defined({ apart: source.apart }),
      start: (wanted, sink) => source.start(wanted, counted(sink, meter)),
      stop: () => source.stop(),
      ...(source.health === undefined ? {} : { health: source.health.bind(source) }),
    };
  }

  get activity(): readonly TrialSource[] {
    return this.#meters.map((meter) => meter.activity);
  }

  get vitals(): readonly SourceVitals[] {
    return this.#meters.map((meter) => meter.vitals());
  }

  /** Returns the reason why a source counts as stuck, or undefined. A source that reports why it waits is not stuck. */
  stuck(inUse: boolean): string | undefined {
    const now = this.#clock.monotonic();
    this.#usedSince = inUse ? (this.#usedSince ?? now) : undefined;
    const used = now - (this.#usedSince ?? now);
    for (const meter of this.#meters) {
      const why = meter.stuck(used);
      if (why !== undefined) return why;
    }
    return undefined;
  }

  #meter(kind: SourceKind, name: string, health: (() => SourceHealth) | undefined): Meter {
    const taken = this.#meters.filter((other) => other.name === name || other.name.startsWith(`${name} `)).length;
    const source = { kind, name: taken === 0 ? name : `${name} ${taken + 1}` };
    const meter = new Meter(source, this.#clock, health, this.#options.first);
    this.#meters.push(meter);
    return meter;
  }
}

function counted(sink: ReadingSink, meter: Meter): ReadingSink {
  return {
    reading: (signal, value, raw, at) => {
      sink.reading(signal, value, raw, at);
      meter.read(1);
    },
    text: (signal, text, at) => {
      sink.text?.(signal, text, at);
      meter.read(1);
    },
    settled: (at) => {
      meter.delivered(1);
      sink.settled(at);
    },
    alive: (signals, at) => sink.alive(signals, at),
  };
}

function seconds(ms: number): string {
  return `${Math.round(ms / 1000)} s`;
}
