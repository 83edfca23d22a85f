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
  /** Each the highest level since its reader asked last. */
  readonly #highest: { level: number }[] = [];
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

  /** The result tells the highest level since it was last called. */
  highest(): () => number {
    const highest = { level: this.level };
    this.#highest.push(highest);
    return () => {
      const { level } = highest;
      highest.level = this.level;
      return level;
    };
  }

  #apply(): void {
    this.level = this.#exposed ? 0 : this.#chosen;
    for (const highest of this.#highest) highest.level = Math.max(highest.level, this.level);
  }
}
