/** Which message it is; what it says is in the store. */
export interface Queued {
  readonly class: number;
  readonly seq: number;
}

/** Sequence numbers with the index of the first that is not yet taken, so that taking costs nothing. */
interface Line {
  numbers: number[];
  from: number;
}

/**
 * What waits to be sent, by priority: the lowest class number first, within a class in order of sequence. Messages
 * put in front go before all others. Only their numbers are held: a long backlog takes little memory.
 */
export class SendQueue {
  #size = 0;
  readonly #front: Queued[] = [];
  readonly #classes: Line[] = [];

  get size(): number {
    return this.#size;
  }

  push({ class: priority, seq }: Queued): void {
    this.#size++;
    this.#line(priority).numbers.push(seq);
  }

  pushFirst({ class: priority, seq }: Queued): void {
    this.#size++;
    this.#front.push({ class: priority, seq });
  }

  /** Puts back what was taken and not acknowledged, at its place. */
  restore({ class: priority, seq }: Queued): void {
    this.#size++;
    const line = this.#line(priority);
    // Mostly it comes before all that wait: it was the first when it was taken.
    if (line.from > 0 && !(line.numbers[line.from]! < seq)) {
      line.numbers[--line.from] = seq;
      return;
    }
    let place = line.numbers.length;
    while (place > line.from && line.numbers[place - 1]! > seq) place--;
    line.numbers.splice(place, 0, seq);
  }

  take(): Queued | undefined {
    const first = this.#front.shift();
    if (first !== undefined) {
      this.#size--;
      return first;
    }
    for (let priority = 0; priority < this.#classes.length; priority++) {
      const seq = this.#advance(this.#classes[priority]!);
      if (seq !== undefined) return { class: priority, seq };
    }
    return undefined;
  }

  /** Takes the message that matters least: of the last class the oldest. */
  evict(): Queued | undefined {
    for (let priority = this.#classes.length - 1; priority >= 0; priority--) {
      const seq = this.#advance(this.#classes[priority]!);
      if (seq !== undefined) return { class: priority, seq };
    }
    return undefined;
  }

  /** Steps over the first number, and lets go of what was stepped over from time to time. */
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

  #line(priority: number): Line {
    while (this.#classes.length <= priority) this.#classes.push({ numbers: [], from: 0 });
    return this.#classes[priority]!;
  }
}
