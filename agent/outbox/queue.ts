/** Identity of a message. The store has its content. */
export interface Queued {
  readonly class: number;
  readonly seq: number;
}

/** A message taken from the queue; `held` if it must not be evicted when it is put back. */
export interface Taken extends Queued {
  readonly held: boolean;
}

/** A message that is in no commit yet, and its place in the queue after the commit. */
export interface Uncommitted {
  readonly queued: Queued;
  readonly place: 'first' | 'held' | 'line';
  readonly durable: boolean;
}

/** Sequence numbers, ascending, with the index of the first that was not taken yet, so that taking one is cheap. */
interface Line {
  numbers: number[];
  from: number;
}

/**
 * Messages to send, by priority: the lowest class number first, within a class by sequence number. Messages put in
 * front are sent before all others. Only their numbers are in memory, so that a long backlog needs little memory.
 */
export class SendQueue {
  #size = 0;
  readonly #front: Queued[] = [];
  readonly #classes: Line[] = [];
  /** Messages that must not be evicted, by class. */
  readonly #held: Line[] = [];

  get size(): number {
    return this.#size;
  }

  push(queued: Queued): void {
    this.#size++;
    lineOf(this.#classes, queued.class).numbers.push(queued.seq);
  }

  pushFirst({ class: priority, seq }: Queued): void {
    this.#size++;
    this.#front.push({ class: priority, seq });
  }

  /** Inserts a message that must not be evicted: it may have arrived already, or it reports evictions. */
  hold({ class: priority, seq }: Queued): void {
    this.#size++;
    insert(lineOf(this.#held, priority), seq);
  }

  /** Puts an unsent message back in its place. */
  restore({ held, ...queued }: Taken): void {
    this.#size++;
    insert(lineOf(held ? this.#held : this.#classes, queued.class), queued.seq);
  }

  take(): Taken | undefined {
    const first = this.#front.shift();
    if (first !== undefined) {
      this.#size--;
      return { ...first, held: true };
    }
    for (let priority = 0; priority < Math.max(this.#classes.length, this.#held.length); priority++) {
      const [line, kept] = [lineOf(this.#classes, priority), lineOf(this.#held, priority)];
      const held = head(kept) < head(line);
      const seq = this.#advance(held ? kept : line);
      if (seq !== undefined) return { class: priority, seq, held };
    }
    return undefined;
  }

  /** Removes and returns the least important message: the oldest of the last class. */
  evict(): Queued | undefined {
    for (let priority = this.#classes.length - 1; priority >= 0; priority--) {
      const seq = this.#advance(this.#classes[priority]!);
      if (seq !== undefined) return { class: priority, seq };
    }
    return undefined;
  }

  /** Advances past the first number, and frees the taken numbers from time to time. */
  #advance(line: Line): number | undefined {
    const seq = line.numbers[line.from];
    if (seq === undefined) return undefined;
    this.#size--;
    line.from++;
    if (line.from > 1024 && line.from * 2 > line.numbers.length) {
      line.numbers = line.numbers.slice(line.from);
      line.from = 0;
    }
    return seq;
  }
}

function head({ numbers, from }: Line): number {
  return numbers[from] ?? Number.POSITIVE_INFINITY;
}

function insert(line: Line, seq: number): void {
  // Usually it precedes all waiting numbers: it was the first when it was taken.
  if (line.from > 0 && !(line.numbers[line.from]! < seq)) {
    line.numbers[--line.from] = seq;
    return;
  }
  let place = line.numbers.length;
  while (place > line.from && line.numbers[place - 1]! > seq) place--;
  line.numbers.splice(place, 0, seq);
}

function lineOf(lines: Line[], priority: number): Line {
  while (lines.length <= priority) lines.push({ numbers: [], from: 0 });
  return lines[priority]!;
}
