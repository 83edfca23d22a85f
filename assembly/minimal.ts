/** The agent that is left after repeated crashes: connected, and nothing else. */
import { join } from 'node:path';
import type { SystemClock } from '../adapters/clock/system.ts';
import { TrustStore } from '../adapters/keys/index.ts';
import { type MqttAddress, MqttLink } from '../adapters/mqtt/index.ts';
import { openDocument, openStore } from '../adapters/store/index.ts';
import { MinimalAgent } from '../agent/minimal.ts';
import type { Log } from '../agent/ports.ts';
import type { IdentifiedConfiguration } from '../config/configuration.ts';
import { type Boots, countBoot, openChanges, openLedger } from './directory.ts';
import { keepTrust } from './retry.ts';
import type { Service } from './service.ts';
import { type Teardown, withTeardown } from './teardown.ts';
import { version } from './version.ts';

export interface MinimalParts {
  readonly configuration: IdentifiedConfiguration;
  readonly mqtt: MqttAddress;
  readonly data: string;
  readonly service: Service;
  readonly clock: SystemClock;
  readonly log: Log;
  readonly reason: string;
}

/**
 * Starts it; the result teardowns it.
 * @throws VigieError `store.failed` when the records cannot be opened at all, and what the address of the broker is
 * refused with; nothing is left open then
 */
export async function startMinimal(parts: MinimalParts): Promise<() => Promise<void>> {
  const { stop } = await withTeardown(parts.log, (teardowns) => begin(parts, teardowns));
  return stop;
}

/** Registers at the front of `teardowns` how to end each thing that it begins. */
async function begin(parts: MinimalParts, teardowns: Teardown[]): Promise<void> {
  const { configuration, data, service, clock, log, reason } = parts;
  const { vin, commands, outbox, profile } = configuration;
  const boots = await openDocument<Boots>(join(data, 'boot.json'), { boot: 0 }, { log });
  const boot = await countBoot(boots, vin, data, log);
  const store = await openStore(join(data, 'outbox'), {
    log,
    now: () => (clock.quality() === 'none' ? undefined : clock.now()),
    agreed: () => clock.agreed(),
  });
  teardowns.unshift(() => store.close());
  const ledger = await openLedger(data, false, log);
  const verifier = TrustStore.without(
    clock,
    commands === undefined
      ? {}
      : {
          changes: await openChanges({ data, memory: store.memory, file: commands.trust, first: false, ledger, log }),
          log,
        },
  );
  store.memory.keep(() => verifier.states());
  if (commands !== undefined) teardowns.unshift(await keepTrust(verifier, commands.trust, { service, clock, log }));
  const link = new MqttLink({ ...parts.mqtt, vin, log });
  teardowns.unshift(() => link.close());
  const agent = new MinimalAgent(
    {
      clock,
      log,
      store: service.store(store),
      memory: store.memory,
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
      limit: outbox.limit,
      ...(commands === undefined ? {} : { validity: commands.maxValidity }),
      quality: () => clock.quality(),
      window: () => link.window,
      more: service.overseer.hello,
    },
  );
  teardowns.unshift(() => agent.stop());
  agent.start();
  link.open(service.events(agent, link));
}
