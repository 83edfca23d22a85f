/**
 * Live feed for viewers, whichever hub received the messages: the events of all cars, or the events and values of one
 * car. Notifications of commits say what to read. If some were missed, the feed reads from the last known position.
 */
import type { FleetEvent } from '../../protocol/interface/own/hub-overview.ts';
import { disassemble, type Slot } from '../../protocol/slots.ts';
import { eventOf, ORDER_TOLERANCE } from './events.ts';
import type { HubLog, HubNews, News, OverviewReader, Timer, VehicleReader, WallClock } from './ports.ts';

/** Largest number of events in one read, and in all reads for a viewer who reconnects or missed notifications. */
const BATCH = 200;
const MOST = 1_000;
/** Longest time in ms by which a commit may follow one with a later id: hubs do not commit in the order of ids. */
const LATEST_COMMIT = 120_000;
/** Delay after a failed read in ms. */
const AGAIN = 1_000;

interface LiveValue {
  readonly value: unknown;
  /** UTC ms of the car. */
  readonly at: number;
  readonly stale: boolean;
}
type LiveValues = ReadonlyMap<Slot, LiveValue>;

/** A viewer of the feed. */
export interface LiveViewer {
  /** The car that the viewer follows. If omitted, all visible cars, without values. */
  readonly vin?: string;
  /** Id of the viewer's token. Omitted if the token has no id or none was needed. */
  readonly token?: string;
  /** Cars that the viewer may see now; undefined for all. Rejects with `store.failed`. */
  visible(): Promise<ReadonlySet<string> | undefined>;
  event(event: FleetEvent): void;
  /** Reports changed values of the followed car. {@link LiveFeed.values} contains the present values. */
  changed(slots: readonly Slot[]): void;
  /** Reports that there were more events than the feed can send again. */
  missed(): void;
  /** Ends the stream: the viewer may no longer see its car, its token was withdrawn, or the hub stops. */
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
  /** Lowest and highest id of the events. */
  first: number;
  last: number;
}

const nothing = (): Due => ({ vins: new Set(), first: Number.POSITIVE_INFINITY, last: 0 });

export class LiveFeed {
  readonly #parts: LiveParts;
  readonly #viewers = new Set<LiveViewer>();
  /** Values of the cars with viewers. */
  readonly #values = new Map<string, LiveValues>();
  /** Ids of events that were sent to viewers, each with its time in UTC ms. Removed ids are at most `#floor`. */
  readonly #told = new Map<number, number>();
  #floor = 0;
  #due = nothing();
  /** Serializes reads, so that the first events of a viewer and the following ones have no gap. */
  #reading: Promise<void> = Promise.resolve();
  #queued = false;
  #cancel: () => void = () => undefined;
  /** True once the events before the first viewer are marked as known. */
  #begun = false;
  readonly #stop: () => void;

  constructor(parts: LiveParts) {
    this.#parts = parts;
    this.#stop = parts.news.listen({ arrived: (news) => this.#arrived(news), missed: () => this.#missed() });
  }

  /**
   * Resolves when the values of the car are loaded. `since`: newest event that the viewer has. The viewer then receives
   * later events, and possibly repetitions of earlier ones. Rejects with `store.failed`.
   */
  async open(viewer: LiveViewer, since?: number): Promise<void> {
    // Add the viewer before reading, so that no event is lost in between.
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

  /** Present values of the car; empty for a car without viewers. */
  values(vin: string): LiveValues {
    return this.#values.get(vin) ?? new Map();
  }

  /** Ends the streams whose tokens are no longer valid. */
  endTokens(isIssued: (token: string) => boolean): void {
    for (const viewer of this.#viewers) if (viewer.token !== undefined && !isIssued(viewer.token)) this.#end(viewer);
  }

  /** Ends all viewers. Resolves when no read is running any more. */
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

  /** Marks all events before the first viewer as known, so that they are not sent. */
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
      // If the clock was set back, the map must not grow for ever.
      if (Math.abs(now - at) < LATEST_COMMIT) break;
      this.#told.delete(id);
      this.#floor = Math.max(this.#floor, id);
    }
  }

  /** Returns the newest unknown events of the range, ascending. `more`: the range contains older ones too. */
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
    // In parallel, so that the state of the registry is read once for all viewers.
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

  /** Calls `show`. If it throws, ends its viewer; other viewers continue. */
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
