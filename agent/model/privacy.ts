/**
 * Privacy chosen in the car (interface 3.19.2 Privacy.state), applied where readings become Status: forbidden values
 * are not in Status, so no later part can store or send them.
 *
 * | state | hidden |
 * |---|---|
 * | None | nothing |
 * | Geolocation | every position |
 * | Full | everything but the privacy state itself and what safety needs: belts, emergency call, collisions |
 *
 * A car that was declared stolen hides nothing, whatever its privacy setting: the thief may have chosen it.
 */
import type { SlotValue } from '../../protocol/slots.ts';

/** Level of each state. */
export const privacyLevels: Readonly<Record<string, number>> = { None: 0, Geolocation: 1, Full: 2 };
const NEVER = 3;

/** Returns the lowest level that hides a path of Status or a channel. */
export function hiddenFrom(path: string): number {
  if (path.startsWith('privacy.') || path.startsWith('safety.')) return NEVER;
  if (path.startsWith('collision.') || path.startsWith('acceleration.')) return NEVER;
  if (path.startsWith('lastPosition.') || path.endsWith('osition')) return 1;
  return 2;
}

export class Privacy {
  /** 0 hides nothing, 1 positions, 2 all but safety. Every reading is compared with it. */
  level = 0;
  /** UTC ms. All levels have ended by then: only earlier readings may be private although {@link level} is 0. */
  until = Number.NEGATIVE_INFINITY;
  /** Last end of each level, UTC ms. */
  readonly #ends = [0, Number.NEGATIVE_INFINITY, Number.NEGATIVE_INFINITY];
  /** For each function of {@link highest}, the highest level since its previous call. */
  readonly #highest: { level: number }[] = [];
  #chosen = 0;
  #exposed = false;

  /** Applies the value of privacy.state. An unknown state hides as much as the previous one. */
  choose(state: SlotValue, at: number): void {
    this.#chosen = privacyLevels[String(state)] ?? this.#chosen;
    this.#apply(at);
  }

  /** Call when the car was declared stolen (`exposed`), or is no longer. */
  expose(exposed: boolean, at: number): void {
    this.#exposed = exposed;
    this.#apply(at);
  }

  /** Returns the level for readings made at `at`: a source may deliver readings of a private time after its end. */
  levelAt(at: number): number {
    let past = 2;
    while (past > this.level && at >= (this.#ends[past] as number)) past--;
    return past;
  }

  /** Call after the clock was stepped forward by `by` ms. */
  stepped(by: number): void {
    this.until += by;
    for (const [level, end] of this.#ends.entries()) this.#ends[level] = end + by;
  }

  /** Returns a function that returns the highest level since its previous call. */
  highest(): () => number {
    const highest = { level: this.level };
    this.#highest.push(highest);
    return () => {
      const { level } = highest;
      highest.level = this.level;
      return level;
    };
  }

  #apply(at: number): void {
    const before = this.level;
    this.level = this.#exposed ? 0 : this.#chosen;
    for (let ended = before; ended > this.level; ended--) this.#ends[ended] = at;
    this.until = Math.max(this.#ends[1] as number, this.#ends[2] as number);
    for (const highest of this.#highest) highest.level = Math.max(highest.level, this.level);
  }
}
