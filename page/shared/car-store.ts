/** Values of the car, and listeners to their changes, which are called once per frame of the screen. */
import type { CarDescription, LinkReport, ValueDescription } from '../../protocol/interface/own/car-description.ts';
import type { HubValues } from '../../protocol/interface/own/hub-overview.ts';
import {
  type AgentState,
  askJson,
  beforeNextTry,
  carNow,
  compareClocks,
  follow,
  poll,
  Refused,
  type ServerEvent,
  SignInNeeded,
  tryNow,
} from './connection.ts';

export interface CarValue {
  readonly path: string;
  readonly value: unknown;
  /** When it became so, UTC ms. */
  readonly at: number;
  readonly stale: boolean;
  /** Counts the changes that this page saw; 0 when it was there from the beginning. */
  readonly changes: number;
}

/** A change of something that has names, for the list of the newest. */
interface NamedChange {
  readonly path: string;
  readonly before: unknown;
  readonly after: unknown;
  readonly at: number;
}

export type Connection =
  | { readonly state: 'reading' }
  | { readonly state: 'live' }
  /** `since`: by the clock of this machine, ms. */
  | { readonly state: 'lost'; readonly since: number; readonly reason: string }
  | { readonly state: 'sign-in'; readonly scheme: 'Basic' | 'Bearer'; readonly before: Before };

/** Result of the previous credentials: they were wrong, or admitted the reader until now. */
export type Before = 'none' | 'refused' | 'ended';

/** Topics of listeners, in addition to the paths of values. */
export type Topic = 'paths' | 'connection' | 'link' | 'second' | 'named' | 'speed' | 'event' | 'streaming' | 'any';

const MAX_NAMED_CHANGES = 12;
/** Time between two readings of what a hub has of a car, ms: while its stream brings the changes, and without it. */
const HUB_POLL_INTERVALS_MS = { streaming: 5_000, alone: 500 };
/** Clocks that differ by less are not compared so exactly. */
const CLOCK_TOLERANCE_MS = 5_000;
/** The line of the speed. */
export const SPEED_SPAN_MS = 60_000;
/** Time between two points of that line. */
const SPEED_STEP_MS = 100;

class CarStore {
  readonly values = new Map<string, CarValue>();
  readonly descriptions = new Map<string, ValueDescription>();
  readonly named: NamedChange[] = [];
  /** Time and speed, oldest first; a speed holds until the next. */
  readonly speeds: (readonly [at: number, speed: number])[] = [];
  car: CarDescription | undefined;
  connection: Connection = { state: 'reading' };
  /** Where the values come from: the car that serves the page, or a hub, which knows many cars. */
  source: 'car' | 'hub' = 'car';
  /** Where the agent of a bench is, by what the bench said last. */
  agent: AgentState | undefined;
  /** Time of the car's last message at the hub, UTC ms. */
  heard: number | undefined;
  /** A stream of the hub brings changes and events, which are the topic `event`. Without it the page polls them. */
  streaming = false;
  /** The car of the hub that is shown; undefined: all of them; null: the hub has not answered yet. */
  #vin: string | undefined | null = null;
  readonly #listeners = new Map<string, Set<() => void>>();
  readonly #dirty = new Set<string>();
  #frame: number | undefined;
  #abort = new AbortController();
  /** Everything that comes until now is what was known before. */
  #introducing = true;
  #before: Before = 'none';
  #link: LinkReport | undefined;
  /** The stream that brings the values is open. */
  #open = false;
  /** While this has not ended, somebody asks for the description of the car. */
  #describing: AbortSignal | undefined;
  /** Counts what the stream of the hub brought. */
  #streamed = 0;

