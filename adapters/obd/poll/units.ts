import type { Clock } from '../../../agent/ports.ts';
import { discoverUnits, type ObdUnit } from '../j1979/discovery.ts';
import type { DiagnosticAddress, DiagnosticRequester } from '../requester.ts';
import type { ObdCommand } from '../signal-set.ts';
import { addressOf } from './address.ts';

/** Last service of SAE J1979: up to here, parameters mean the same in every control unit. */
const LAST_STANDARD_SERVICE = 0x0a;
const CURRENT_DATA = 0x01;

/** Delay in ms before the search for units is repeated in a car that did not answer. */
const SEARCH_AGAIN = 30_000;

/** Address of a command's unit, or the reason not to send the command. */
type Way = { readonly address: DiagnosticAddress } | { readonly none: 'unsupported' | 'not on CAN' };

/** Control units that answer the standard's services, found once for each ignition. */
export class Units {
  readonly #requester: DiagnosticRequester;
  readonly #clock: Clock;
  #units: readonly ObdUnit[] | undefined;
  #searched = Number.NEGATIVE_INFINITY;

  constructor(requester: DiagnosticRequester, clock: Clock) {
    this.#requester = requester;
    this.#clock = clock;
  }

  /** Number of units that answered; undefined before the first search. */
  get count(): number | undefined {
    return this.#units?.length;
  }

  /** Returns true if a search for units must precede this command. */
  mustSearch(command: ObdCommand): boolean {
    if (command.service !== CURRENT_DATA) return false;
    return (
      this.#units === undefined ||
      (this.#units.length === 0 && this.#clock.monotonic() - this.#searched >= SEARCH_AGAIN)
    );
  }

  /** Searches for the units that answer now. @throws VigieError as the requester does */
  async search(): Promise<readonly ObdUnit[]> {
    this.#units = await discoverUnits(this.#requester);
    this.#searched = this.#clock.monotonic();
    return this.#units;
  }

  forget(): void {
    this.#units = undefined;
    this.#searched = Number.NEGATIVE_INFINITY;
  }

  /**
   * Returns the address for a command: that of a unit that supports a parameter of service 01, preferably the unit in
   * the set; otherwise the address in the set. A request to one unit ends with its answer, without a wait for others.
   */
  way(command: ObdCommand): Way {
    const own = addressOf(command);
    const { service, parameter } = command;
    const units = this.#units ?? [];
    if (service === CURRENT_DATA && units.length > 0) {
      const pid = Number.parseInt(parameter, 16);
      const having = units.filter(({ parameters }) => parameters.has(pid));
      const named = having.find(({ address }) => address.request === own?.request) ?? having[0];
      return named === undefined ? { none: 'unsupported' } : { address: named.address };
    }
    const first = units[0];
    // A set written for 11 bits serves a car with 29: the standard's services are requested from every control unit.
    if (service <= LAST_STANDARD_SERVICE && first !== undefined && own?.extended !== first.address.extended) {
      return { address: first.address };
    }
    return own === undefined ? { none: 'not on CAN' } : { address: own };
  }
}
