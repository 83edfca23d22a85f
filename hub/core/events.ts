/** Latest events of all cars, of one car, or of the cars of some owners. In memory, updated only for present readers. */
import type { FleetEvent } from '../../protocol/interface/own/hub-overview.ts';
import type { Kind } from '../../protocol/schema/kind.ts';
import type { Message } from '../../protocol/schema/message.ts';
import type { ArrivedMessage, EventScope, OverviewReader, WallClock } from './ports.ts';

/** Least time between two looks at the database for the same cars, ms; several viewers share one look. */
const PAUSE = 500;
/** Hubs that share a database commit messages in another order than that of their ids. */
export const ORDER_TOLERANCE = 1_000;
/** Events that are kept, the newest. */
const EVENTS = 200;
/** Largest number of cached scopes, the most recently used. */
const SCOPES = 64;

/** Kinds of messages with an event. Series and Status have none. */
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

/** The events that a caller may see. */
interface EventView {
  /** The same for views that see the same. */
  readonly key: string;
  /** Undefined: the event is hidden. */
  see(event: FleetEvent): FleetEvent | undefined;
}

/** Batches of one look: who sees little must not have all messages read. */
const MOST_BATCHES = 25;

interface EventParts {
  readonly reader: Pick<OverviewReader, 'arrived'>;
  readonly clock: WallClock;
  /** Resolves when other work that waits had its turn. */
  readonly turn: () => Promise<void>;
}

export class EventReader {
  readonly #parts: EventParts;
  /** The most recently used come last. */
  readonly #scopes = new Map<string, ScopeEvents>();

  constructor(parts: EventParts) {
    this.#parts = parts;
  }

  /**
   * The newest first, as of half a second ago at most. `version`: of the registry; what belonged to an owner before it
   * changed is not in the answer after it. Rejects with `store.failed`.
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
  /** UTC ms. */
  #nextLook = Number.NEGATIVE_INFINITY;
  #look: Promise<void> | undefined;

  constructor(parts: EventParts, scope: EventScope, view: EventView) {
    this.#parts = parts;
    this.#scope = scope;
    this.#view = view;
  }

  async newest(): Promise<readonly FleetEvent[]> {
    const now = this.#parts.clock.now();
    // A clock that was set back must not stop the looks.
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

  /** Reads from the newest on back, until there are enough or those of the look before. */
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

/** A car sends a trip again while it continues, and a command in every state: only their ends are shown. */
function isNews({ kind, body }: Message): boolean {
  if (kind === 'trip') return body.done === true;
  if (kind === 'remote') return body.status !== 'Accepted' && body.status !== 'SentToVehicle';
  return true;
}

export function eventOf({ id, vin, received, message }: ArrivedMessage): FleetEvent {
  const { kind, at, body } = message;
  return { id, vin, kind, at, received, body: body as unknown as Readonly<Record<string, unknown>> };
}
