/** Sends the values of a running car to a broker for plain topics, and accepts commands from there. */
import { CommandTopics } from '../adapters/exits/commands.ts';
import { CarExit, commandTopic, type ExitMessage } from '../adapters/exits/exit.ts';
import { type MqttAddress, MqttLink, presenceAt } from '../adapters/mqtt/index.ts';
import type { Agent } from '../agent/agent.ts';
import type { ExitsConfiguration } from '../config/exits.ts';
import { dateTime } from '../protocol/interface/json/date-time.ts';
import { remoteScopeOf } from '../protocol/interface/remotes.ts';
import { scopeOfPath } from '../protocol/interface/visible-members.ts';
import { findRemoteKind, type RemoteType } from '../protocol/remote/table.ts';
import type { Slot } from '../protocol/slots.ts';
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
  const describe = await describerOf(options, may);
  const tellOutcome = (outcome: object): void =>
    exit.tell({ topic: `${prefix}/${vin}/command`, text: JSON.stringify(outcome), retain });
  const exit = new CarExit({
    ...{ vin, link, clock, log, describe, status: agent.status },
    topics: { prefix, form, retain, interval },
    sees: ({ path }) => scopes.has(scopeOfPath(path)),
    fed: [...vehicle.profile.sources.map(({ path }) => path), ...Object.keys(vehicle.profile.constants)],
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
      exit.close();
      await records.close();
      await link.close();
    },
  };
}

/** Returns the function that describes values to Home Assistant; if that is not configured, it describes nothing. */
async function describerOf(
  { vin, title, configuration: { homeAssistant, prefix } }: ExitOptions,
  may: (type: RemoteType) => boolean,
): Promise<(known: ReadonlySet<Slot>) => readonly ExitMessage[]> {
  if (homeAssistant === undefined) return () => [];
  // The table has words in three languages: load it only for an exit that uses them.
  const { dictionaryOf } = await import('../protocol/words/table.ts');
  const { discoveryOf } = await import('../adapters/exits/home-assistant.ts');
  const words = dictionaryOf(homeAssistant.language);
  return (known) => [discoveryOf({ vin, title, version, discovery: homeAssistant.prefix, prefix, words, may }, known)];
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
