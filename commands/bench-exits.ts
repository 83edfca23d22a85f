/** Topics with plain values, and the description for Home Assistant, at the broker of a bench. */
import type { MqttAddress } from '../adapters/mqtt/index.ts';
import type { CarExits } from '../assembly/exits.ts';
import { configurationDefaults } from '../config/defaults.ts';
import { dataScopes } from '../protocol/interface/operations/scopes.ts';
import { remoteScopeOf } from '../protocol/interface/remotes.ts';
import { remoteTypes } from '../protocol/remote/table.ts';

/** Returns exits with all scopes: a simulated car has no people whom a command could harm. */
export function benchExits(broker: MqttAddress): CarExits {
  return {
    configuration: {
      mqtt: { url: String(broker.url), protocol: 'auto' },
      prefix: 'vigie/plain',
      form: 'value',
      retain: true,
      homeAssistant: { language: 'en', prefix: 'homeassistant' },
      scopes: new Set([...dataScopes, ...remoteTypes.map(remoteScopeOf)]),
      ...configurationDefaults.exits,
    },
    broker,
  };
}
