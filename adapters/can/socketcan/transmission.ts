/** Sends frames through a CAN socket. */
import { constants } from 'node:os';
import { BIT_RATE_SWITCH, type Clock, ERROR_STATE, EXTENDED, FD, type OutgoingFrame } from '../../../agent/ports.ts';
import { VigieError } from '../../../protocol/errors.ts';
import type { BusSocket } from './bus-socket.ts';
import { CAN_MTU, CANFD_BRS, CANFD_ESI, CANFD_FDF, CANFD_MTU } from './constants.ts';
import { type EchoWatch, lossesOf } from './echo.ts';
import { errorName } from './libc.ts';

const { ENOBUFS, EAGAIN, EINTR, EMSGSIZE, EINVAL, ENETDOWN, ENXIO, ENODEV } = constants.errno;

/** Delays in ms between attempts to send a frame while the kernel's queue is full; a quarter of a second in total. */
const RETRIES = [1, 2, 4, 8, 16, 32, 64, 123];

/**
 * Maximum number of times that a frame is sent if a controller in one-shot mode gives it up. Such a controller also
 * gives a frame up if a frame with a higher priority starts at the same time, which often happens on a busy bus.
 */
const TRIES = 3;

/** Maximum number of queued frames. Without it, a caller that does not await `send` would fill the memory. */
const LONGEST_QUEUE = 256;

const lengthsOfFd: ReadonlySet<number> = new Set([0, 1, 2, 3, 4, 5, 6, 7, 8, 12, 16, 20, 24, 32, 48, 64]);

/**
 * Encodes a frame in the kernel's format: a `struct can_frame`, or a `struct canfd_frame` for FD.
 * @param into 72 bytes, at a multiple of 4
 * @returns the size of the encoded frame in bytes
 * @throws VigieError `command.actuation` for an invalid frame
 */
export function encodeFrame({ id, flags, data }: OutgoingFrame, into: Uint8Array): number {
  const bits = (id & EXTENDED) === 0 ? id : id - EXTENDED;
  if (!Number.isInteger(bits) || bits < 0 || bits > ((id & EXTENDED) === 0 ? 0x7ff : 0x1fff_ffff)) {
    throw new VigieError('command.actuation', `0x${id.toString(16)} is not a CAN identifier that can be sent`);
  }
  const flexible = (flags & FD) !== 0;
  if (flexible ? !lengthsOfFd.has(data.length) : data.length > 8) {
    throw new VigieError(
      'command.actuation',
      `${data.length} bytes do not fit a ${flexible ? 'CAN FD' : 'classic CAN'} frame, which has ` +
        (flexible ? '0 to 8, 12, 16, 20, 24, 32, 48 or 64' : '0 to 8'),
    );
  }
  const size = flexible ? CANFD_MTU : CAN_MTU;
  into.fill(0, 0, size);
  new DataView(into.buffer, into.byteOffset).setUint32(0, id, true);
  into[4] = data.length;
  if (flexible) {
    const switched = (flags & BIT_RATE_SWITCH) === 0 ? 0 : CANFD_BRS;
    into[5] = CANFD_FDF | switched | ((flags & ERROR_STATE) === 0 ? 0 : CANFD_ESI);
  }
  into.set(data, 8);
  return size;
}

/** Sends frames on a bus in the order of the calls. Each waits until the previous frame has been sent. */
export class Transmitter {
  sent = 0;
  /** Number of frames that were given up. */
  refused = 0;
  /** Number of repeated writes, after a full queue or after a one-shot controller gave the frame up. */
  retries = 0;
  readonly #clock: Clock;
  readonly #where: string;
  readonly #socket: (id: number) => BusSocket;
  readonly #echoes: EchoWatch;
  readonly #bytes = new Uint8Array(CANFD_MTU);
  #turn: Promise<void> = Promise.resolve();
  #waiting = 0;

  /**
   * @param socket returns the open socket, ready to receive the echo of a frame with this identifier, or throws
   * `command.actuation` with the reason why no socket is open
   */
  constructor(where: string, clock: Clock, echoes: EchoWatch, socket: (id: number) => BusSocket) {
    this.#where = where;
    this.#clock = clock;
    this.#echoes = echoes;
    this.#socket = socket;
  }

  /**
   * Resolves when the frame has been sent.
   * @throws VigieError `command.actuation`
   */
  send(frame: OutgoingFrame): Promise<void> {
    if (this.#waiting >= LONGEST_QUEUE) {
      this.refused++;
      return Promise.reject(
        new VigieError('command.actuation', `${LONGEST_QUEUE} frames wait to be sent already`, { where: this.#where }),
      );
    }
    this.#waiting++;
    // Copy the payload: its owner may reuse it as soon as this returns.
    const kept = { ...frame, data: frame.data.slice() };
    const result = this.#turn.then(() => this.#put(kept));
    // A refused frame must not block the next one.
    this.#turn = result.catch(() => undefined);
    return result;
  }

  async #put(frame: OutgoingFrame): Promise<void> {
    try {
      let attempts = 0;
      for (let tried = 0; ; tried++) {
        this.#echoes.check();
        const size = encodeFrame(frame, this.#bytes);
        const socket = this.#socket(frame.id);
        const losses = lossesOf(socket);
        const result = this.#write(socket, frame, size);
        if (result >= 0) {
          if (await this.#echoes.left(frame.id, socket, losses)) break;
          attempts++;
          if (attempts >= TRIES) throw this.#echoes.unheard(frame.id);
          this.retries++;
          continue;
        }
        const wait = RETRIES[tried];
        const full = result === -ENOBUFS || result === -EAGAIN || result === -EINTR;
        if (!full || wait === undefined) throw this.#failure(result);
        this.retries++;
        await new Promise<void>((resolve) => this.#clock.after(wait, resolve));
      }
      this.sent++;
    } catch (error) {
      this.refused++;
      throw error;
    } finally {
      this.#waiting--;
    }
  }

  #write(socket: BusSocket, frame: OutgoingFrame, size: number): number {
    if ((frame.flags & FD) !== 0 && !socket.flexible) return -EMSGSIZE;
    return socket.write(this.#bytes, size);
  }

  #failure(result: number): VigieError {
    const reasons: Readonly<Record<number, string>> = {
      [ENOBUFS]: 'the transmit queue stays full: no control unit acknowledges, or the bus is overloaded',
      [EAGAIN]: 'the transmit queue stays full: no control unit acknowledges, or the bus is overloaded',
      [EMSGSIZE]: 'the interface takes no CAN FD frames (ip link set … mtu 72, type can … fd on)',
      [EINVAL]: 'the interface does not take a frame of this kind',
      [ENETDOWN]: 'the interface is down',
      [ENXIO]: 'the interface is gone',
      [ENODEV]: 'the interface is gone',
    };
    const reason = reasons[-result];
    const name = errorName(result);
    return new VigieError(
      'command.actuation',
      reason === undefined ? `sending fails with ${name}` : `${reason} (${name})`,
      {
        where: this.#where,
      },
    );
  }
}
