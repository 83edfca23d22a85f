/** A line in memory. The test plays its far end. */
import type { Line, LineEvents, OpenLine } from '../../../agent/ports.ts';
import { VigieError } from '../../../protocol/errors.ts';

export class Cable {
  /** Bytes written since the line was last opened. */
  written = '';
  opened = 0;
  closed = 0;
  /** Reason for which opening fails; undefined: it succeeds. */
  refusal: string | undefined;
  /** If true, writes never finish, as on a line stopped by flow control. */
  stuck = false;
  /** Receives the written text. */
  heard: (text: string) => void = () => undefined;
  #events: LineEvents | undefined;

  readonly open: OpenLine = (events) => {
    if (this.refusal !== undefined) return Promise.reject(new VigieError('input.unreadable', this.refusal));
    this.opened++;
    this.written = '';
    this.#events = events;
    const line: Line = {
      write: (bytes) => {
        if (this.#events !== events) return Promise.reject(new VigieError('input.unreadable', 'cut'));
        if (this.stuck) return new Promise(() => undefined);
        const text = Buffer.from(bytes).toString('latin1');
        this.written += text;
        this.heard(text);
        return Promise.resolve();
      },
      close: () => {
        this.closed++;
        if (this.#events === events) this.#events = undefined;
        return Promise.resolve();
      },
    };
    return Promise.resolve(line);
  };

  get plugged(): boolean {
    return this.#events !== undefined;
  }

  say(text: string): void {
    this.#events?.data(Uint8Array.from(text, (character) => character.charCodeAt(0)));
  }

  cut(reason = 'pulled'): void {
    const events = this.#events;
    this.#events = undefined;
    events?.closed(reason);
  }
}