  /** Reads the car until {@link stop}. */
  start(signedIn = false): void {
    this.stop();
    if (signedIn) this.#before = 'refused';
    if (this.source === 'hub' && this.#vin === null) return;
    this.#abort = new AbortController();
    const { signal } = this.#abort;
    const ticking = setInterval(() => {
      this.#changed('second');
      // The page of a hub asks it for something every second, and any answer brings the time.
      if (this.source === 'car' && this.connection.state !== 'sign-in') compareClocks();
    }, 1_000);
    signal.addEventListener('abort', () => clearInterval(ticking));
    this.#read(signal).catch((error: Error) => this.#lost(error));
  }

  stop(): void {
    this.#abort.abort();
    this.streaming = false;
  }

  /** At a hub: shows this car, or all. Call it when the hub has let the reader in: it asks once for credentials. */
  show(vin: string | undefined): void {
    if (vin === this.#vin) return;
    this.stop();
    this.#vin = vin;
    this.values.clear();
    this.descriptions.clear();
    this.named.length = 0;
    this.speeds.length = 0;
    this.car = undefined;
    this.heard = undefined;
    this.connection = { state: 'reading' };
    for (const topic of ['paths', 'named', 'speed', 'connection']) this.#changed(topic);
    this.start();
  }

  /** Notifies `listener` of changes of a path or topic. The result ends that. */
  listen(topic: Topic | (string & {}), listener: () => void): () => void {
    const set = this.#listeners.get(topic) ?? new Set();
    this.#listeners.set(topic, set);
    set.add(listener);
    return () => set.delete(listener);
  }

  /** Stores where the agent of the bench runs, so that the whole page shows the same. */
  noteAgent(agent: AgentState | undefined): void {
    // One that runs shows so by its values.
    const shown = agent === 'runs' && this.connection.state !== 'live' ? 'starts' : agent;
    if (agent === 'runs' && this.connection.state === 'lost') tryNow();
    if (shown === this.agent) return;
    this.agent = shown;
    this.#changed('connection');
  }

  /** The car's own link, as far as the page knows it now. */
  get link(): LinkReport | undefined {
    return this.connection.state === 'live' ? this.#link : undefined;
  }

  value(path: string): CarValue | undefined {
    return this.values.get(path);
  }

  /** The value, if it can be trusted now. */
  fresh(path: string): unknown {
    const found = this.values.get(path);
    return found === undefined || found.stale || this.connection.state !== 'live' ? undefined : found.value;
  }

  isStale(value: CarValue): boolean {
    return value.stale || this.connection.state === 'lost';
  }

  async #read(signal: AbortSignal): Promise<void> {
    const lost = (error: Error): void => {
      this.#open = false;
      this.#lost(error);
    };
    if (this.source === 'hub') return this.#readFromHub(signal);
    const agent = {
      path: '/vigie/v1/agent',
      opened: () => undefined,
      event: ({ name, data }: ServerEvent) => this.#agentEvent(name, data),
      lost: () => this.#agentEvent('link', undefined),
    };
    const live = {
      path: '/live',
      opened: () => this.#opened(signal),
      event: ({ name, data }: ServerEvent) => this.#liveEvent(name, data as LiveEvent),
      lost,
    };
    await Promise.all([follow(live, signal), this.#followAgent(agent, signal)]);
  }

  /** After the first stream was admitted: a page without credentials asks once, not twice. */
  async #followAgent(options: Parameters<typeof follow>[0], signal: AbortSignal): Promise<void> {
    while (this.connection.state !== 'live') {
      if (signal.aborted || this.connection.state === 'sign-in') return;
      await new Promise<void>((resolve) => {
        const end = this.listen('connection', () => {
          end();
          resolve();
        });
        signal.addEventListener('abort', () => resolve(), { once: true });
      });
    }
    await follow(options, signal);
  }

  async #readFromHub(signal: AbortSignal): Promise<void> {
    const vin = this.#vin;
    if (vin === null) return;
    if (vin === undefined) return this.#followHub('/vigie/v1/live', signal);
    const vehicle = `/vigie/v1/vehicles/${encodeURIComponent(vin)}`;
    let isFirst = true;
    let streamedBefore = 0;
    const path = (): string => {
      streamedBefore = this.#streamed;
      return `${vehicle}/values`;
    };
    const answered = (answer: HubValues): void => {
      const isAnew = this.connection.state !== 'live';
      if (isAnew) this.#opened(signal);
      this.heard = Math.max(this.heard ?? 0, answer.heard);
      if (isFirst) void this.#followHub(`${vehicle}/live`, signal);
      isFirst = false;
      // Changes that the stream brought since the request are newer.
      if (streamedBefore !== this.#streamed && !isAnew) return;
      for (const one of answer.values) if (!this.#isKnown(one)) this.#liveEvent('change', one);
      // The values of the first answer are no changes.
      this.#introducing = false;
      const present = new Set(answer.values.map(({ path }) => path));
      for (const { path } of [...this.values.values()]) {
        if (!present.has(path)) this.#liveEvent('removed', { path, at: new Date(answer.at).toISOString() });
      }
    };
    const lost = (error: Error): void => {
      this.#open = false;
      this.#lost(error);
    };
    const every = (): number => (this.streaming ? HUB_POLL_INTERVALS_MS.streaming : HUB_POLL_INTERVALS_MS.alone);
    await poll<HubValues>({ path, every, woken: (ask) => this.listen('streaming', ask), answered, lost }, signal);
  }

  /** Events of all cars, or those of one and the changes of its values. The polls go on when it is lost. */
  async #followHub(path: string, signal: AbortSignal): Promise<void> {
    const streams = (streaming: boolean): void => {
      this.streaming = streaming;
      this.#changed('streaming');
    };
    const event = ({ name, data }: ServerEvent): void => {
      this.#streamed++;
      // A stream begins with all values.
      if (name === 'change' && this.#isKnown(data as LiveEvent)) return;
      this.heard = Math.max(this.heard ?? 0, carNow());
      if (name === 'change' || name === 'removed') this.#liveEvent(name, data as LiveEvent);
      else this.#changed('event');
    };
    await follow({ path, opened: () => streams(true), event, lost: () => streams(false) }, signal);
  }

  #isKnown({ path, value, at, stale = false }: LiveEvent): boolean {
    const before = this.values.get(path);
    return before?.at === Date.parse(at) && before.stale === stale && sameValue(before.value, value);
  }

  #opened(signal: AbortSignal): void {
    this.#introducing = true;
    this.values.clear();
    this.#open = true;
    this.#before = 'ended';
    this.connection = { state: 'live' };
    if (this.agent === 'starts' || this.agent === 'ended') this.agent = 'runs';
    this.#changed('connection');
    this.#changed('link');
    this.#changed('paths');
    if (this.car === undefined && this.#describing !== signal) void this.#describe(signal);
  }

  /** Asks until the car has described itself. */
  async #describe(signal: AbortSignal): Promise<void> {
    this.#describing = signal;
    while (!signal.aborted) {
      try {
        const car = await askJson<CarDescription>(this.#descriptionPath());
        if (signal.aborted) return;
        this.car = car;
        for (const one of car.values) this.descriptions.set(one.path, one);
        if (this.#open) this.connection = { state: 'live' };
        for (const topic of ['paths', 'connection', 'link']) this.#changed(topic);
        return;
      } catch (error) {
        if (signal.aborted) return;
        this.#lost(error as Error);
        if (error instanceof SignInNeeded) return;
      }
      await beforeNextTry();
    }
  }

  #descriptionPath(): string {
    return typeof this.#vin === 'string' ? `/vigie/v1/vehicles/${encodeURIComponent(this.#vin)}/car` : '/vigie/v1/car';
  }

  #lost(error: Error): void {
    if (error instanceof Refused && error.agent !== undefined) this.agent = error.agent;
    if (error instanceof SignInNeeded) {
      this.connection = { state: 'sign-in', scheme: error.scheme, before: this.#before };
    } else {
      const since = this.connection.state === 'lost' ? this.connection.since : Date.now();
      this.connection = { state: 'lost', since, reason: error.message };
      // A bench describes its car also while the agent does not run.
      const { signal } = this.#abort;
      if (this.source === 'car' && this.car === undefined && this.#describing !== signal) void this.#describe(signal);
    }
    this.#changed('link');
    this.#changed('connection');
    for (const path of this.values.keys()) this.#changed(path);
  }

  #agentEvent(name: string, data: unknown): void {
    if (name !== 'link') return;
    this.#link = data as LinkReport | undefined;
    this.#changed('link');
  }

  #liveEvent(name: string, event: LiveEvent): void {
    const { path } = event;
    const at = Date.parse(event.at);
    const before = this.values.get(path);
    if (name === 'removed') {
      if (!this.values.delete(path)) return;
      this.#changed(path);
      this.#changed('paths');
      return;
    }
    // Everything that is known comes in one piece; what comes after the first event that is new is a change.
    if (before !== undefined) this.#introducing = false;
    const same = before !== undefined && sameValue(before.value, event.value);
    const changes = before === undefined ? (this.#introducing ? 0 : 1) : before.changes + (same ? 0 : 1);
    this.values.set(path, { path, value: event.value, at, stale: event.stale === true, changes });
    this.#changed(path);
    if (before === undefined) this.#changed('paths');
    if (path === 'kinetic.speed' && typeof event.value === 'number') this.#noteSpeed(at, event.value);
    if (before === undefined || same || typeof event.value === 'number' || typeof event.value === 'object') {
      if (!Array.isArray(event.value) || before === undefined || same) return;
    }
    // A clock that was fast has dated these in the future: they would stay ahead of all new changes.
    while ((this.named[0]?.at ?? 0) > Math.max(at, carNow() + CLOCK_TOLERANCE_MS)) this.named.shift();
    // A hub gets changes in batches, which are not in the order of time.
    const older = this.named.findIndex((one) => one.at <= at);
    const place = older === -1 ? this.named.length : older;
    this.named.splice(place, 0, { path, before: before.value, after: event.value, at });
    this.named.length = Math.min(this.named.length, MAX_NAMED_CHANGES);
    this.#changed('named');
  }

  /** Speeds from before this page was opened, oldest first. */
  addEarlierSpeeds(speeds: CarStore['speeds']): void {
    const first = this.speeds[0]?.[0] ?? Number.POSITIVE_INFINITY;
    this.speeds.unshift(...speeds.filter(([at]) => at < first));
    this.#changed('speed');
  }

  #noteSpeed(at: number, speed: number): void {
    // A clock was set back: the line goes forward.
    while ((this.speeds.at(-1)?.[0] ?? 0) > at + CLOCK_TOLERANCE_MS) this.speeds.pop();
    // A line a few hundred pixels wide shows no more than some points a second.
    const isNew = at - (this.speeds.at(-2)?.[0] ?? 0) >= SPEED_STEP_MS;
    if (!isNew) this.speeds.pop();
    this.speeds.push([at, speed]);
    const oldest = carNow() - SPEED_SPAN_MS;
    // The reading before the oldest has the speed at the left edge.
    while ((this.speeds[1]?.[0] ?? Number.POSITIVE_INFINITY) < oldest) this.speeds.shift();
    if (isNew) this.#changed('speed');
  }

  #changed(topic: Topic | (string & {})): void {
    this.#dirty.add(topic);
    this.#frame ??= requestAnimationFrame(() => {
      this.#frame = undefined;
      const dirty = [...this.#dirty, 'any'];
      this.#dirty.clear();
      for (const one of dirty) for (const listener of this.#listeners.get(one) ?? []) listener();
    });
  }
}

interface LiveEvent {
  readonly path: string;
  readonly value?: unknown;
  readonly at: string;
  readonly stale?: boolean;
}

function sameValue(one: unknown, other: unknown): boolean {
  return one === other || JSON.stringify(one) === JSON.stringify(other);
}

export const store = new CarStore();
