/** Selects the frames that a bus's socket accepts: the wanted ones, and for a while those that were sent. */
import { VigieError } from '../../../protocol/errors.ts';
import type { BusSocket } from './bus-socket.ts';
import { filtersFor, type IdentifierFilter, passes } from './filters.ts';
import { errorName } from './libc.ts';

/** Sets the socket's filters. The kernel filters the echoes of sent frames like any other frame. */
export class FrameReception {
  /** Identifiers of the wanted frames. If undefined, all frames pass. */
  #filters: readonly IdentifierFilter[] | undefined;
  readonly #always: readonly (number | IdentifierFilter)[];
  #wanted: readonly (number | IdentifierFilter)[];
  /** While frames are sent: their identifiers, and the filters that also accept these. */
  #widened: { readonly sent: readonly number[]; readonly filters: readonly IdentifierFilter[] } | undefined;

  /** @throws VigieError `input.malformed` for an invalid identifier */
  constructor(wanted: Iterable<number | IdentifierFilter> | undefined) {
    this.#always = [...(wanted ?? [])];
    this.#wanted = this.#always;
    this.#filters = wanted === undefined ? undefined : filtersFor(this.#wanted);
  }

  get filters(): readonly IdentifierFilter[] | undefined {
    return this.#filters;
  }

  /**
   * Also receives these identifiers, which replace those of the previous call. An open `socket` is updated immediately.
   * @throws VigieError `input.unreadable` if the kernel refuses
   */
  listen(more: readonly (number | IdentifierFilter)[], socket: BusSocket | undefined, where: string): void {
    if (this.#filters === undefined) return;
    this.#wanted = [...this.#always, ...more];
    this.#filters = filtersFor(this.#wanted);
    const sent = this.#widened?.sent ?? [];
    const filters = sent.length === 0 ? this.#filters : filtersFor([...this.#wanted, ...sent]);
    if (this.#widened !== undefined) this.#widened = { sent, filters };
    const result = socket?.filter(filters) ?? 0;
    if (result >= 0) return;
    const message = `the filters cannot be changed (${errorName(result)})`;
    throw new VigieError('input.unreadable', message, { where });
  }

  /**
   * Also accepts frames with this identifier.
   * @throws VigieError `command.actuation` if the kernel refuses
   */
  admit(socket: BusSocket, id: number, where: string): void {
    if (this.#filters === undefined || passes(this.#widened?.filters ?? this.#filters, id)) return;
    const sent = [...(this.#widened?.sent ?? []), id];
    const filters = filtersFor([...this.#wanted, ...sent]);
    const result = socket.filter(filters);
    if (result < 0) {
      const message = `the agent could not see whether the frame leaves: the filters cannot be changed (${errorName(result)})`;
      throw new VigieError('command.actuation', message, { where });
    }
    this.#widened = { sent, filters };
  }

  /** Accepts only the wanted frames again: other nodes may often send an identifier that Vigie sent once. */
  narrow(socket: BusSocket): void {
    if (this.#widened === undefined || this.#filters === undefined) return;
    // If the kernel refuses, other frames continue to arrive, which is harmless.
    if (socket.filter(this.#filters) >= 0) this.#widened = undefined;
  }

  /** Call after a socket was opened with {@link filters}. */
  reset(): void {
    this.#widened = undefined;
  }
}
