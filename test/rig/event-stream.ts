import { defined } from '../../protocol/defined.ts';
/** A client of server-sent events (WHATWG HTML §9.2) that stores all events. */
export interface ServerEvent {
  readonly name: string;
  readonly id?: string;
  // biome-ignore lint/suspicious/noExplicitAny: parsed JSON, which only the expectations read.
  readonly data: any;
}

export class EventClient {
  readonly events: ServerEvent[] = [];
  readonly #reader: ReadableStreamDefaultReader<string>;
  #text = '';

  private constructor(body: ReadableStream<Uint8Array>) {
    this.#reader = body.pipeThrough(new TextDecoderStream()).getReader();
  }

  /** Rejects unless the server answers with a stream. */
  static async open(url: string, headers: Readonly<Record<string, string>> = {}): Promise<EventClient> {
    const response = await fetch(url, { headers: { accept: 'text/event-stream', ...headers } });
    if (response.status !== 200 || response.body === null) throw new Error(`${url} answered ${response.status}`);
    return new EventClient(response.body);
  }

  /** Resolves with the first matching event, including earlier ones. Rejects if the stream ends first. */
  async until(matches: (event: ServerEvent) => boolean): Promise<ServerEvent> {
    for (;;) {
      const found = this.events.find(matches);
      if (found !== undefined) return found;
      const { value, done } = await this.#reader.read();
      if (done) throw new Error(`the stream ended after ${JSON.stringify(this.events)}`);
      this.#take(value);
    }
  }

  /** Resolves when the server has ended the stream. */
  async ended(): Promise<void> {
    for (let done = false; !done; ) {
      const read = await this.#reader.read();
      if (read.value !== undefined) this.#take(read.value);
      done = read.done;
    }
  }

  async close(): Promise<void> {
    await this.#reader.cancel();
  }

  #take(text: string): void {
    const blocks = `${this.#text}${text}`.split('\n\n');
    this.#text = blocks.pop() ?? '';
    for (const block of blocks) {
      const fields = new Map(block.split('\n').map((line) => line.split(/: (.*)/s) as [string, string]));
      const [name, id, data] = [fields.get('event'), fields.get('id'), fields.get('data')];
      if (name === undefined || data === undefined) continue;
      this.events.push({ name, ...defined({ id }), data: JSON.parse(data) });
    }
  }
}
