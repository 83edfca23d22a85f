/**
 * Follows what cars tell, whichever hub received it: the events of all cars, or those of one car and its values. News say
 * what to read; what was committed while they did not come is found by reading on from before.
 */
import type { FleetEvent } from '../../protocol/interface/own/hub-overview.ts';
import { disassemble, type Slot } from '../../protocol/slots.ts';
import { eventOf, ORDER_TOLERANCE } from './events.ts';
import type { HubLog, HubNews, News, OverviewReader, Timer, VehicleReader, WallClock } from './ports.ts';

/** Largest number of events in one read, and for a viewer who returns or missed notifications. */
const BATCH = 200;
const MOST = 1_000;
/** Hubs that share a database commit messages in another order than that of their ids, but hardly later than that, ms. */
const LATEST_COMMIT = 120_000;
/** From a reading that failed to the next, ms. */
const AGAIN = 1_000;

interface LiveValue {
  readonly value: unknown;
  /** UTC ms of the car. */
  readonly at: number;
  readonly stale: boolean;
}
type LiveValues = ReadonlyMap<Slot, LiveValue>;

/** Somebody who follows. */
export interface LiveViewer {
  /** The car that it follows; absent: all that it may see, without their values. */
  readonly vin?: string;
  /** Id of the token that let it in; absent: its token has none, or it needed none. */
  readonly token?: string;
  /** Cars that it may see now; undefined: all. Rejects with `store.failed`. */
  visible(): Promise<ReadonlySet<string> | undefined>;
  event(event: FleetEvent): void;
  /** Values that changed, of the car that it follows; the present ones are in {@link LiveFeed.values}. */
  changed(slots: readonly Slot[]): void;
  /** There were more events than are read again. */
  missed(): void;
  /** It may not see its car any more, its token was withdrawn, or the hub stops. */
  end(): void;
}

interface LiveParts {
  readonly news: HubNews;
  readonly reader: Pick<OverviewReader, 'arrived'> & Pick<VehicleReader, 'status'>;
  readonly clock: WallClock;
  readonly after: Timer;
  readonly log: HubLog;
}

/** Pending reads. */
interface Due {
  readonly vins: Set<string>;
  /** The lowest and the highest id of events. */
  first: number;
  last: number;
}

const nothing = (): Due => ({ vins: new Set(), first: Number.POSITIVE_INFINITY, last: 0 });

export class LiveFeed {
  readonly #parts: LiveParts;
  readonly #viewers = new Set<LiveViewer>();
  /** Changes of the cars with viewers. */
  readonly #values = new Map<string, LiveValues>();
  /** Events that viewers have got, with the time of that, UTC ms; older ones are below `#floor`. */
  readonly #told = new Map<number, number>();
  #floor = 0;
  #due = nothing();
  /** One reads at a time: what a viewer gets at first and what it gets then have no gap. */
  #reading: Promise<void> = Promise.resolve();
  #queued = false;
  #cancel: () => void = () => undefined;
  /** The events before the first viewer are known. */
  #begun = false;
  readonly #stop: () => void;

  constructor(parts: LiveParts) {
    this.#parts = parts;
    this.#stop = parts.news.listen({ arrived: (news) => this.#arrived(news), missed: () => this.#missed() });
  }

