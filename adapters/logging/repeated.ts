import type { Log, LogEvent, LogSink } from '../../protocol/log-events.ts';
import { reachesPowerOfTwo } from '../../protocol/powers-of-two.ts';

/** Time in ms after which a fault that did not occur again counts as ended. */
const ENDED_AFTER_MS = 600_000;
/** Largest number of remembered faults. */
const MAX_FAULTS = 1_000;
/** Fields that identify the subject of a fault: the same event about another one is another fault. */
const SUBJECT = ['vin', 'receiver', 'client', 'topic', 'id', 'file', 'where', 'operation', 'class', 'seq'];

interface Fault {
  /** Monotonic ms of the last occurrence. */
  last: number;
  count: number;
  /** Occurrences since the last line. */
  suppressed: number;
}

/**
 * Writes a fault (`warn`, `error`) that lasts when it begins and when the number of its occurrences reaches a power of
 * two, so that an outage does not fill the disk. Events of the level `info` are written unchanged.
 */
export class RepeatedFaultLog implements Log {
  readonly #log: LogSink;
  readonly #monotonic: () => number;
  /** Faults in the order of their last occurrence. */
  readonly #faults = new Map<string, Fault>();

  /** @param monotonic returns the ms of a clock that is never set */
  constructor(log: LogSink, monotonic: () => number) {
    this.#log = log;
    this.#monotonic = monotonic;
  }

  readonly info: Log['info'] = (event, fields) => this.#log.info(event, fields);
  readonly warn: Log['warn'] = (event, fields) => this.#write('warn', event, fields);
  readonly error: Log['error'] = (event, fields) => this.#write('error', event, fields);

  #write(level: 'warn' | 'error', event: LogEvent, fields: Record<string, unknown> = {}): void {
    const now = this.#monotonic();
    // The id of an answer to a request (`http.failed`) differs each time.
    const subject = SUBJECT.filter((name) => name !== 'id' || fields['operation'] === undefined);
    const key = JSON.stringify([event, ...subject.map((name) => fields[name])]);
    const known = this.#faults.get(key);
    const isLasting = known !== undefined && now - known.last < ENDED_AFTER_MS;
    const fault = isLasting ? known : { last: now, count: 0, suppressed: 0 };
    this.#faults.delete(key);
    this.#faults.set(key, fault);
    const [oldest] = this.#faults.keys();
    if (this.#faults.size > MAX_FAULTS && oldest !== undefined) this.#faults.delete(oldest);
    fault.last = now;
    fault.count++;
    if (!reachesPowerOfTwo(fault.count - 1, fault.count)) {
      fault.suppressed++;
      return;
    }
    const { suppressed } = fault;
    fault.suppressed = 0;
    this.#log[level](event, suppressed === 0 ? fields : { ...fields, suppressed });
  }
}
