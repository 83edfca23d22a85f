import { EARLIEST_TIME } from '../protocol/calendar.ts';
import { defined } from '../protocol/defined.ts';
import type { VehicleProfile } from '../protocol/profile.ts';
import type { MonitorEvent } from '../protocol/schema/event.ts';
import { PROTOCOL_VERSION } from '../protocol/schema/message.ts';
import type { Trip } from '../protocol/schema/trip.ts';
import { hexOf } from '../protocol/signals/hash.ts';
import type { Callbacks } from './callbacks/callbacks.ts';
import { CallbackDesk } from './callbacks/desk.ts';
import { CheckpointPolicy } from './checkpoint-policy.ts';
import type { Downlink } from './downlink.ts';
import { Channels } from './model/channels.ts';
import { type AnyColumnSink, intakeOf, sinkWithin } from './model/column-intake.ts';
import { Mapping } from './model/mapping.ts';
import { Snapshot } from './model/snapshot.ts';
import { Status } from './model/status.ts';
import { MonitorDesk } from './monitors/desk.ts';
import type { AgentOptions, AgentPorts, CapturesPart, CustomSignalsPart } from './options.ts';
import { Outbox } from './outbox/outbox.ts';
import {
  type CoreParts,
  makeCallbacks,
  makeCaptures,
  makeDownlink,
  makePipeline,
  makePower,
  makeSignals,
} from './parts.ts';
import type { Pipeline } from './pipeline.ts';
import type { Clock, FrameBatch, FrameDecoder, FrameSource, LinkEvents, ReadingSink, WantedSignal } from './ports.ts';
import { BusActivity } from './power/bus-activity.ts';
import { ClockWatch } from './power/clock-watch.ts';
import type { PowerState, PowerStates } from './power/power.ts';
import { WatchLease } from './power/watch-lease.ts';
import { Records } from './records.ts';
import type { Requests } from './remotes/requests.ts';
import { VehicleAnnouncement } from './vehicle-announcement.ts';
import { FAREWELL, within } from './within.ts';

/** Interval of the recorders' ticks in ms. */
const TICK = 1_000;
/** Interval of the ticks in ms while the unit sleeps. */
const SLEEPING_TICK = 600_000;

/** The core of one car: receives frames and commands, maintains Status, publishes events and records. */
export class Agent implements LinkEvents {
  readonly status = new Status();
  readonly channels = new Channels();
  readonly monitors: MonitorDesk;
  readonly callbacks: CallbackDesk;
  /** Description of the car. Undefined if none was given. */
  readonly vehicle: VehicleAnnouncement | undefined;
  readonly #ports: AgentPorts;
  readonly #options: AgentOptions;
  readonly #mapping: Mapping;
  readonly signals: CustomSignalsPart | undefined;
  readonly #captures: CapturesPart | undefined;
  /** Receivers of readings: the mapping and the custom signals. */
  readonly #sink: AnyColumnSink;
  readonly #outbox: Outbox;
  readonly #records: Records;
  readonly #clockWatch: ClockWatch;
  readonly #pipeline: Pipeline;
  readonly #snapshot: Snapshot;
  readonly #checkpoints: CheckpointPolicy;
  readonly #downlink: Downlink;
  readonly #callbacks: Callbacks;
  readonly #activity: BusActivity;
  readonly #power: PowerStates;
  readonly #profile: VehicleProfile;
  #cancelTick: (() => void) | undefined;
  #greeted = false;
  #stopping = false;
  #startedAt = 0;
  /** Monotonic time of the last hello in ms. */
  #helloAt = 0;
  /** Number of frame batches and ticks that were not completely processed because of a defect. */
  faults = 0;

