/** The reduced agent used after repeated crashes or without readable records: it connects, and does nothing else. */
import type { CarClock } from '../adapters/clock/system.ts';
import { type MqttAddress, MqttLink } from '../adapters/mqtt/index.ts';
import { memoryStore } from '../adapters/store/index.ts';
import { MinimalAgent } from '../agent/minimal.ts';
import type { Log } from '../agent/ports.ts';
import type { IdentifiedConfiguration } from '../config/configuration.ts';
import { agentSettings } from '../protocol/settings.ts';
import { unrecordedBoot } from './directory.ts';
import { openKeys, openRecords } from './records.ts';
import type { Service } from './service.ts';
import { type Teardown, withTeardown } from './teardown.ts';
import { version } from './version.ts';

interface MinimalParts {
  readonly configuration: IdentifiedConfiguration;
  readonly mqtt: MqttAddress;
  /** Directory of the records. Omitted if the disk fails to return them: no key is trusted and nothing is written. */
  readonly data?: string;
  readonly service: Service;
  readonly clock: CarClock;
  readonly log: Log;
  readonly reason: string;
}

/**
 * Starts the reduced agent and resolves with the function that stops it.
 * @throws VigieError `store.unreadable` if the disk fails to return the records, and the errors of an invalid broker
 * address; in either case everything is closed first
 */
export async function startMinimal(parts: MinimalParts): Promise<() => Promise<void>> {
  const { stop } = await withTeardown(parts.log, (teardowns) => begin(parts, teardowns));
  return stop;
}

/** Starts everything. Prepends the function that ends each started thing to `teardowns`. */
async function begin(parts: MinimalParts, teardowns: Teardown[]): Promise<void> {
  const { configuration, data, service, clock, log, reason } = parts;
  const { vin, commands, profile } = configuration;
  const settings = agentSettings(configuration);
  const store = async () => ({ ...memoryStore(), boot: unrecordedBoot() });
  const place = data === undefined ? { store } : { data };
  const records = await openRecords({ vin, ...place, first: false, settings, clock, log }, teardowns);
  const { boot, ledger } = records;
  const { trust } = (data === undefined ? undefined : commands) ?? {};
  const verifier = await openKeys({ data, first: false, clock, log, trust, service }, records, teardowns);
  const link = new MqttLink({ ...parts.mqtt, vin, log });
  teardowns.unshift(() => link.close());
  const agent = new MinimalAgent(
    {
      clock,
      log,
      store: service.store(records.store),
      memory: records.store.memory,
      verifier,
      ledger,
      agentCommands: service.agentCommands,
      ticked: service.overseer.ticked,
      link: {
        get connected() {
          return link.connected;
        },
        publish: async (message) => {
          await link.publish(message);
          service.published(message.topic, message.payload);
        },
      },
    },
    {
      vin,
      version,
      boot,
      profile,
      reason,
      settings,
      quality: () => clock.quality(),
      window: () => link.window,
      more: service.overseer.hello,
    },
  );
  teardowns.unshift(() => agent.stop());
  agent.start();
  link.open(service.events(agent, link));
}
