/**
 * Privacy chosen in the car (interface 3.19.2 Privacy.state), applied where readings become Status: what it forbids is
 * not in Status, so nothing behind Status can store or send it.
 *
 * | state | hidden |
 * |---|---|
 * | None | nothing |
 * | Geolocation | every position |
 * | Full | everything but the privacy state itself and what safety needs: belts, emergency call, collisions |
 *
 * A car that was declared stolen shows itself whatever is chosen in it: the choice is the thief's then.
 */
import type { SlotValue } from '../../protocol/slots.ts';

const levels: Readonly<Record<string, number>> = { None: 0, Geolocation: 1, Full: 2 };
const NEVER = 3;

/** From which level on a path of Status or a channel is hidden. */
export function hiddenFrom(path: string): number {
  if (path.startsWith('privacy.') || path.startsWith('safety.')) return NEVER;
  if (path.startsWith('collision.') || path.startsWith('acceleration.')) return NEVER;
  if (path.startsWith('lastPosition.') || path.endsWith('osition')) return 1;
  return 2;
}

export class Privacy {
  /** 0 nothing is hidden, 1 positions, 2 all but safety. Every reading is compared with it. */
  level = 0;
  /** UTC ms. All levels have ended by then: only what was read earlier may be private although {@link level} is 0. */
  until = Number.NEGATIVE_INFINITY;
  /** By level: when it ended last, UTC ms. */
  readonly #ends = [0, Number.NEGATIVE_INFINITY, Number.NEGATIVE_INFINITY];
  /** Highest level since the previous call of each reader. */
  readonly #highest: { level: number }[] = [];
  #chosen = 0;
  #exposed = false;

  /** Takes the value of privacy.state. A state that is not known hides as much as the last one did. */
  choose(state: SlotValue, at: number): void {
    this.#chosen = levels[String(state)] ?? this.#chosen;
    this.#apply(at);
  }

  /** The car was declared stolen, or is no longer. */
  expose(exposed: boolean, at: number): void {
    this.#exposed = exposed;
    this.#apply(at);
  }

  /** The level for what was read at `at`: a source may deliver what it read in a private time when that is over. */
  levelAt(at: number): number {
    let past = 2;
    while (past > this.level && at >= (this.#ends[past] as number)) past--;
    return past;
  }

  /** The clock was set `by` ms later. */
  stepped(by: number): void {
    this.until += by;
    for (const [level, end] of this.#ends.entries()) this.#ends[level] = end + by;
  }

  /** Returns the highest level since the previous call. */
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
