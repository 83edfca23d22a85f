import { ERROR, EXTENDED, type FrameBatch, REMOTE } from '../../../agent/ports.ts';
import { ObservedMessage } from './observed-message.ts';

/** Number of 11-bit identifiers. */
const STANDARD = 0x800;

/** Identifier bits of a frame id. */
const IDENTIFIER = 0x1fff_ffff;

/** Facts about one bus. */
export class ObservedBus {
  readonly name: string;
  /** Number of data frames; and numbers of remote and error frames. */
  frames = 0;
  remotes = 0;
  errors = 0;
  /** Earliest and latest time of a frame in UTC milliseconds; NaN before the first. */
  first = Number.NaN;
  last = Number.NaN;
  readonly standard: (ObservedMessage | undefined)[] = new Array(STANDARD);
  readonly extended: Map<number, ObservedMessage> = new Map();

  constructor(name: string) {
    this.name = name;
  }

  get messages(): ObservedMessage[] {
    const standard = this.standard.filter((message) => message !== undefined);
    return [...standard, ...[...this.extended.values()].sort((a, b) => a.id - b.id)];
  }
}

/**
 * Contents of recordings, by bus and identifier. Frames are added batch by batch; memory grows with the number of
 * identifiers and not with that of frames.
 */
export class Traffic {
  readonly buses: ObservedBus[] = [];
  /** The buses by their numbers in the log being read. A bus has the same name in each log. */
  readonly #numbered: (ObservedBus | undefined)[] = [];

  /** All messages, by bus in the order of appearance, then by identifier, those of 11 bits first. */
  get messages(): ObservedMessage[] {
    return this.buses.flatMap((bus) => bus.messages);
  }

  /** @param names of the buses that {@link FrameBatch.bus} indexes in this log */
  add(batch: FrameBatch, names: readonly string[]): void {
    const { at, id, bus: numbers, count } = batch;
    const numbered = this.#numbered;
    for (let i = 0; i < count; i++) {
      const number = numbers[i]!;
      const bus = numbered[number] ?? this.#number(number, names[number]!);
      const identifier = id[i]!;
      const time = at[i]!;
      if (!(time >= bus.first)) bus.first = time;
      if (!(time <= bus.last)) bus.last = time;
      if ((identifier & ERROR) !== 0) {
        bus.errors++;
        continue;
      }
      const message = this.#message(bus, identifier);
      if ((identifier & REMOTE) !== 0) {
        bus.remotes++;
        message.addRemote();
      } else {
        bus.frames++;
        message.add(batch, i);
      }
    }
  }

  /** Call before the frames of another log: each log numbers its buses differently. */
  endLog(): void {
    this.#numbered.length = 0;
    for (const message of this.messages) message.endLog();
  }

  #number(number: number, name: string): ObservedBus {
    const known = this.buses.find((one) => one.name === name);
    const bus = known ?? new ObservedBus(name);
    if (known === undefined) this.buses.push(bus);
    this.#numbered[number] = bus;
    return bus;
  }

  #message(bus: ObservedBus, id: number): ObservedMessage {
    const identifier = id & IDENTIFIER;
    const extended = (id & EXTENDED) !== 0;
    const known = extended ? bus.extended.get(identifier) : bus.standard[identifier];
    if (known !== undefined) return known;
    const message = new ObservedMessage(this.buses.indexOf(bus), (extended ? identifier | EXTENDED : identifier) >>> 0);
    if (extended) bus.extended.set(identifier, message);
    else bus.standard[identifier] = message;
    return message;
  }
}
