/** Builds the larger parts of an agent, each from the previous ones. `Agent` lists them in order. */
import { defined } from '../protocol/defined.ts';
import type { VehicleProfile } from '../protocol/profile.ts';
import type { MonitorEvent } from '../protocol/schema/event.ts';
import { Callbacks } from './callbacks/callbacks.ts';
import { commandOriginOf } from './callbacks/command-origins.ts';
import type { CallbackDesk } from './callbacks/desk.ts';
import { noNotifier } from './callbacks/notifier.ts';
import { Downlink } from './downlink.ts';
import type { Channels } from './model/channels.ts';
import type { Mapping } from './model/mapping.ts';
import type { Status } from './model/status.ts';
import type { MonitorDesk } from './monitors/desk.ts';
import type { AgentOptions, AgentPorts, CapturesPart, CustomSignalsPart } from './options.ts';
import type { Outbox } from './outbox/outbox.ts';
import { type Pipeline, pipeline } from './pipeline.ts';
import { type PowerState, PowerStates } from './power/power.ts';
import type { WatchLease } from './power/watch-lease.ts';
import type { Records } from './records.ts';
import { agentCommandsOf } from './remotes/agent-commands.ts';
import { Confirmations } from './remotes/confirmation.ts';
import { Ledger } from './remotes/ledger.ts';

/** The parts that all other parts use. */
export interface CoreParts {
  readonly profile: VehicleProfile;
  readonly ports: AgentPorts;
  readonly options: AgentOptions;
  readonly status: Status;
  readonly channels: Channels;
  readonly mapping: Mapping;
  readonly outbox: Outbox;
  readonly records: Records;
  readonly watchLease: WatchLease;
}

export function makeSignals({ ports, options, ...core }: CoreParts): CustomSignalsPart | undefined {
  const { memory, log, clock, deflate } = ports;
  const { status, records, mapping, watchLease } = core;
  return ports.signals?.({
    ...{ status, records, kept: ports.records, memory, log, clock, quality: options.quality, deflate },
    batch: options.settings.outbox.batch,
    patience: watchLease.patience,
    privacy: (at) => mapping.privacyLevel(at),
  });
}

export function makeCaptures({ ports, options, records, mapping }: CoreParts): CapturesPart | undefined {
  const { clock, log, deflate } = ports;
  return ports.captures?.({
    ...{ records, log, deflate, settings: options.settings.captures, now: () => clock.now() },
    highestPrivacy: mapping.highestPrivacy(),
  });
}

export function makePipeline(
  { ports, options, mapping, outbox, watchLease, ...core }: CoreParts,
  signals: CustomSignalsPart | undefined,
  captures: CapturesPart | undefined,
  tell: (event: MonitorEvent) => void,
): Pipeline {
  const { status, channels, records, profile } = core;
  const { log, deflate } = ports;
  return pipeline({
    ...{ status, channels, records, profile, log, deflate, outbox: options.settings.outbox, tell },
    ...{ writer: mapping, publisher: outbox, patience: watchLease.patience },
    signals: signals?.recorder,
    captures: captures?.recorder,
    added: ports.recorders,
    watched: signals?.watched,
    privacy: (at) => mapping.privacyLevel(at),
    highestPrivacy: () => mapping.highestPrivacy(),
  });
}

export function makeCallbacks(
  { ports, options }: CoreParts,
  monitors: MonitorDesk,
  complain: (error: Error) => void,
): Callbacks {
  const { clock, log, store, records, notifier = noNotifier } = ports;
  return new Callbacks({
    ...{ clock, log, records, notifier, bounds: options.settings.callbacks },
    monitors: {
      get all() {
        return monitors.all;
      },
      get: (id) => monitors.get(id),
      remove: (id) => void monitors.remove(id).catch(complain),
    },
    committed: () => store.commit(),
  });
}

export function makePower(
  { ports, options, status }: CoreParts,
  { trips, thefts }: Pipeline,
  changed: (state: PowerState, before: PowerState) => void,
): PowerStates {
  const { clock, log, actuator, traffic } = ports;
  return new PowerStates({
    ...{ clock, status, actuator, log, changed, rules: options.settings.power },
    busy: () => trips.current !== undefined || thefts.current !== undefined,
    ...defined({ traffic }),
  });
}

/** Receivers of messages to the car. */
interface DownlinkTargets {
  readonly monitors: MonitorDesk;
  readonly callbacks: CallbackDesk;
  readonly reports: Pick<Callbacks, 'remote'>;
  readonly captures: CapturesPart | undefined;
  readonly power: PowerStates;
}

export function makeDownlink(
  { ports, options, profile, status, channels, mapping, outbox, watchLease }: CoreParts,
  { thefts, waypoints }: Pipeline,
  targets: DownlinkTargets,
): Downlink {
  const { commands, power: powerRules } = options.settings;
  const { callbacks, reports, captures, power } = targets;
  return new Downlink({
    ...ports,
    ...options,
    limits: { ...options.limits, ...commands, ...powerRules },
    rules: profile.commands,
    ledger: new Ledger(ports.ledger),
    commit: () => ports.store.commit(),
    ...{ status, channels, thefts, power, publisher: outbox, writer: mapping, tracker: waypoints },
    confirmations: new Confirmations(status, ports.clock),
    fed: new Set(profile.sources.map(({ path }) => path)),
    agentCommands: agentCommandsOf(targets, outbox.repetition, ports, captures?.order),
    setOrigin: (id, { callbackId, remote }) => callbacks.setOrigin(id, commandOriginOf(callbackId, remote)),
    reported: (report) => reports.remote(report),
    watched: (until) => watchLease.watch(until),
  });
}
