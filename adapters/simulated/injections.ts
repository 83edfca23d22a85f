import type { Part, Scene } from './scenario.ts';

/** A time that a test cannot know in advance. */
export interface InjectionTime {
  /** Time at which this part has accepted a request. */
  readonly asked: Part;
  /** Delay in ms after that. */
  readonly after?: number;
}

interface Waiting {
  readonly changes: Partial<Scene>;
  readonly asked: Part;
  readonly after: number;
  /** Time in ms until the change; undefined until the part has received a request. */
  rest: number | undefined;
}

/** Deviations from the scenario: faults, and unexpected actions of people. */
export class Injections {
  #changes: Partial<Scene> | undefined;
  #waiting: readonly Waiting[] = [];

  /** Adds changes. Later changes of a field take precedence over earlier ones. */
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

  /** Advances the car's time by `ms`. */
  step(ms: number): void {
    if (this.#waiting.length === 0) return;
    for (const waiting of this.#waiting) {
      if (waiting.rest === undefined) continue;
      waiting.rest -= ms;
      if (waiting.rest <= 0) this.add(waiting.changes);
    }
    this.#waiting = this.#waiting.filter(({ rest }) => rest === undefined || rest > 0);
  }

  /** Returns the scene with the active changes; the same object if there are none. */
  applied(scene: Scene): Scene {
    return this.#changes === undefined ? scene : { ...scene, ...this.#changes };
  }
}
