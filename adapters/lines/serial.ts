/** Serial lines: eight data bits, no parity, one stop bit, which every receiver and adapter of a car uses. */
import { access, constants } from 'node:fs/promises';
import type { SerialPort } from 'serialport';
import type { Line, LineEvents, OpenLine } from '../../agent/ports.ts';
import type { Rest } from '../../agent/power/rest.ts';
import { reasonOf, VigieError } from '../../protocol/errors.ts';
import { withPackage } from '../../protocol/missing-package.ts';
import { unopened } from './failures.ts';

export type FlowControl = 'none' | 'rtscts' | 'xonxoff';

interface SerialLineOptions {
  /** Device file, e.g. `/dev/ttyUSB0`. */
  readonly path: string;
  /** Rate in bit/s. */
  readonly baudRate: number;
  /** Flow control; default `none`. */
  readonly flowControl?: FlowControl;
  /** Sleep state of the unit; default: never asleep. */
  readonly rest?: Rest;
}

/** Interval in ms at which a silent line is checked: does it still exist? */
const LOOK = 1_000;
/** The same interval in ms while the unit sleeps: that of its other checks. */
const SLEEPING_LOOK = 600_000;

/**
 * Opens a serial line for exclusive use. Leaves the control lines unchanged: pseudo-terminals have none, and
 * setting them would fail.
 */
export function serialLine({ path, baudRate, flowControl = 'none', rest }: SerialLineOptions): OpenLine {
  return async (events) => {
    // Errors of `access` have codes, those of the serial port do not.
    await access(path, constants.R_OK | constants.W_OK).catch((error: unknown) => {
      throw unopened(path, error);
    });
    // Loading the package needs a quarter of the start time, and many cars have no serial line.
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
    // If the port cannot report its rate at the beginning, a later failure to report it proves nothing.
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
    // If a device is unplugged during a read, all further reads succeed with no data, which the port interprets as "not
    // yet". A request for the rate then fails; pseudo-terminals support that request, too.
    if (tellsSpeed) {
      this.#lookEvery(rest?.asleep === true);
      this.#unsubscribe = rest?.subscribe((asleep) => this.#lookEvery(asleep));
    }
    const closed = (reason: string): void => {
      this.#lookNoMore();
      if (!this.#closing) events.closed(reason);
      this.#closing = true;
    };
    // A failed read or write also closes the port; the first of the two events contains the reason.
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