  constructor(profile: VehicleProfile, ports: AgentPorts, options: AgentOptions) {
    this.#ports = ports;
    this.#options = options;
    this.#profile = profile;
    const { status, channels } = this;
    const { clock, log, link, store, memory } = ports;
    const { outbox, power } = options.settings;

    // Readings → Status; records and messages → broker.
    this.#mapping = new Mapping(status, channels, profile, ports.refusals);
    this.#outbox = new Outbox(store, link, clock, log, { ...options, ...outbox, deflate: ports.deflate }, memory);
    this.#records = new Records(this.#outbox, ports.records, log);
    this.#clockWatch = this.#watchClock();
    const core: CoreParts = {
      ...{ profile, ports, options, status, channels, mapping: this.#mapping },
      ...{ outbox: this.#outbox, records: this.#records, watchLease: new WatchLease(clock) },
    };

    // Status → recorders and monitors. Each part resumes before the next one that depends on it is built.
    this.signals = makeSignals(core);
    this.#sink = this.signals?.behind(this.#mapping, this.#mapping.wanted.length) ?? this.#mapping;
    this.#captures = makeCaptures(core);
    this.#pipeline = makePipeline(core, this.signals, this.#captures, (event) => this.#tell(event));
    this.#snapshot = new Snapshot(status, this.#records, this.#pipeline.recorders, log);
    this.#snapshot.recall(memory);
    this.#checkpoints = new CheckpointPolicy(clock);
    this.#mapping.resume();
    this.#pipeline.monitors.recall(memory, clock.now());

    // Monitors and callbacks, which people and programs can change.
    this.monitors = new MonitorDesk(this.#pipeline.monitors, { publisher: this.#outbox, clock, log });
    this.monitors.recall(memory);
    this.#callbacks = makeCallbacks(core, this.monitors, this.#complain);
    this.#callbacks.recall(memory);
    this.callbacks = new CallbackDesk(this.#callbacks);
    this.vehicle = this.#describe();
    memory.keep(() => this.#states());

    // Power states.
    this.#activity = ports.activity ?? new BusActivity(clock, power.busSilentAfter, false);
    this.#power = makePower(core, this.#pipeline, (state, before) => this.#powerChanged(state, before));
    this.#power.recall(memory);

    // Messages to the car → commands.
    this.#downlink = makeDownlink(core, this.#pipeline, {
      ...{ monitors: this.monitors, callbacks: this.callbacks, reports: this.#callbacks },
      ...{ captures: this.#captures, power: this.#power },
    });
  }

  /** Commands that callers submit at the interface of the car. */
  get requests(): Requests {
    return this.#downlink.requests;
  }

  /** Signals that the decoder must deliver, in this order. */
  get wanted(): readonly WantedSignal[] {
    return this.signals === undefined ? this.#mapping.wanted : [...this.#mapping.wanted, ...this.signals.wanted];
  }

  /** Number of messages not yet acknowledged by the broker. */
  get waiting(): number {
    return this.#outbox.waiting;
  }

  /** True if the car is in use, so that its buses should be active. */
  get inUse(): boolean {
    return this.#power.state === 'active';
  }

  get asleep(): boolean {
    return this.#power.asleep();
  }

  /** Present state of the open trip. */
  get openTrip(): Trip | undefined {
    return this.#pipeline.trips.present(this.#ports.clock.now());
  }

  /** Call when no reading follows, as at the end of a log. Publishes the open trip as unfinished, and returns it. */
  putUnfinishedTrip(): Trip | undefined {
    return this.#pipeline.trips.putUnfinished(this.#ports.clock.now());
  }

  /** Number of readings from the decoder. */
  get readings(): number {
    return this.#mapping.readings + (this.signals?.readings ?? 0);
  }

  /** Number of readings with a value that is impossible for their slot. */
  get refused(): number {
    return this.#mapping.rejected + (this.signals?.rejected ?? 0);
  }

  start(): void {
    this.#startedAt = Math.round(this.#ports.clock.now());
    this.#clockWatch.start();
    this.#ports.rest?.(this.#power.asleep());
    this.#schedule();
    this.signals?.announce(this.#outbox, this.#ports.store);
    // In the first commit, because later starts do not notice the damage.
    if (this.#ports.memory.damaged === true) this.monitors.announce().catch(this.#complain);
    this.#callbacks.start();
    this.#downlink.resume();
  }

  /**
   * Returns the function that receives the frames of `source`. At the first batch it calls `decoder`, which creates a
   * decoder of {@link wanted} for the buses of the source: a source knows its buses only once it is open.
   * @param further receive each batch after it has updated Status, as their privacy must be that of the batch
   */
  intake(
    decoder: () => FrameDecoder,
    source?: Pick<FrameSource, 'buses'>,
    further: readonly ((batch: FrameBatch) => void)[] = [],
  ): (batch: FrameBatch) => void {
    let take: ((batch: FrameBatch) => void) | undefined;
    return (batch) => {
      const isHeard = this.#activity.received(batch, source?.buses ?? []);
      if (this.#stopping) return;
      this.#guard(() => {
        if (isHeard) this.#power.heard();
        this.#clockWatch.look();
        take ??= intakeOf(decoder(), this.#sink);
        take(batch);
        this.#captures?.take(batch, source?.buses ?? []);
      });
      for (const receive of further) this.#guard(() => receive(batch));
    };
  }

  /** Returns the sink for readings that are not frames, such as fixes. `apart`: as in ReadingSource. */
  sink(apart = false): ReadingSink {
    return sinkWithin((work) => {
      if (this.#stopping) return;
      this.#guard(() => {
        if (!apart) this.#power.heard();
        work();
      });
    }, this.#sink);
  }

  /** Accepts no more commands and begins no more actions. Call before anything is closed that takes time. */
  stopCommands(): void {
    this.#downlink.stop();
  }

  /**
   * Publishes open records and resolves when they are on disk and, while connected, acknowledged.
   * @param timer ends the wait for acknowledgements; default: the clock of the agent
   */
  async stop(timer: Pick<Clock, 'after'> = this.#ports.clock): Promise<void> {
    this.#stopping = true;
    this.#cancelTick?.();
    this.stopCommands();
    this.#callbacks.stop();
    const now = this.#ports.clock.now();
    for (const recorder of this.#pipeline.recorders) recorder.flush(now);
    // Unacknowledged messages are on disk. A failed commit was reported already, and the link must still be closed.
    await within(FAREWELL, this.#outbox.settled().catch(this.#complain), timer);
    await this.#downlink.settled();
    this.#outbox.close();
  }

  /** True if the time is known and the times of earlier records have been corrected. */
  get timeKnown(): boolean {
    return this.#clockWatch.known;
  }

  up(): void {
    if (this.#stopping) return;
    this.#greet();
    this.#pipeline.status.linkUp(this.#ports.clock.now());
    this.#outbox.linkUp();
    this.#ports.log.info('link.up', { waiting: this.waiting });
  }

  down(reason: string): void {
    this.#pipeline.status.linkDown();
    if (this.#stopping) return;
    this.#ports.log.warn('link.down', { reason, waiting: this.waiting });
  }

  message(topic: string, payload: Uint8Array, correlation: Uint8Array | undefined): void {
    this.#downlink.message(topic, payload, correlation);
  }

  #watchClock(): ClockWatch {
    const { clock, log } = this.#ports;
    return new ClockWatch({
      clock,
      log,
      quality: this.#options.quality,
      trusted: (known) => this.#records.trustClock(known),
      found: (by) => this.#correct(by),
      stepped: (by) => {
        this.status.stepped(by);
        this.#stepped(by);
      },
    });
  }

  /** Corrects the times of records that were made before the time was known. */
  #correct(by: number): void {
    const latest = this.#ports.clock.now() - by;
    // A clock that starts at its origin also did so in the previous runs: correct their times, too.
    const earliest = this.#startedAt < EARLIEST_TIME ? 0 : this.#startedAt;
    this.status.correct(by, earliest, latest);
    this.#stepped(by);
    for (const recorder of this.#pipeline.recorders) recorder.correct?.(by, latest);
    this.#records.correct(by, latest);
    this.#callbacks.correct(by, earliest, latest);
    this.vehicle?.correct(by, earliest, latest);
    this.#startedAt += by;
    this.hello(by);
  }

  #describe(): VehicleAnnouncement | undefined {
    const { vehicle } = this.#options;
    if (vehicle === undefined) return undefined;
    const { entries = [], catalog } = this.signals?.numbers ?? {};
    const facts = entries.length === 0 || catalog === undefined ? vehicle : { ...vehicle, catalog: hexOf(catalog) };
    return new VehicleAnnouncement(facts, this.#outbox, this.#ports.memory, this.#ports.clock.now());
  }

  #greet(): void {
    // The numbers in the hello show which messages the broker may have lost before this connection.
    this.hello();
    if (this.#greeted) return;
    this.#greeted = true;
    this.vehicle?.announce();
    this.monitors.announce().catch(this.#complain);
  }

  /** Sends the hello with identity and health. `behind`: see helloSchema. */
  hello(behind?: number): void {
    const { version, boot } = this.#options;
    this.#outbox.put('hello', {
      version,
      protocol: PROTOCOL_VERSION,
      boot,
      profile: this.#profile.name,
      startedAt: this.#startedAt,
      ...defined({ behind }),
      power: this.#power.cost,
      numbers: this.#outbox.sent,
      ...this.#ports.overseer?.hello(),
    });
    this.#helloAt = this.#ports.clock.monotonic();
  }

  *#states(): Generator<readonly [key: string, value: unknown]> {
    if (!this.#stopping && this.#checkpoints.spared(this.#outbox.made)) this.#outbox.checkpoint();
    else yield* this.#snapshot.states();
    yield* this.#pipeline.monitors.states();
    yield* this.monitors.states();
    yield* this.vehicle?.states() ?? [];
    yield* this.#callbacks.states();
    yield* this.#power.states();
    yield* this.#downlink.states();
    yield* this.signals?.states() ?? [];
  }

  #stepped(by: number): void {
    this.#mapping.stepped(by);
    this.signals?.stepped(by);
    this.#captures?.stepped(by);
  }

  /** Sends an event to its receivers and to the cloud, in one commit. */
  #tell(event: MonitorEvent): void {
    this.#callbacks.event(event);
    this.#captures?.event(event);
    this.#outbox.secure('event', event).catch(this.#complain);
  }

  #powerChanged(state: PowerState, before: PowerState): void {
    this.#ports.log.info('power.changed', { state, before });
    if (state === 'asleep' || before === 'asleep') this.#rest();
  }

  /** Call after the unit fell asleep or woke. */
  #rest(): void {
    // The pending tick and checks have the delay of the previous state: too long or too short for this one.
    this.#schedule();
    this.#downlink.rested();
    const asleep = this.#power.asleep();
    // Otherwise data that is still being collected would not be sent until the car is used again.
    const now = this.#ports.clock.now();
    if (asleep) for (const recorder of this.#pipeline.recorders) this.#guard(() => recorder.flush(now));
    this.#ports.rest?.(asleep);
  }

  #schedule(): void {
    // Tick at whole seconds of the wall clock: a run that continues another ticks at the same times.
    const { clock } = this.#ports;
    this.#cancelTick?.();
    const every = this.#power.asleep() ? SLEEPING_TICK : TICK;
    this.#ports.overseer?.looksEvery(every);
    this.#cancelTick = clock.after(every - (((clock.now() % every) + every) % every), () => {
      this.#schedule();
      const now = clock.now();
      const slept = this.#power.asleep();
      this.#guard(() => {
        this.#power.look();
        this.#clockWatch.look();
        // Nothing happens in a sleeping car, and its records must not depend on when the tick comes.
        if (slept) return;
        this.status.sweep(now);
        for (const recorder of this.#pipeline.recorders) recorder.tick(now);
      });
      if (!slept) {
        this.#outbox.checkpoint();
        this.monitors.look();
        const { every = Number.POSITIVE_INFINITY } = this.#options.settings.health ?? {};
        if (this.#greeted && clock.monotonic() - this.#helloAt >= every) this.hello();
      }
      this.#ports.overseer?.ticked();
    });
  }

  /** Contains a defect in one recorder so that the others continue; logs it once and counts it. */
  #guard(work: () => void): void {
    try {
      work();
    } catch (error) {
      if (this.faults++ === 0) this.#ports.log.error('agent.defect', { error: (error as Error).stack });
    }
  }

  readonly #complain = (error: Error): void => {
    this.#ports.log.error('agent.workFailed', { error: error.message });
  };
}
