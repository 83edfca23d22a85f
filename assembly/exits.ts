/** Sends the values of a running car to a broker for plain topics, and accepts commands from there. */
import { CommandTopics } from '../adapters/exits/commands.ts';
import { CarExit, commandTopic, type ExitMessage } from '../adapters/exits/exit.ts';
import type { Platforms } from '../adapters/exits/home-assistant.ts';
import { eventMessage } from '../adapters/exits/records.ts';
import { type MqttAddress, MqttLink, presenceAt } from '../adapters/mqtt/index.ts';
import type { Agent } from '../agent/agent.ts';
import type { ExitsConfiguration } from '../config/exits.ts';
import { dateTime } from '../protocol/interface/json/date-time.ts';
import { remoteScopeOf } from '../protocol/interface/remotes.ts';
import { scopeOfPath } from '../protocol/interface/visible-members.ts';
import { findRemoteKind, type RemoteType } from '../protocol/remote/table.ts';
import { isRecord, type Slot, slotByPath } from '../protocol/slots.ts';
import type { CarForwarderOptions } from './car-forwarder.ts';
import { exitReport, type OpenExit } from './exit-report.ts';
import type { NumberedExitsOptions } from './numbered-exits.ts';
import { openRecordTopics } from './record-topics.ts';
import type { Vehicle } from './vehicle.ts';
import { version } from './version.ts';

/** Configured exits, and the address of the broker of plain topics. */
export interface CarExits {
  readonly configuration: ExitsConfiguration;
  /** If omitted, there are no plain topics. */
  readonly broker?: MqttAddress;
  /**
   * Starts the exits to databases. Passed in, because they need a package that programs with the library do without. If
   * omitted, no exit to a database runs.
   */
  readonly openNumbered?: (options: NumberedExitsOptions) => Promise<OpenExit>;
}

interface ExitOptions extends Required<Omit<CarExits, 'openNumbered'>>, CarForwarderOptions {
  readonly vin: string;
  readonly title: string;
  readonly vehicle: Vehicle;
  readonly agent: Agent;
  /** True if the car accepts commands. */
  readonly commands: boolean;
}

/** Starts the exit. Its `close` has the broker show the car as offline. */
export async function openExit(options: ExitOptions): Promise<OpenExit> {
  const { vin, vehicle, agent, configuration, broker, rest, clock, log } = options;
  const { prefix, form, retain, interval, scopes } = configuration;
  const may = mayOf(options);
  const link = new MqttLink({
    // The broker must not store commands, because they would be executed late.
    ...{ ...broker, vin, clientId: `vigie-exit-${vin}`, sessionExpiry: 0, rest, log },
    down: commandTopic(prefix, vin, '#'),
    presence: presenceAt(`${prefix}/${vin}/presence`),
  });
  const sees = ({ path }: Slot): boolean => scopes.has(scopeOfPath(path));
  const fed = [...vehicle.profile.sources.map(({ path }) => path), ...Object.keys(vehicle.profile.constants)];
  const fedSlots = fed.flatMap((path) => slotByPath.get(path) ?? []).filter(sees);
  const describe = await describerOf(options, may, fedSlots);
  const signals = agent.signals?.view;
  const tellOutcome = (outcome: object): void =>
    exit.tell({ topic: `${prefix}/${vin}/command`, text: JSON.stringify(outcome), retain });
  const exit = new CarExit({
    ...{ vin, link, clock, log, describe, signals, sees, status: agent.status },
    topics: { prefix, form, retain, interval },
    seesSignal: ({ position }) => scopes.has(position ? 'data:position' : 'data:telemetry'),
    fed: fedSlots,
    commands: new CommandTopics({
      may,
      submit: ({ type, body }) => submit(agent, type, body),
      refused: (order, reason) =>
        tellOutcome({ ...order, status: 'Failed', detail: reason, at: dateTime(clock.now()) }),
      log,
    }),
  });
  if (scopes.has('data:telemetry')) {
    agent.requests.observe({
      arrived: () => undefined,
      reported: ({ remoteActionId, type, status, failureCause, detail }) =>
        tellOutcome({ remoteActionId, type, status, failureCause, detail, at: dateTime(clock.now()) }),
    });
  }
  agent.status.observe(exit);
  const unfollow = signals?.follow((name) => exit.signalChanged(name));
  const records = openRecordTopics({ ...options, link, prefix, sees: (scope) => scopes.has(scope) });
  link.open({
    up: () => {
      exit.up();
      records.poke();
    },
    down: () => exit.down(),
    message: (topic, payload, correlation, retained) => exit.message(topic, payload, correlation, retained),
  });
  log.info('exit.opened', { broker: String(broker.url), scopes: [...scopes].join(' ') });
  // While the broker is away, its reason is the reason of both exits.
  const failure = (): object => (link.connected ? {} : { error: link.health().reason ?? 'connects to the broker' });
  const test = (): Promise<void> => exit.test();
  return {
    numbered: (message) => {
      if (message.kind !== 'event' || !agent.timeKnown) return;
      const event = eventMessage({ prefix, vin, sees: (scope) => scopes.has(scope) }, message);
      if (event !== undefined) exit.tell(event);
    },
    served: [
      { report: () => exitReport('topics', 'topics', [{ ...exit.report, ...failure() }]), test },
      {
        report: () =>
          exitReport(
            'records',
            'topics',
            records.reports.map((report) => ({ ...report, ...failure() })),
          ),
        test,
      },
    ],
    async close() {
      agent.status.unobserve(exit);
      unfollow?.();
      exit.close();
      await records.close();
      await link.close();
    },
  };
}

