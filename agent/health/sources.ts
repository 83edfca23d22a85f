import { defined } from '../../protocol/defined.ts';
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

/** Wraps a source and counts its deliveries. */
class Meter {
  readonly name: string;
  readonly #clock: Clock;
  readonly #health: (() => SourceHealth) | undefined;
  #frames = 0;
  #last: number | undefined;
  #openingSince: number | undefined;

  constructor(name: string, clock: Clock, health: (() => SourceHealth) | undefined) {
    this.name = name;
    this.#clock = clock;
    this.#health = health;
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

/** Counts the deliveries of the agent's sources, and reports which sources are stuck. */
export class SourceWatch {
  readonly #clock: Clock;
  readonly #meters: Meter[] = [];
  #usedSince: number | undefined;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Wraps a source of frames. */
  frames(name: string, source: FrameSource): FrameSource {
    const meter = this.#meter(name, source.health?.bind(source));
    return {
      get buses() {
        return source.buses;
      },
      start: (receive) =>
        source.start((batch) => {
          meter.delivered(batch.count);
          receive(batch);
        }),
      stop: () => source.stop(),
      ...(source.health === undefined ? {} : { health: source.health.bind(source) }),
    };
  }

  /** Wraps a source of readings. */
  readings(name: string, source: ReadingSource): ReadingSource {
    const meter = this.#meter(name, source.health?.bind(source));
    return {
      ...defined({ apart: source.apart }),
      start: (wanted, sink) => source.start(wanted, counted(sink, meter)),
      stop: () => source.stop(),
      ...(source.health === undefined ? {} : { health: source.health.bind(source) }),
    };
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

  #meter(name: string, health: (() => SourceHealth) | undefined): Meter {
    const taken = this.#meters.filter((other) => other.name === name || other.name.startsWith(`${name} `)).length;
    const meter = new Meter(taken === 0 ? name : `${name} ${taken + 1}`, this.#clock, health);
    this.#meters.push(meter);
    return meter;
  }
}

function counted(sink: ReadingSink, meter: Meter): ReadingSink {
  return {
    reading: (signal, value, raw, at) => sink.reading(signal, value, raw, at),
    text: (signal, text, at) => sink.text?.(signal, text, at),
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
