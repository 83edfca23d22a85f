/** Values of the car. Listeners are notified of changes at most once per frame of the screen. */
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
  /** Time of the last change in UTC ms. */
  readonly at: number;
  readonly stale: boolean;
  /** Number of changes that this page has seen; 0 if the value was present from the start. */
  readonly changes: number;
}

/** A change of a value whose states have names, for the list of latest changes. */
interface NamedChange {
  readonly path: string;
  readonly before: unknown;
  readonly after: unknown;
  readonly at: number;
}

export type Connection =
  | { readonly state: 'reading' }
  | { readonly state: 'live' }
  /** `since`: time in ms by the clock of this machine. */
  | { readonly state: 'lost'; readonly since: number; readonly reason: string }
  | { readonly state: 'sign-in'; readonly scheme: 'Basic' | 'Bearer'; readonly before: Before };

/** State of the previous credentials: there were none, they were refused, or they are no longer valid. */
export type Before = 'none' | 'refused' | 'ended';

/** Topics of listeners. The paths of values are topics too. */
export type Topic = 'paths' | 'connection' | 'link' | 'second' | 'named' | 'speed' | 'event' | 'streaming' | 'any';

const MAX_NAMED_CHANGES = 12;
/** Time in ms between two reads of a car's values from a hub: while a stream reports changes, and without a stream. */
const HUB_POLL_INTERVALS_MS = { streaming: 5_000, alone: 500 };
/** Tolerance in ms when clocks are compared. */
const CLOCK_TOLERANCE_MS = 5_000;
/** Period in ms of the speed line. */
export const SPEED_SPAN_MS = 60_000;
/** Shortest time in ms between two points of the speed line. */
const SPEED_STEP_MS = 100;

class CarStore {
  readonly values = new Map<string, CarValue>();
  readonly descriptions = new Map<string, ValueDescription>();
  readonly named: NamedChange[] = [];
  /** Times and speeds, oldest first. A speed is valid until the next one. */
  readonly speeds: (readonly [at: number, speed: number])[] = [];
  car: CarDescription | undefined;
  connection: Connection = { state: 'reading' };
  /** Source of the values: the car that serves the page, or a hub with many cars. */
  source: 'car' | 'hub' = 'car';
  /** State of the agent on a bench, according to the last report. */
  agent: AgentState | undefined;
  /** Time of the car's last message at the hub, in UTC ms. */
  heard: number | undefined;
  /** True while a stream of the hub reports changes and events (topic `event`). Otherwise the page polls them. */
  streaming = false;
  /** Displayed car of the hub; undefined if all cars are displayed; null until the hub has responded. */
  #vin: string | undefined | null = null;
  readonly #listeners = new Map<string, Set<() => void>>();
  readonly #dirty = new Set<string>();
  #frame: number | undefined;
  #abort = new AbortController();
  /** True at the start of a stream, while the values arrive that were known before. */
  #introducing = true;
  #before: Before = 'none';
  #link: LinkReport | undefined;
  /** True while the stream of values is open. */
  #open = false;
  /** Set while a request for the description of the car is running. The signal aborts the request. */
  #describing: AbortSignal | undefined;
  /** Number of events from the stream of the hub. */
  #streamed = 0;

  /** Reads the car until {@link stop} is called. */
  start(signedIn = false): void {
    this.stop();
    if (signedIn) this.#before = 'refused';
    if (this.source === 'hub' && this.#vin === null) return;
    this.#abort = new AbortController();
    const { signal } = this.#abort;
    const ticking = setInterval(() => {
      this.#changed('second');
      // The page of a hub polls every second anyway, and each response contains the time.
      if (this.source === 'car' && this.connection.state !== 'sign-in') compareClocks();
    }, 1_000);
    signal.addEventListener('abort', () => clearInterval(ticking));
    this.#read(signal).catch((error: Error) => this.#lost(error));
  }

  stop(): void {
    this.#abort.abort();
    this.streaming = false;
  }

  /** Displays this car of a hub, or all cars. Call after sign-in, because this requests credentials only once. */
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

  /** Notifies `listener` of changes to a path or topic. Returns a function that stops this. */
  listen(topic: Topic | (string & {}), listener: () => void): () => void {
    const set = this.#listeners.get(topic) ?? new Set();
    this.#listeners.set(topic, set);
    set.add(listener);
    return () => set.delete(listener);
  }

  /** Stores the state of the agent on a bench, so that the whole page shows the same state. */
  noteAgent(agent: AgentState | undefined): void {
    // A running agent counts as working only once its values arrive.
    const shown = agent === 'runs' && this.connection.state !== 'live' ? 'starts' : agent;
    if (agent === 'runs' && this.connection.state === 'lost') tryNow();
    if (shown === this.agent) return;
    this.agent = shown;
    this.#changed('connection');
  }

  /** State of the car's link, if it is currently known. */
  get link(): LinkReport | undefined {
    return this.connection.state === 'live' ? this.#link : undefined;
  }

  value(path: string): CarValue | undefined {
    return this.values.get(path);
  }

  /** Returns the value if it is up to date. */
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

  /** Waits until the first stream was admitted, so that a page without credentials asks for them only once. */
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
      // Changes that the stream sent after the request are newer than this response.
      if (streamedBefore !== this.#streamed && !isAnew) return;
      for (const one of answer.values) if (!this.#isKnown(one)) this.#liveEvent('change', one);
      // The values in the first response do not count as changes.
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

  /** Follows the events of all cars, or the events and values of one car. If the stream is lost, polling continues. */
  async #followHub(path: string, signal: AbortSignal): Promise<void> {
    const streams = (streaming: boolean): void => {
      this.streaming = streaming;
      this.#changed('streaming');
    };
    const event = ({ name, data }: ServerEvent): void => {
      this.#streamed++;
      // A stream starts with all values, even unchanged ones.
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

  /** Requests the description of the car until there is a response. */
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
      // A bench describes its car even if the agent is not running.
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
    // At the start, all known values arrive together. After the first value that arrives twice, each new value is a
    // change.
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
    // Remove entries that a fast clock has dated in the future: they would stay above all newer changes.
    while ((this.named[0]?.at ?? 0) > Math.max(at, carNow() + CLOCK_TOLERANCE_MS)) this.named.shift();
    // A hub receives changes in batches, so they do not arrive in the order of their times.
    const older = this.named.findIndex((one) => one.at <= at);
    const place = older === -1 ? this.named.length : older;
    this.named.splice(place, 0, { path, before: before.value, after: event.value, at });
    this.named.length = Math.min(this.named.length, MAX_NAMED_CHANGES);
    this.#changed('named');
  }

  /** Adds speeds that were recorded before this page was opened, oldest first. */
  addEarlierSpeeds(speeds: CarStore['speeds']): void {
    const first = this.speeds[0]?.[0] ?? Number.POSITIVE_INFINITY;
    this.speeds.unshift(...speeds.filter(([at]) => at < first));
    this.#changed('speed');
  }

  #noteSpeed(at: number, speed: number): void {
    // If the clock was set back, remove later points: time on the line only increases.
    while ((this.speeds.at(-1)?.[0] ?? 0) > at + CLOCK_TOLERANCE_MS) this.speeds.pop();
    // A line that is a few hundred pixels wide can show only some points per second.
    const isNew = at - (this.speeds.at(-2)?.[0] ?? 0) >= SPEED_STEP_MS;
    if (!isNew) this.speeds.pop();
    this.speeds.push([at, speed]);
    const oldest = carNow() - SPEED_SPAN_MS;
    // Keep one older point: its speed is valid at the left edge.
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
