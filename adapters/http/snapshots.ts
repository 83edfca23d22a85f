/**
 * Server-sent events (WHATWG HTML §9.2) that each contain a complete state. An event is sent if the state differs from
 * the one last sent. States are read only while a client is connected.
 */
import type { Clock } from '../../agent/ports.ts';
import { TooManyRequests } from './access/failures.ts';

interface SnapshotOptions {
  /** Maximum number of open streams. */
  readonly streams: number;
  /** Interval in ms at which the states are read. */
  readonly every: number;
  /** Time in ms after which a silent stream sends a comment. */
  readonly heartbeat: number;
}

const DEFAULT: SnapshotOptions = { streams: 16, every: 250, heartbeat: 15_000 };

/** Events by name. Each function returns the state as a JSON value, or undefined if there is nothing to send. */
export type SnapshotEvents = Readonly<Record<string, () => unknown>>;

interface OpenOptions {
  /** Interval in ms at which this stream reads its states; see {@link SnapshotOptions.every}. */
  readonly every?: number;
  /** Called once, when the stream ends. */
  readonly ended?: () => void;
}

export class Snapshots {
  readonly #clock: Clock;
  readonly #options: SnapshotOptions;
  /** Functions that end each open stream. */
  readonly #open = new Set<() => void>();

  constructor(clock: Clock, options: Partial<SnapshotOptions> = {}) {
    this.#clock = clock;
    this.#options = { ...DEFAULT, ...options };
  }

  /** Number of open streams. */
  get streams(): number {
    return this.#open.size;
  }

  /**
   * Opens a stream that ends at `until` in UTC ms.
   * @throws TooManyRequests if the maximum number of streams is already open
   */
  open(
    events: SnapshotEvents,
    until = Number.POSITIVE_INFINITY,
    { every = this.#options.every, ended = () => undefined }: OpenOptions = {},
  ): ReadableStream<Uint8Array> {
    const { streams, heartbeat } = this.#options;
    if (this.#open.size >= streams) throw new TooManyRequests('all live streams are taken', 10_000);
    const clock = this.#clock;
    const encoder = new TextEncoder();
    const sent = new Map<string, string>();
    let spoke = clock.monotonic();
    let cancel: () => void = () => undefined;
    const changes = (): string => {
      let text = '';
      for (const [name, read] of Object.entries(events)) {
        const data = JSON.stringify(read());
        if (data === undefined || sent.get(name) === data) continue;
        sent.set(name, data);
        text += `event: ${name}\ndata: ${data}\n\n`;
      }
      return text;
    };
    let end: () => void = () => undefined;
    const look = (controller: ReadableStreamDefaultController<Uint8Array>): void => {
      if (clock.now() >= until) {
        end();
        return;
      }
      const now = clock.monotonic();
      // A reader that is not ready gets nothing now, and the newest states when it is ready.
      const text = (controller.desiredSize ?? 0) <= 0 ? '' : changes();
      if (text !== '' || now - spoke >= heartbeat) {
        controller.enqueue(encoder.encode(text === '' ? ': still here\n\n' : text));
        spoke = now;
      }
      cancel = clock.after(every, () => look(controller));
    };
    return new ReadableStream<Uint8Array>({
      start: (controller) => {
        end = () => {
          if (!this.#open.delete(end)) return;
          cancel();
          ended();
          controller.close();
        };
        this.#open.add(end);
        controller.enqueue(encoder.encode(`retry: 3000\n\n${changes()}`));
        cancel = clock.after(every, () => look(controller));
      },
      cancel: () => {
        if (!this.#open.delete(end)) return;
        cancel();
        ended();
      },
    });
  }

  /** Ends all streams. */
  close(): void {
    for (const end of this.#open) end();
  }
}
