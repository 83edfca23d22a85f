/** Serial lines: eight data bits, no parity, one stop bit, as every receiver and adapter of a car speaks. */
import { access, constants } from 'node:fs/promises';
import type { SerialPort } from 'serialport';
import type { Line, LineEvents, OpenLine } from '../../agent/ports.ts';
import type { Rest } from '../../agent/power/rest.ts';
import { VigieError } from '../../protocol/errors.ts';
import { withPackage } from '../../protocol/missing-package.ts';
import { reasonOf, unopened } from './failures.ts';

export type FlowControl = 'none' | 'rtscts' | 'xonxoff';

interface SerialLineOptions {
  /** Device file, e.g. `/dev/ttyUSB0`. */
  readonly path: string;
  /** Bits per second. */
  readonly baudRate: number;
  /** Default `none`. */
  readonly flowControl?: FlowControl;
  /** Whether the unit sleeps; default: never. */
  readonly rest?: Rest;
}

/** How often a line that brings nothing is looked at whether it is still there, ms. */
const LOOK = 1_000;
/** The same in a unit that sleeps, ms: as often as it looks around itself. */
const SLEEPING_LOOK = 600_000;

/**
 * Opens a serial line for itself alone. Control lines are left as opening sets them: pseudo-terminals have none, and
 * asking them for some is an error.
 */
export function serialLine({ path, baudRate, flowControl = 'none', rest }: SerialLineOptions): OpenLine {
  return async (events) => {
    // Its answers have codes, which those of the serial port have not.
    await access(path, constants.R_OK | constants.W_OK).catch((error: unknown) => {
      throw unopened(path, error);
    });
    // Loading it takes a quarter of the start, and many cars have no such line.
    const { SerialPort } = await withPackage(() => import('serialport'));
    const port = new SerialPort({
      path,
      baudRate,
      rtscts: flowControl === 'rtscts',
      xon: flowControl === 'xonxoff',
      xoff: flowControl === 'xonxoff',
      autoOpen: false,
    });
    await new Promise<void>((resolve, reject) => {
      port.open((error) => (error === null ? resolve() : reject(unopened(path, error))));
    });
    // If the port cannot report its speed at the beginning, a later failure to report it means nothing.
    const tells = await port.port?.getBaudRate().then(
      () => true,
      () => false,
    );
    return new SerialLine(port, tells === true, events, rest);
  };
}

class SerialLine implements Line {
  readonly #port: SerialPort;
  #closing = false;
  #heard = true;
  /** First failure. */
  #trouble: string | undefined;
  #watch: NodeJS.Timeout | undefined;
  #unsubscribe: (() => void) | undefined;

  constructor(port: SerialPort, tellsSpeed: boolean, events: LineEvents, rest: Rest | undefined) {
    this.#port = port;
    // A device that is pulled while a read is on its way makes reads succeed with nothing for ever, which the port
    // takes for "not yet". Asking for the speed fails then; pseudo-terminals can tell it, too.
    if (tellsSpeed) {
      this.#lookEvery(rest?.asleep === true);
      this.#unsubscribe = rest?.subscribe((asleep) => this.#lookEvery(asleep));
    }
    const closed = (reason: string): void => {
      this.#lookNoMore();
      if (!this.#closing) events.closed(reason);
      this.#closing = true;
    };
    // A failed read or write also closes the port; the reason comes with whichever event is first.
    port.on('error', (error: Error) => {
      this.#trouble ??= error.message;
      if (!port.isOpen) closed(this.#trouble);
    });
    port.once('close', (error: Error | null) => closed(this.#trouble ?? error?.message ?? 'the device is gone'));
    port.on('data', (bytes: Uint8Array) => {
      this.#heard = true;
      if (!this.#closing) events.data(bytes);
    });
  }

  write(bytes: Uint8Array): Promise<void> {
    const port = this.#port;
    if (!port.isOpen) return Promise.reject(this.#gone('it is closed'));
    return new Promise((resolve, reject) => {
      port.write(Buffer.from(bytes), (error) => {
        if (error === null || error === undefined) resolve();
        else reject(this.#gone(reasonOf(error), error));
      });
    });
  }

  close(): Promise<void> {
    this.#closing = true;
    this.#lookNoMore();
    const port = this.#port;
    if (!port.isOpen) return Promise.resolve();
    return new Promise((resolve, reject) => {
      port.close((error) => (error === null ? resolve() : reject(this.#gone(reasonOf(error), error))));
    });
  }

  #lookEvery(asleep: boolean): void {
    clearInterval(this.#watch);
    this.#watch = setInterval(() => this.#look(), asleep ? SLEEPING_LOOK : LOOK);
  }

  #lookNoMore(): void {
    clearInterval(this.#watch);
    this.#unsubscribe?.();
  }

  #look(): void {
    const port = this.#port;
    const quiet = !this.#heard;
    this.#heard = false;
    if (!quiet || this.#closing) return;
    port.port?.getBaudRate().catch((error: unknown) => {
      if (!port.isOpen) return;
      this.#trouble ??= reasonOf(error);
      port.close();
    });
  }

  #gone(reason: string, cause?: unknown): VigieError {
    return new VigieError('input.unreadable', `the line does not work: ${reason}`, { where: this.#port.path, cause });
  }
}
