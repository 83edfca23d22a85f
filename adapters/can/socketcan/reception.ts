/** Which frames a bus's socket lets pass: those that are wanted, and for a while those that were sent. */
import { VigieError } from '../../../protocol/errors.ts';
import type { BusSocket } from './bus-socket.ts';
import { filtersFor, type IdentifierFilter, passes } from './filters.ts';
import { errorName } from './libc.ts';

/** The kernel filters what comes back to the sender like any other frame. */
export class FrameReception {
  /** Identifiers of the wanted frames. If omitted, everything. */
  #filters: readonly IdentifierFilter[] | undefined;
  readonly #always: readonly (number | IdentifierFilter)[];
  #wanted: readonly (number | IdentifierFilter)[];
  /** While frames are sent: their identifiers, and filters that let these pass as well. */
  #widened: { readonly sent: readonly number[]; readonly filters: readonly IdentifierFilter[] } | undefined;

  /** @throws VigieError `input.malformed` for an identifier that there cannot be */
  constructor(wanted: Iterable<number | IdentifierFilter> | undefined) {
    this.#always = [...(wanted ?? [])];
    this.#wanted = this.#always;
    this.#filters = wanted === undefined ? undefined : filtersFor(this.#wanted);
  }

  get filters(): readonly IdentifierFilter[] | undefined {
    return this.#filters;
  }

  /**
   * Receives these identifiers as well, in place of those of the last call. An open `socket` gets the filter at once.
   * @throws VigieError `input.unreadable` when the kernel refuses
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
   * Lets frames with this identifier pass.
   * @throws VigieError `command.actuation` when the kernel refuses
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

  /** Lets only pass what is wanted: others may send often what was sent here once. */
  narrow(socket: BusSocket): void {
    if (this.#widened === undefined || this.#filters === undefined) return;
    // If the kernel refuses, other frames continue to arrive, which does no harm.
    if (socket.filter(this.#filters) >= 0) this.#widened = undefined;
  }

  /** A socket was opened, with {@link filters}. */
  reset(): void {
    this.#widened = undefined;
  }
}
