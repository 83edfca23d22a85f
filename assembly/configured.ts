/** Builds an agent from a configuration, including its sources, broker and limits. */

import type { MqttAddress } from '../adapters/mqtt/index.ts';
import { UnitRest } from '../agent/power/rest.ts';
import type { Configuration, IdentifiedConfiguration } from '../config/configuration.ts';
import { configurationDefaults } from '../config/defaults.ts';
import { brokerAddress } from '../config/mqtt.ts';
import { defined } from '../protocol/defined.ts';
import { agentSettings } from '../protocol/settings.ts';
import { channelsOf } from './callback-channels.ts';
import { type Car, startCar } from './car.ts';
import type { CarOptions } from './car-options.ts';
import type { CarExits } from './exits.ts';
import { faultCodesOf } from './faults.ts';
import type { Service } from './service.ts';
import { sourcesOf } from './sources.ts';

interface ConfiguredParts extends Pick<CarOptions, 'vehicle' | 'clock' | 'log'>, Required<Pick<CarOptions, 'data'>> {
  /** If omitted, the previous monitors stay active. */
  readonly monitors: CarOptions['monitors'];
  readonly service: Service;
  /** Called before each connection attempt to the broker; see {@link ./renewal.ts}. */
  readonly dialing?: (() => void) | undefined;
  /** Folder for recordings; overrides the configured one. */
  readonly record?: string | undefined;
}

/** Starts the agent. Rejects like {@link startCar}, and with `configuration.wrong` for an invalid address. */
export async function startConfigured(
  configuration: IdentifiedConfiguration,
  { service, record, monitors, dialing, ...parts }: ConfiguredParts,
): Promise<Car> {
  const recording = record === undefined ? {} : { record: { ...configurationDefaults.record, folder: record } };
  const rest = new UnitRest();
  const { vehicle, clock, log } = parts;
  const { sources, readings, sender, requesters, listen, faults, close } = sourcesOf(
    { ...configuration, ...recording },
    vehicle,
    clock,
    log,
    rest,
    service.vinRead,
  );
  const { vin, http, timeZone, commands } = configuration;
  try {
    const codes =
      faults && configuration.faults && (await faultCodesOf(faults, configuration.faults, vehicle.profile, log));
    const car = await startCar({
      ...parts,
      vin,
      sources: service.frames(sources),
      readings: service.readings(readings),
      ...defined({ sender }),
      requesters,
      listen,
      ...defined({ faults: codes }),
      mqtt: brokerOf(configuration, dialing),
      ...(commands === undefined ? {} : { trust: commands.trust }),
      ...defined({ zone: timeZone }),
      settings: agentSettings(configuration),
      notificationChannels: channelsOf(configuration.callbacks, () => clock.now()),
      ...defined({ http, monitors, exits: exitsOf(configuration) }),
      rest,
      published: service.published,
      service,
    });
    return {
      ...car,
      stop: async () => {
        await car.stop();
        close?.();
      },
    };
  } catch (error) {
    close?.();
    throw error;
  }
}

/** Returns the configured broker. Calls `dialing` before each connection over TLS. */
export function brokerOf({ mqtt, power }: Configuration, dialing?: () => void): MqttAddress {
  return {
    ...brokerAddress(mqtt, dialing),
    keepalive: mqtt.keepalive / 1000,
    asleepKeepalive: power.keepalive / 1000,
  };
}

function exitsOf({ exits, power }: Configuration): CarExits | undefined {
  if (exits === undefined) return undefined;
  return {
    configuration: exits,
    // Use the keep-alive of a sleeping unit even while awake, so that the unit need not wake up for this connection.
    ...(exits.mqtt && { broker: { ...brokerAddress(exits.mqtt), keepalive: power.keepalive / 1000 } }),
    ...(exits.influx && {
      openNumbered: async (options) => (await import('./numbered-exits.ts')).openNumberedExits(options),
    }),
  };
}
