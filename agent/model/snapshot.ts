/** The state of the core on disk: changes are written at every commit, and read after the next start. */
import { statusObjects } from '../../protocol/slots.ts';
import type { Log, Memory } from '../ports.ts';
import { PARTS, type Recorder } from '../recorders/recorder.ts';
import type { Records } from '../records.ts';
import type { Status, StatusObserver } from './status.ts';

const RECORDS = 'records';
const STATUS = 'status/';

/** Key of an object of Status. Each object is stored separately, so that a commit contains only those that changed. */
const keyOf = (path: string): string => STATUS + path;

export class Snapshot implements StatusObserver {
  readonly #status: Status;
  readonly #records: Records;
  readonly #recorders: readonly Recorder[];
  readonly #log: Log;
  /** Objects of Status that changed since the last commit. */
  readonly #changed = new Set<number>();

  constructor(status: Status, records: Records, recorders: readonly Recorder[], log: Log) {
    this.#status = status;
    this.#records = records;
    this.#recorders = recorders;
    this.#log = log;
    status.observe(this);
  }

  changed(slot: { readonly object: number }): void {
    this.#changed.add(slot.object);
  }

  removed(slot: { readonly object: number }): void {
    this.#changed.add(slot.object);
  }

  /** Restores stored state. Logs and skips unreadable parts, which start empty. */
  recall(memory: Memory): void {
    for (const { path } of statusObjects) {
      this.#attempt(keyOf(path), () => {
        const contents = memory.recall(keyOf(path));
        if (typeof contents === 'object' && contents !== null) this.#status.restore(contents);
      });
    }
    this.#attempt(RECORDS, () => this.#records.restore(memory.recall(RECORDS)));
    for (const recorder of this.#recorders) {
      this.#attempt(recorder.name, () => {
        const state = memory.recall(recorder.name);
        if (state !== undefined) recorder.restore?.(state);
        const parts = Array.from({ length: PARTS }, (_, key) => memory.recall(`${recorder.name}/${key}`));
        recorder.restoreParts?.(parts.filter((part) => part !== undefined));
      });
    }
  }

  /** Returns the present state of everything that changed since the previous call. */
  *states(): Generator<readonly [key: string, value: unknown]> {
    for (const object of this.#changed) {
      const contents = this.#status.contents(new Set([object]));
      const path = statusObjects[object]?.path ?? '';
      yield [keyOf(path), Object.keys(contents).length === 0 ? undefined : contents];
    }
    this.#changed.clear();
    yield [RECORDS, this.#records.state()];
    for (const recorder of this.#recorders) {
      if (recorder.state !== undefined) yield [recorder.name, recorder.state()];
      for (const [key, value] of recorder.parts?.() ?? []) yield [`${recorder.name}/${key}`, value];
    }
  }

  #attempt(key: string, recall: () => void): void {
    try {
      recall();
    } catch (error) {
      this.#log.warn('state.unreadable', { key, error: (error as Error).message });
    }
  }
}
