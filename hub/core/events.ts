/**
 * Latest events of all cars, of one car, or of the cars of some owners. Kept in memory, updated only when requested.
 */
import type { FleetEvent } from '../../protocol/interface/own/hub-overview.ts';
import type { Kind } from '../../protocol/schema/kind.ts';
import type { Message } from '../../protocol/schema/message.ts';
import type { ArrivedMessage, EventScope, OverviewReader, WallClock } from './ports.ts';

/** Shortest time in ms between two reads of the database for the same cars. Several viewers share one read. */
const PAUSE = 500;
/** Tolerance in ids: hubs that share a database do not commit messages in the order of their ids. */
export const ORDER_TOLERANCE = 1_000;
/** Number of newest events to keep. */
const EVENTS = 200;
/** Largest number of cached scopes. The least recently used ones are removed. */
const SCOPES = 64;

/** Kinds of messages that contain an event. Series and Status contain none. */
export const eventKinds: readonly Kind[] = [
  'trip',
  'alert',
  'collision',
  'maintenance',
  'alarm',
  'stolen',
  'event',
  'remote',
  'gap',
  'fault',
];

/** Events that a caller may see. */
interface EventView {
  /** Key of the view. Views that show the same events have equal keys. */
  readonly key: string;
  /** Returns the event as the caller may see it, or undefined if it is hidden. */
  see(event: FleetEvent): FleetEvent | undefined;
}

/** Largest number of batches in one read: a caller who may see little must not cause a read of all messages. */
const MOST_BATCHES = 25;

interface EventParts {
  readonly reader: Pick<OverviewReader, 'arrived'>;
  readonly clock: WallClock;
  /** Resolves after other pending work has run. */
  readonly turn: () => Promise<void>;
}

export class EventReader {
  readonly #parts: EventParts;
  /** The most recently used scopes are last. */
  readonly #scopes = new Map<string, ScopeEvents>();

  constructor(parts: EventParts) {
    this.#parts = parts;
  }

  /**
   * Returns the events, newest first, at most half a second old. `version`: version of the registry. After the registry
   * has changed, the result excludes events of cars that the owner has lost. Rejects with `store.failed`.
   */
  of(scope: EventScope = {}, version = 0, view: EventView = ALL): Promise<readonly FleetEvent[]> {
    const key = JSON.stringify([scope, version, view.key]);
    const events = this.#scopes.get(key) ?? new ScopeEvents(this.#parts, scope, view);
    this.#scopes.delete(key);
    this.#scopes.set(key, events);
    for (const oldest of this.#scopes.keys()) {
      if (this.#scopes.size <= SCOPES) break;
      this.#scopes.delete(oldest);
    }
    return events.newest();
  }
}

const ALL: EventView = { key: '', see: (event) => event };

class ScopeEvents {
  readonly #parts: EventParts;
  readonly #scope: EventScope;
  readonly #view: EventView;
  readonly #events = new Map<number, FleetEvent>();
  /** Time of the next read in UTC ms. */
  #nextLook = Number.NEGATIVE_INFINITY;
  #look: Promise<void> | undefined;

  constructor(parts: EventParts, scope: EventScope, view: EventView) {
    this.#parts = parts;
    this.#scope = scope;
    this.#view = view;
  }

  async newest(): Promise<readonly FleetEvent[]> {
    const now = this.#parts.clock.now();
    // If the clock was set back, reads must not stop.
    const isFresh = now < this.#nextLook && this.#nextLook - now < 60_000;
    if (!isFresh) {
      this.#look ??= this.#read().finally(() => {
        this.#nextLook = this.#parts.clock.now() + PAUSE;
        this.#look = undefined;
      });
    }
    await this.#look;
    return [...this.#events.values()].sort((a, b) => b.id - a.id);
  }

  /** Reads backwards from the newest event until there are enough, or until it reaches those of the previous read. */
  async #read(): Promise<void> {
    const { reader, turn } = this.#parts;
    const after = Math.max(0, Math.max(0, ...this.#events.keys()) - ORDER_TOLERANCE);
    let found = 0;
    let before = Number.MAX_SAFE_INTEGER;
    for (let batches = 0; found < EVENTS && batches < MOST_BATCHES; batches++) {
      const batch = await reader.arrived({ ...this.#scope, after, before, limit: EVENTS });
      for (const one of batch) {
        if (!isNews(one.message)) continue;
        const event = this.#view.see(eventOf(one));
        if (event === undefined) continue;
        this.#events.set(one.id, event);
        found++;
      }
      const last = batch.at(-1);
      if (last === undefined || batch.length < EVENTS) break;
      before = last.id;
      await turn();
    }
    const ids = [...this.#events.keys()].sort((a, b) => b - a);
    for (const id of ids.slice(EVENTS)) this.#events.delete(id);
  }
}

/** Returns true if the event is to be shown. Trips and commands are sent several times, and shown at their end. */
function isNews({ kind, body }: Message): boolean {
  if (kind === 'trip') return body.done === true;
  if (kind === 'remote') return body.status !== 'Accepted' && body.status !== 'SentToVehicle';
  return true;
}

export function eventOf({ id, vin, received, message }: ArrivedMessage): FleetEvent {
  const { kind, at, body } = message;
  return { id, vin, kind, at, received, body: body as unknown as Readonly<Record<string, unknown>> };
}
