import type { Part, Scene } from './scenario.ts';

/** A moment that a test cannot know beforehand. */
export interface InjectionTime {
  /** As soon as this part has understood a request. */
  readonly asked: Part;
  /** ms later. */
  readonly after?: number;
}

interface Waiting {
  readonly changes: Partial<Scene>;
  readonly asked: Part;
  readonly after: number;
  /** ms until it happens; undefined while the part was not asked. */
  rest: number | undefined;
}

/** Deviations from the scenario: faults, and unexpected actions of people. */
export class Injections {
  #changes: Partial<Scene> | undefined;
  #waiting: readonly Waiting[] = [];

  /** Later changes go before earlier ones of the same member. */
  add(changes: Partial<Scene>, when?: InjectionTime): void {
    if (when === undefined) this.#changes = { ...this.#changes, ...changes };
    else this.#waiting = [...this.#waiting, { changes, asked: when.asked, after: when.after ?? 0, rest: undefined }];
  }

  clear(): void {
    this.#changes = undefined;
    this.#waiting = [];
  }

  understood(part: Part): void {
    for (const waiting of this.#waiting) if (waiting.asked === part) waiting.rest ??= waiting.after;
  }

  /** Lets `ms` of the car's time pass. */
  step(ms: number): void {
    if (this.#waiting.length === 0) return;
    for (const waiting of this.#waiting) {
      if (waiting.rest === undefined) continue;
      waiting.rest -= ms;
      if (waiting.rest <= 0) this.add(waiting.changes);
    }
    this.#waiting = this.#waiting.filter(({ rest }) => rest === undefined || rest > 0);
  }

  /** The scene as it really is; the same object when nothing is different. */
  applied(scene: Scene): Scene {
    return this.#changes === undefined ? scene : { ...scene, ...this.#changes };
  }
}