/** Announcement to Home Assistant, kept to remove entities later. */
interface Announced {
  readonly topic: string;
  readonly platforms: Platforms;
}
const ANNOUNCED = 'exit.announced';

/** Returns the function that describes values to Home Assistant. Without it, removes the device of an earlier start. */
async function describerOf(
  { vin, title, store, configuration: { homeAssistant, prefix, scopes } }: ExitOptions,
  may: (type: RemoteType) => boolean,
  fed: readonly Slot[],
): Promise<(known: ReadonlySet<Slot>) => readonly ExitMessage[]> {
  const before = announcedIn(store.memory.recall(ANNOUNCED));
  const keep = (announced: Announced): void => store.memory.keep(() => [[ANNOUNCED, announced]]);
  const removal = before === undefined ? [] : [{ topic: before.topic, text: '', retain: true }];
  if (homeAssistant === undefined) {
    if (before !== undefined) keep(before);
    return () => removal;
  }
  // The table has words in three languages: load it only for an exit that uses them.
  const { dictionaryOf } = await import('../protocol/words/table.ts');
  const { discoveryOf, discoveryTopic, platformsOf } = await import('../adapters/exits/home-assistant.ts');
  const words = dictionaryOf(homeAssistant.language);
  const reports: ('alert' | 'event')[] = [];
  if (store.numbered !== undefined && scopes.has('data:alert')) reports.push('alert');
  if (scopes.has('data:telemetry') && scopes.has('data:position')) reports.push('event');
  const announced = before?.platforms ?? {};
  const shared = { vin, title, version, discovery: homeAssistant.prefix, prefix, words, may, reports, announced };
  const topic = discoveryTopic(shared);
  // Only the profile and the scopes remove entities: a value that is unknown now may return.
  keep({ topic, platforms: { ...announced, ...platformsOf(shared, fed) } });
  const moved = removal.filter((old) => old.topic !== topic);
  return (known) => [...moved, discoveryOf(shared, known)];
}

function announcedIn(kept: unknown): Announced | undefined {
  if (!isRecord(kept)) return undefined;
  const { topic, platforms } = kept as Partial<Announced>;
  return typeof topic === 'string' && isRecord(platforms) ? { topic, platforms } : undefined;
}

/** Returns a function that is true for a kind of command if it is permitted and the profile has all of its actions. */
function mayOf({ vehicle, configuration: { scopes }, commands }: ExitOptions): (type: RemoteType) => boolean {
  const can = new Set(Object.keys(vehicle.profile.commands));
  return (type) => {
    const actions = Object.keys(findRemoteKind(type)?.actions ?? {});
    return commands && scopes.has(remoteScopeOf(type)) && actions.every((action) => can.has(action));
  };
}

function submit(agent: Agent, type: RemoteType, body: object): Promise<unknown> {
  const member = findRemoteKind(type)?.member ?? type;
  return agent.requests.submit({ id: crypto.randomUUID(), type, body, remote: { [member]: body } });
}
