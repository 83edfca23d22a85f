/** Control units behind the emulated adapter, with an ISO-TP implementation independent of the code under test. */

export interface CanFrame {
  readonly id: number;
  readonly extended: boolean;
  readonly data: readonly number[];
}

export interface EcuOptions {
  readonly request: number;
  readonly response: number;
  readonly extended?: boolean;
  /** Extended addressing: first byte of frames to the unit, and from it (`source`). */
  readonly target?: number;
  readonly source?: number;
  /** Identifier for flow control frames to the unit; if omitted, that of requests. */
  readonly flowControl?: number;
  /**
   * Answers to a request as upper-case hex without spaces. Those after `later` are sent when the adapter has stopped
   * waiting.
   */
  readonly answers: Readonly<Record<string, readonly string[]>> | ((request: string) => readonly string[] | undefined);
  /** Block size and STmin in the unit's flow control. */
  readonly flow?: readonly [number, number];
  /** Number of WAIT flow controls before the final one. */
  readonly waits?: number;
}

const FUNCTIONAL: ReadonlySet<number> = new Set([0x7df, 0x18db33f1]);

export class Ecu {
  readonly options: EcuOptions;
  /** Requests received completely. */
  readonly requests: string[] = [];
  /** STmin of the received flow controls. */
  readonly pauses: number[] = [];
  #sending: number[] | undefined;
  #receiving: { length: number; bytes: number[]; block: number } | undefined;
  #later: string[] = [];
  #waits = 0;

  constructor(options: EcuOptions) {
    this.options = options;
  }

  /** Receives a frame and returns the immediate answer. */
  frame({ id, extended, data }: CanFrame): CanFrame[] {
    const { request, target, flowControl = request, flow = [0, 0], waits = 0 } = this.options;
    if (extended !== (this.options.extended ?? false)) return [];
    const toAll = FUNCTIONAL.has(id) && target === undefined;
    if (id !== request && id !== flowControl && !toAll) return [];
    if (target !== undefined && data[0] !== target) return [];
    const bytes = target === undefined ? data : data.slice(1);
    const control = bytes[0] ?? 0;
    const type = control >> 4;
    if (type === 3) return id === flowControl ? this.#goOn(bytes[2] ?? 0) : [];
    if (id === flowControl && id !== request && !toAll) return [];
    if (type === 0) return this.#answer(bytes.slice(1, 1 + (control & 15)));
    if (type === 1) {
      this.#receiving = { length: ((control & 15) << 8) | (bytes[1] ?? 0), bytes: bytes.slice(2), block: 0 };
      this.#waits = waits;
      return this.#flowControl(flow);
    }
    const receiving = this.#receiving;
    if (type !== 2 || receiving === undefined) return [];
    receiving.bytes.push(...bytes.slice(1));
    if (receiving.bytes.length >= receiving.length) {
      this.#receiving = undefined;
      return this.#answer(receiving.bytes.slice(0, receiving.length));
    }
    receiving.block++;
    return flow[0] !== 0 && receiving.block % flow[0] === 0 ? this.#flowControl(flow) : [];
  }

  /** Returns the frames held back for later. */
  later(): CanFrame[] {
    if (this.#receiving !== undefined && this.#waits > 0) {
      this.#waits--;
      return this.#flowControl(this.options.flow ?? [0, 0]);
    }
    const next = this.#later.shift();
    return next === undefined ? [] : this.#message(next);
  }

  #flowControl([block, pause]: readonly [number, number]): CanFrame[] {
    return [this.#frame(this.#waits > 0 ? [0x31, 0, 0] : [0x30, block, pause])];
  }

  #answer(payload: readonly number[]): CanFrame[] {
    const request = hex(payload);
    this.requests.push(request);
    const { answers } = this.options;
    const all = (typeof answers === 'function' ? answers(request) : answers[request]) ?? [];
    const wait = all.indexOf('later');
    this.#later = wait === -1 ? [] : all.slice(wait + 1).filter((message) => message !== 'later');
    return (wait === -1 ? all : all.slice(0, wait)).flatMap((message) => this.#message(message));
  }

  #message(message: string): CanFrame[] {
    const bytes = unhex(message);
    const room = this.options.target === undefined ? 7 : 6;
    if (bytes.length <= room) return [this.#frame([bytes.length, ...bytes])];
    this.#sending = bytes.slice(room - 1);
    return [this.#frame([0x10 | (bytes.length >> 8), bytes.length & 0xff, ...bytes.slice(0, room - 1)])];
  }

  #goOn(pause: number): CanFrame[] {
    const rest = this.#sending;
    if (rest === undefined) return [];
    this.#sending = undefined;
    this.pauses.push(pause);
    const room = this.options.target === undefined ? 7 : 6;
    const frames: CanFrame[] = [];
    for (let at = 0, index = 1; at < rest.length; at += room, index++) {
      frames.push(this.#frame([0x20 | (index & 15), ...rest.slice(at, at + room)]));
    }
    return frames;
  }

  #frame(data: readonly number[]): CanFrame {
    const { response, extended = false, target, source = target } = this.options;
    const all = source === undefined ? data : [source, ...data];
    return { id: response, extended, data: [...all, ...Array<number>(8 - all.length).fill(0)] };
  }
}

export function hex(bytes: readonly number[]): string {
  return bytes.map((byte) => byte.toString(16).toUpperCase().padStart(2, '0')).join('');
}

export function unhex(text: string): number[] {
  return (text.match(/../g) ?? []).map((digits) => Number.parseInt(digits, 16));
}
