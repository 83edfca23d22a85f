import { readFileSync } from 'node:fs';
import { Command } from 'commander';
import { LogSource } from '../adapters/can/log/index.ts';
import { SystemClock } from '../adapters/clock/system.ts';
import { StreamLog } from '../adapters/logging/stream.ts';
import type { MqttAddress } from '../adapters/mqtt/index.ts';
import type { FrameSender, FrameSource } from '../agent/ports.ts';
import { type Configuration, checkInputs, loadConfiguration, readSecret } from '../config/configuration.ts';
import type { MqttConfiguration } from '../config/mqtt.ts';
import { VigieError } from '../protocol/errors.ts';
import { startCar } from './car.ts';
import { complain } from './output.ts';
import { untilSignal } from './signals.ts';
import { benchCar } from './simulation.ts';
import { loadVehicle, type Vehicle } from './vehicle.ts';

export function runCommand(): Command {
  return new Command('run')
    .summary('the agent in the car')
    .description('Runs the agent as the configuration says, until SIGTERM or Ctrl-C. Prints one line when ready.')
    .requiredOption('-c, --config <file>', 'configuration; `vigie check -c` explains its faults')
    .option('--data <dir>', 'directory of records, instead of the one configured')
    .addHelpText(
      'after',
      `
Live frames come from standard input where the configuration says \`log: '-'\`:
  candump -L can0 | vigie run -c vigie.yaml`,
    )
    .action(async (options: { config: string; data?: string }) => {
      const { configuration, diagnostics } = loadConfiguration(options.config, process.env);
      complain(diagnostics);
      if (configuration === undefined) {
        throw new VigieError('configuration.wrong', 'the configuration has errors', { where: options.config });
      }
      await drive(configuration, options.data ?? configuration.data);
    });
}

async function drive(configuration: Configuration, data: string): Promise<void> {
  const vehicle = loadVehicle(configuration.profile);
  const faults = checkInputs(configuration, vehicle.profile);
  complain(faults);
  if (faults.some(({ severity }) => severity === 'error')) {
    throw new VigieError('configuration.wrong', 'the inputs do not fit the profile', { where: configuration.file });
  }
  const clock = new SystemClock();
  const log = new StreamLog(process.stderr, configuration.log.level);
  const { sources, sender } = sourcesOf(configuration, vehicle, clock);
  const trust = configuration.commands?.trust;
  const signalled = untilSignal();
  const car = await startCar({
    vin: configuration.vin,
    vehicle,
    data,
    sources,
    ...(sender === undefined ? {} : { sender }),
    mqtt: addressOf(configuration.mqtt),
    ...(trust === undefined ? {} : { trust }),
    limit: configuration.outbox.limit,
    log,
    clock,
  });
  process.stdout.write(`ready: ${configuration.vin} (${vehicle.profile.name}), records in ${data}\n`);
  await signalled;
  await car.stop();
  // A bus that never spoke is still being waited for there.
  process.stdin.destroy();
}

function sourcesOf(
  configuration: Configuration,
  vehicle: Vehicle,
  clock: SystemClock,
): { sources: FrameSource[]; sender?: FrameSender } {
  const sources: FrameSource[] = [];
  let sender: FrameSender | undefined;
  for (const input of configuration.can) {
    if (input.kind === 'simulated') {
      const car = benchCar(vehicle, clock);
      sources.push(car);
      sender = car;
      continue;
    }
    const { log, bus, loop } = input;
    // Frames stand for live ones, so they carry the time at which they come.
    const speed = log === '-' ? Number.POSITIVE_INFINITY : input.speed;
    sources.push(new LogSource(log, { bus, speed, loop, clock, times: 'clock' }));
  }
  return sender === undefined ? { sources } : { sources, sender };
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