  /**
   * Resolves when the values of the car are there. `since`: the newest event that the viewer has; it gets those after it,
   * and maybe some of before again. Rejects with `store.failed`.
   */
  async open(viewer: LiveViewer, since?: number): Promise<void> {
    // Before what it reads, so that nothing between is lost.
    this.#viewers.add(viewer);
    const read = async (): Promise<void> => {
      if (!this.#begun) await this.#begin();
      if (viewer.vin !== undefined) await this.#readValues(viewer.vin);
      if (since !== undefined) await this.#resume(viewer, Math.max(0, since - ORDER_TOLERANCE));
    };
    const opening = this.#reading.then(read);
    this.#reading = opening.catch(() => undefined);
    try {
      await opening;
    } catch (error) {
      this.close(viewer);
      throw error;
    }
  }

  close(viewer: LiveViewer): void {
    this.#viewers.delete(viewer);
    if (this.#viewers.size === 0) this.#begun = false;
    for (const vin of this.#values.keys()) {
      if (![...this.#viewers].some((one) => one.vin === vin)) this.#values.delete(vin);
    }
  }

  /** As they are now; empty for a car without viewers. */
  values(vin: string): LiveValues {
    return this.#values.get(vin) ?? new Map();
  }

  /** Ends the streams of invalid tokens. */
  endTokens(isIssued: (token: string) => boolean): void {
    for (const viewer of this.#viewers) if (viewer.token !== undefined && !isIssued(viewer.token)) this.#end(viewer);
  }

  /** Ends all viewers. Resolves when nothing is read any more. */
  async stop(): Promise<void> {
    this.#stop();
    this.#cancel();
    for (const viewer of this.#viewers) this.#end(viewer);
    this.#viewers.clear();
    await this.#reading;
  }

  #arrived({ vins, events }: News): void {
    if (this.#viewers.size === 0) return;
    for (const vin of vins) if (this.#values.has(vin)) this.#due.vins.add(vin);
    for (const id of events) {
      this.#due.first = Math.min(this.#due.first, id);
      this.#due.last = Math.max(this.#due.last, id);
    }
    if (this.#due.vins.size > 0 || this.#due.last > 0) this.#look();
  }

  #missed(): void {
    if (this.#viewers.size === 0) return;
    this.#due = { vins: new Set(this.#values.keys()), first: this.#floor + 1, last: Number.MAX_SAFE_INTEGER - 1 };
    this.#look();
  }

  #look(): void {
    if (this.#queued) return;
    this.#queued = true;
    const look = async (): Promise<void> => {
      this.#queued = false;
      const due = this.#due;
      this.#due = nothing();
      try {
        if (due.last > 0) await this.#readEvents(due);
        for (const vin of due.vins) await this.#readValues(vin);
      } catch (error) {
        this.#parts.log.warn('hub.live.unread', { error: (error as Error).message });
        this.#cancel();
        this.#cancel = this.#parts.after(AGAIN, () => this.#missed());
      }
    };
    this.#reading = this.#reading.then(look);
  }

  /** Events before the first viewer are not sent. */
  async #begin(): Promise<void> {
    const { reader, clock } = this.#parts;
    this.#told.clear();
    const [newest] = await reader.arrived({ after: 0, before: Number.MAX_SAFE_INTEGER, limit: 1 });
    this.#floor = Math.max(0, (newest?.id ?? 0) - ORDER_TOLERANCE);
    const { events } = await this.#eventsAfter(this.#floor, Number.MAX_SAFE_INTEGER);
    for (const { id } of events) this.#told.set(id, clock.now());
    this.#begun = true;
  }

  async #resume(viewer: LiveViewer, after: number): Promise<void> {
    const { events, more } = await this.#eventsAfter(after, Number.MAX_SAFE_INTEGER);
    if (more) viewer.missed();
    await this.#tell([viewer], events);
  }

  async #readEvents({ first, last }: Due): Promise<void> {
    const { events, more } = await this.#eventsAfter(first - 1, last + 1, (id) => this.#told.has(id));
    const now = this.#parts.clock.now();
    if (more) for (const viewer of this.#viewers) this.#show(viewer, () => viewer.missed());
    await this.#tell([...this.#viewers], events);
    for (const { id } of events) this.#told.set(id, now);
    for (const [id, at] of this.#told) {
      // A clock that was set back must not make it grow for ever.
      if (Math.abs(now - at) < LATEST_COMMIT) break;
      this.#told.delete(id);
      this.#floor = Math.max(this.#floor, id);
    }
  }

  /** The newest of those between that are not known, ascending; `more`: there are older ones between. */
  async #eventsAfter(
    after: number,
    end: number,
    isKnown: (id: number) => boolean = () => false,
  ): Promise<{ readonly events: readonly FleetEvent[]; readonly more: boolean }> {
    const events: FleetEvent[] = [];
    for (let before = end; events.length <= MOST; ) {
      const batch = await this.#parts.reader.arrived({ after, before, limit: BATCH });
      events.push(...batch.filter(({ id }) => !isKnown(id)).map(eventOf));
      const oldest = batch.at(-1);
      if (oldest === undefined || batch.length < BATCH) break;
      before = oldest.id;
    }
    return { events: events.slice(0, MOST).reverse(), more: events.length > MOST };
  }

  async #tell(viewers: readonly LiveViewer[], events: readonly FleetEvent[]): Promise<void> {
    if (events.length === 0) return;
    // All at once: the state of the registry is read once for all of them.
    const seen = await Promise.all(viewers.map((viewer) => viewer.visible()));
    for (const [index, viewer] of viewers.entries()) {
      for (const event of events) {
        if ((viewer.vin ?? event.vin) === event.vin && seen[index]?.has(event.vin) !== false) {
          this.#show(viewer, () => viewer.event(event));
        }
      }
    }
  }

  async #readValues(vin: string): Promise<void> {
    const viewers = [...this.#viewers].filter((viewer) => viewer.vin === vin);
    if (viewers.length === 0) return;
    const [status, ...seen] = await Promise.all([
      this.#parts.reader.status(vin),
      ...viewers.map((viewer) => viewer.visible()),
    ]);
    const stale = new Set(status?.stale);
    const values = new Map<Slot, LiveValue>();
    for (const { slot, value, at } of disassemble(status?.contents() ?? {})) {
      values.set(slot, { value, at, stale: stale.has(slot.id) });
    }
    const before = this.values(vin);
    this.#values.set(vin, values);
    const changed = [...new Set([...before.keys(), ...values.keys()])].filter(
      (slot) => JSON.stringify(before.get(slot)) !== JSON.stringify(values.get(slot)),
    );
    for (const [index, viewer] of viewers.entries()) {
      if (seen[index]?.has(vin) === false) this.#end(viewer);
      else this.#show(viewer, () => viewer.changed(changed));
    }
  }

  /** One that throws is ended; the others see what happens. */
  #show(viewer: LiveViewer, show: () => void): void {
    if (!this.#viewers.has(viewer)) return;
    try {
      show();
    } catch (error) {
      this.#parts.log.error('hub.live.failed', { error: String(error) });
      this.#viewers.delete(viewer);
      this.#end(viewer);
    }
  }

  #end(viewer: LiveViewer): void {
    try {
      viewer.end();
    } catch (error) {
      this.#parts.log.error('hub.live.failed', { error: String(error) });
    }
  }
}
