/**
 * Replays a log like a live bus. The recording device is a node like any other: no frame is flagged SENT,
 * because this unit sent none.
 */
import { type Clock, type FrameBatch, type FrameSource, SENT } from '../../../agent/ports.ts';
import { slice } from '../frames.ts';
import type { LogOptions, LogReader } from './log-reader.ts';

export interface PlayOptions extends LogOptions {
  /** Clock. A simulated clock waits with `hold` while the log is read, so that a replay is always the same. */
  readonly clock: Clock & { hold?(work: Promise<unknown>): void };
  /** Speed relative to the recording; default 1. `Infinity`: as fast as the receiver accepts frames. */
  readonly speed?: number;
  /** True to restart at the end, until stopped. */
  readonly loop?: boolean;
  /**
   * `log` (default): frames keep their recorded times; each further round continues from the end of the previous one.
   * `clock`: frames have the time at which they are played.
   */
  readonly times?: 'log' | 'clock';
}

/** Time in ms between the last frame of a round and the first frame of the next. */
const pause = 1;

export class LogSource implements FrameSource {
  /** Resolves after the last frame, or when the source was stopped. Rejects if the file becomes unreadable. */
  readonly finished: Promise<void>;
  private readonly open: () => Promise<LogReader>;
  private readonly clock: PlayOptions['clock'];
  private readonly speed: number;
  private readonly loop: boolean;
  private readonly times: 'log' | 'clock';
  private readonly settle: { readonly resolve: () => void; readonly reject: (error: unknown) => void };
  private reader: LogReader | undefined;
  private names: readonly string[] = [];
  private playing = false;
  private stopped = false;
  private release: () => void = () => undefined;
  private wake: () => void = () => undefined;
  /** First time of the log, and the clock's times at which it was played. */
  private origin: { readonly at: number; readonly wall: number; readonly monotonic: number } | undefined;
  /** Offset in ms added to the times of this round. */
  private shift = 0;
  private latest = Number.NEGATIVE_INFINITY;

  /** @param path a file, which is opened again for every round */
  constructor(path: string, options: PlayOptions) {
    // Loaded only when a log is played: most units have live buses.
    this.open = async () => (await import('./reader.ts')).openLog(path, options);
    this.clock = options.clock;
    this.speed = options.speed ?? 1;
    this.loop = options.loop ?? false;
    this.times = options.times ?? 'log';
    // Before the log is open, buses are known only if the options name the bus.
    if (options.bus !== undefined) this.names = [options.bus];
    let settle: LogSource['settle'] | undefined;
    this.finished = new Promise((resolve, reject) => {
      settle = { resolve, reject };
    });
    this.settle = settle as LogSource['settle'];
    // An unhandled rejection must not end the process if the caller does not await the end.
    this.finished.catch(() => undefined);
  }

  get buses(): readonly string[] {
    // A further round adds its bus names again, in the same order.
    const { buses } = this.reader ?? { buses: this.names };
    return buses.length < this.names.length ? this.names : buses;
  }

  /** Resolves when the log is open and plays. Rejects if it cannot be opened. */
  async start(receive: (batch: FrameBatch) => void): Promise<void> {
    this.hold();
    try {
      this.reader = await this.open();
    } catch (error) {
      this.release();
      throw error;
    }
    this.playing = true;
    this.play(receive)
      .finally(() => this.release())
      .then(this.settle.resolve, this.settle.reject);
  }

  async stop(): Promise<void> {
    this.stopped = true;
    this.wake();
    // A read from a silent bus may never return without this.
    await this.reader?.close();
    if (!this.playing) this.settle.resolve();
    await this.finished.catch(() => undefined);
  }

  private async play(receive: (batch: FrameBatch) => void): Promise<void> {
    for (;;) {
      const { reader } = this;
      if (reader === undefined) return;
      const before = this.latest;
      let frames = 0;
      try {
        for await (const batch of reader.batches()) {
          if (this.stopped) break;
          frames += batch.count;
          await this.give(batch, before, receive);
        }
      } finally {
        this.names = [...reader.buses];
        this.reader = undefined;
        await reader.close();
      }
      if (this.stopped || !this.loop || frames === 0) return;
      this.reader = await this.open();
      this.shift = Number.NaN;
    }
  }

  /** Emits a batch, at once or in parts by due time. `before` is the latest time of earlier rounds. */
  private async give(batch: FrameBatch, before: number, receive: (batch: FrameBatch) => void): Promise<void> {
    const { at, flags, count } = batch;
    if (Number.isNaN(this.shift)) this.shift = before + pause - (at[0] as number);
    this.origin ??= { at: at[0] as number, wall: this.clock.now(), monotonic: this.clock.monotonic() };
    for (let i = 0; i < count; i++) {
      const time = (at[i] as number) + this.shift;
      at[i] = time;
      flags[i] = (flags[i] as number) & ~SENT;
      if (time > this.latest) this.latest = time;
    }
    if (this.speed === Number.POSITIVE_INFINITY) {
      if (this.times === 'clock') at.fill(this.clock.now(), 0, count);
      receive(batch);
      return;
    }
    for (let from = 0; from < count && !this.stopped; ) {
      const wait = this.due(at[from] as number) - this.clock.monotonic();
      if (wait > 0) await this.sleep(wait);
      if (this.stopped) return;
      const now = this.clock.monotonic();
      let to = from + 1;
      while (to < count && this.due(at[to] as number) <= now) to++;
      receive(this.part(batch, from, to));
      from = to;
    }
  }

  /** Returns the monotonic time at which a frame of this (shifted) time is played. */
  private due(at: number): number {
    const { origin } = this;
    return origin === undefined ? 0 : origin.monotonic + (at - origin.at) / this.speed;
  }

  private part(batch: FrameBatch, from: number, to: number): FrameBatch {
    const at = batch.at.subarray(from, to);
    const { origin } = this;
    if (this.times === 'clock' && origin !== undefined) {
      for (let i = 0; i < at.length; i++) at[i] = origin.wall + ((at[i] as number) - origin.at) / this.speed;
    }
    return slice(batch, from, to, at);
  }

  /** Holds the clock until {@link release}. */
  private hold(): void {
    if (this.clock.hold === undefined) return;
    this.clock.hold(
      new Promise<void>((resolve) => {
        this.release = resolve;
      }),
    );
  }

  private sleep(delay: number): Promise<void> {
    return new Promise((resolve) => {
      const cancel = this.clock.after(delay, () => {
        this.hold();
        resolve();
      });
      this.release();
      this.wake = () => {
        cancel();
        resolve();
      };
    });
  }
}
