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
import type { SlotValue } from '../protocol/slots.ts';

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
  #highest = 0;
  #chosen = 0;
  #exposed = false;

  /** Takes the value of privacy.state. A state that is not known hides as much as the last one did. */
  choose(state: SlotValue): void {
    this.#chosen = levels[String(state)] ?? this.#chosen;
    this.#apply();
  }

  /** The car was declared stolen, or is no longer. */
  expose(exposed: boolean): void {
    this.#exposed = exposed;
    this.#apply();
  }

  /** The highest level since this was last called. */
  takeHighest(): number {
    const highest = this.#highest;
    this.#highest = this.level;
    return highest;
  }

  #apply(): void {
    this.level = this.#exposed ? 0 : this.#chosen;
    this.#highest = Math.max(this.#highest, this.level);
  }
}
