import { readFileSync } from 'node:fs';
import { Command } from 'commander';
import { SystemClock } from '../adapters/clock/system.ts';
import { StreamLog } from '../adapters/logging/stream.ts';
import type { MqttAddress } from '../adapters/mqtt/index.ts';
import { type Configuration, loadConfiguration, readSecret } from '../config/configuration.ts';
import { configurationDefaults } from '../config/defaults.ts';
import { checkInputs } from '../config/inputs.ts';
import type { MqttConfiguration } from '../config/mqtt.ts';
import { VigieError } from '../protocol/errors.ts';
import { startCar } from './car.ts';
import { complain } from './output.ts';
import { untilSignal } from './signals.ts';
import { sourcesOf } from './sources.ts';
import { loadVehicle } from './vehicle.ts';

export function runCommand(): Command {
  return new Command('run')
    .summary('the agent in the car')
    .description('Runs the agent as the configuration says, until SIGTERM or Ctrl-C. Prints one line when ready.')
    .requiredOption('-c, --config <file>', 'configuration; `vigie check -c` explains its faults')
    .option('--data <dir>', 'directory of records, instead of the one configured')
    .option('--record <dir>', 'record the frames of all buses there as candump logs, instead of what is configured')
    .addHelpText(
      'after',
      `
Live frames come from standard input where the configuration says \`log: '-'\`:
  candump -L can0 | vigie run -c vigie.yaml`,
    )
    .action(async (options: { config: string; data?: string; record?: string }) => {
      const { configuration, diagnostics } = loadConfiguration(options.config, process.env);
      complain(diagnostics);
      if (configuration === undefined) {
        throw new VigieError('configuration.wrong', 'the configuration has errors', { where: options.config });
      }
      const { record } = options;
      const recording = record === undefined ? {} : { record: { ...configurationDefaults.record, folder: record } };
      await drive({ ...configuration, ...recording }, options.data ?? configuration.data);
    });
}

async function drive(configuration: Configuration, data: string): Promise<void> {
  const vehicle = loadVehicle(configuration.profile);
  const faults = checkInputs(configuration, vehicle.profile);
  complain(faults);
  if (faults.some(({ severity }) => severity === 'error')) {
    throw new VigieError('configuration.wrong', 'the inputs do not fit the profile', { where: configuration.file });
  }
  const log = new StreamLog(process.stderr, configuration.log.level);
  const clock = new SystemClock({ stepped: (by) => log.warn('receivers set the clock', { by }) });
  const { sources, readings, sender, close } = sourcesOf(configuration, vehicle, clock, log);
  const trust = configuration.commands?.trust;
  const signalled = untilSignal();
  const car = await startCar({
    vin: configuration.vin,
    vehicle,
    data,
    sources,
    readings,
    ...(sender === undefined ? {} : { sender }),
    mqtt: addressOf(configuration.mqtt),
    ...(trust === undefined ? {} : { trust }),
    limit: configuration.outbox.limit,
    batch: configuration.outbox.batch,
    log,
    clock,
  });
  process.stdout.write(`ready: ${configuration.vin} (${vehicle.profile.name}), records in ${data}\n`);
  await signalled;
  await car.stop();
  close?.();
  // A bus that never spoke is still being waited for there.
  process.stdin.destroy();
}

function addressOf({ protocol, keepalive, passwordFile, username, ...mqtt }: MqttConfiguration): MqttAddress {
  const tls = Object.fromEntries(
    (['ca', 'cert', 'key'] as const).flatMap((name) => {
      const file = mqtt[name];
      return file === undefined ? [] : [[name, readFileSync(file)]];
    }),
  );
  return {
    url: mqtt.url,
    protocol: protocol === 'auto' ? 'auto' : protocol === '5' ? 5 : 4,
    keepalive: keepalive / 1000,
    ...(Object.keys(tls).length === 0 ? {} : { tls }),
    ...(username === undefined ? {} : { username }),
    ...(passwordFile === undefined ? {} : { password: readSecret(passwordFile) }),
  };
}
