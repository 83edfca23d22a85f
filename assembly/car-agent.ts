/** Builds the agent of a car from its open records, its keys and its link. */
import { notifierOf } from '../adapters/callbacks/request-batch.ts';
import type { OwnKey, TrustStore } from '../adapters/keys/index.ts';
import { Agent } from '../agent/agent.ts';
import type { AgentPorts } from '../agent/options.ts';
import type { OutgoingMessage } from '../agent/ports.ts';
import { BusActivity } from '../agent/power/bus-activity.ts';
import type { UnitRest } from '../agent/power/rest.ts';
import type { AgentCommand } from '../agent/remotes/agent-command.ts';
import { defined } from '../protocol/defined.ts';
import { type HelloMissing, MAX_REPORTED_KEYS } from '../protocol/schema/hello.ts';
import type { CommandKind } from '../protocol/schema/remote.ts';
import { agentSettings } from '../protocol/settings.ts';
import { actuationOf } from './actuation.ts';
import { setAlarm } from './alarm.ts';
import { capturesOf } from './captures.ts';
import type { CarOptions } from './car-options.ts';
import { type CloudLink, publisherOf } from './cloud-link.ts';
import { Collect } from './collect.ts';
import { deflate } from './deflate.ts';
import { readFaultsCommand } from './faults.ts';
import type { OpenRecords } from './records.ts';
import { signalsOf } from './vehicle.ts';
import { version } from './version.ts';
import { factsOf, namesOf, takesCommands } from './view.ts';

/** Parts from which the agent of a car is built. */
interface CarAgentParts {
  readonly records: OpenRecords;
  readonly keys: TrustStore;
  /** The unit's own key, which signs commands from its interface. */
  readonly own: OwnKey | undefined;
  readonly link: CloudLink;
  readonly rest: UnitRest;
  /** Files that were missing at startup. */
  readonly missing: readonly HelloMissing[];
}

/** An agent with the parts around it that its callers use. */
export interface CarAgent {
  readonly agent: Agent;
  readonly actuation: ReturnType<typeof actuationOf>;
  readonly collect: Collect;
}

export async function buildAgent(options: CarOptions, parts: CarAgentParts): Promise<CarAgent> {
  const { vin, vehicle, clock, log, service, sources = [], settings = agentSettings() } = options;
  const { records, link } = parts;
  const { store } = records;
  const activity = new BusActivity(clock, settings.power.busSilentAfter);
  // A bus without a source accepts no frames: the sender of a command must get that error, not "the bus sleeps".
  const sleeps = (bus: string): boolean => sources.some((source) => source.buses.includes(bus)) && activity.asleep(bus);
  const actuation = actuationOf(vehicle, { ...options, sleeps }, clock, log, options.actuators);
  const outbox = service?.store(store) ?? store.outbox;
  const collect = new Collect({
    ...{ vehicle, clock, log, memory: store.memory, waiting: outbox, listen: options.listen, settings },
    quality: () => clock.quality(),
    numbers: () => agent.signals?.numbers,
    commit: () => outbox.commit(),
    hello: () => agent.hello(),
  });
  const agent: Agent = new Agent(
    vehicle.profile,
    {
      ...{ clock, log, deflate, activity, store: outbox, memory: store.memory, records: store.records },
      ...{ ledger: records.ledger, actuator: actuation.actuator, waker: setAlarm, rest: parts.rest.set },
      ...keyPorts(options, parts),
      ...(await signalsOf(vehicle)),
      ...(await capturesOf(vehicle)),
      recorders: [
        ...(options.recorders ?? []),
        collect.recorder,
        ...(options.faults?.recorders({ write: (channel, value, at) => agent.channels.write(channel, value, at) }) ??
          []),
      ],
      link: linkPort(link, options),
      traffic: () => link.bytes ?? 0,
      agentCommands: agentCommands(options, collect, () => outbox.commit()),
      overseer: overseerOf(options, parts, collect),
    },
    {
      ...{ vin, version, boot: records.boot, settings },
      ...defined({ zone: options.zone, numbered: options.numbered }),
      vehicle: factsOf({ vehicle, http: options.http, commands: takesCommands(options) }),
      quality: () => clock.quality(),
      window: () => link.window ?? 1,
    },
  );
  parts.keys.onChange(() => agent.hello());
  return { agent, actuation, collect };
}

/** Returns the keys that the agent accepts, the unit's own key, and the channels for notifications. */
function keyPorts(
  { vin, vehicle, http, notificationChannels }: CarOptions,
  { keys, own }: CarAgentParts,
): Pick<AgentPorts, 'verifier' | 'keys' | 'signer' | 'notifier'> {
  const names = namesOf({ vin, vehicle, http });
  return {
    verifier: keys,
    keys,
    ...(own === undefined ? {} : { signer: own.signer }),
    ...(notificationChannels === undefined ? {} : { notifier: notifierOf(notificationChannels, () => names) }),
  };
}

function linkPort(link: CloudLink, { link: own, published, log }: CarOptions): AgentPorts['link'] {
  const publish = own === undefined ? (message: OutgoingMessage) => link.publish(message) : publisherOf(link, log);
  return {
    get connected() {
      return link.connected;
    },
    publish: async (message) => {
      await publish(message);
      published?.(message.topic, message.payload);
    },
  };
}

function agentCommands(
  { service, faults }: CarOptions,
  collect: Collect,
  commit: () => Promise<void>,
): NonNullable<AgentPorts['agentCommands']> {
  return new Map<CommandKind, AgentCommand>([
    ...(service?.agentCommands ?? []),
    ['Collect', collect.order],
    ...(faults === undefined ? [] : ([['ReadFaults', readFaultsCommand(faults, commit)]] as const)),
  ]);
}

function overseerOf(
  { service }: CarOptions,
  { missing, keys }: CarAgentParts,
  collect: Collect,
): NonNullable<AgentPorts['overseer']> {
  let reported: TrustStore['reported'] | undefined;
  return {
    looksEvery: (ms) => service?.overseer.looksEvery(ms),
    ticked: () => service?.overseer.ticked(),
    hello: () => {
      const isNew = keys.reported !== reported && keys.reported.length <= MAX_REPORTED_KEYS;
      reported = keys.reported;
      return {
        ...service?.overseer.hello(),
        ...(missing.length > 0 && { missing: [...missing] }),
        ...collect.hello(),
        ...(isNew && { keys: [...keys.reported] }),
      };
    },
  };
}
