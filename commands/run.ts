import { existsSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { Command } from 'commander';
import { closeStandardInput } from '../adapters/can/log/standard-input.ts';
import { SystemClock } from '../adapters/clock/system.ts';
import { openServiceLog } from '../adapters/logging/index.ts';
import type { MqttAddress, TlsFiles } from '../adapters/mqtt/index.ts';
import { claimFormat } from '../adapters/service/record-format.ts';
import { openDocument } from '../adapters/store/index.ts';
import { STAY } from '../agent/health/starts.ts';
import type { Log } from '../agent/ports.ts';
import { UnitRest } from '../agent/rest.ts';
import { channelsOf } from '../assembly/callback-channels.ts';
import { startCar } from '../assembly/car.ts';
import { type Boots, beginRecords, makeDirectory, takeDirectory } from '../assembly/directory.ts';
import { Configurations, type Unwritten } from '../assembly/generation.ts';
import { startMinimal } from '../assembly/minimal.ts';
import { writtenMonitors } from '../assembly/monitors.ts';
import { Service, Starts } from '../assembly/service.ts';
import { sourcesOf } from '../assembly/sources.ts';
import type { Vehicle } from '../assembly/vehicle.ts';
import {
  type Configuration,
  type IdentifiedConfiguration,
  loadConfiguration,
  readSecret,
} from '../config/configuration.ts';
import { configurationDefaults } from '../config/defaults.ts';
import { VigieError } from '../protocol/errors.ts';
import { complain } from './output.ts';
import { untilSignal } from './signals.ts';

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
    .action(async (options: Options) => {
      const signalled = untilSignal();
      const unwritten: Unwritten = {};
      while (await runOnce(options, signalled, unwritten));
      // A bus that never spoke is still being waited for there.
      closeStandardInput();
    });
}

interface Options {
  readonly config: string;
  readonly data?: string;
  readonly record?: string;
}

/** Runs the agent until a signal (false), or until it is to be started anew (true). */
async function runOnce(options: Options, signalled: Promise<void>, unwritten: Unwritten): Promise<boolean> {
  const { configuration: local } = loadConfiguration(options.config, process.env, undefined, 'awaited');
  const data = options.data ?? local?.data ?? (process.env['VIGIE_DATA'] || configurationDefaults.data);
  const log = openServiceLog(process.stderr, local?.log.level ?? configurationDefaults.log.level, process.env);
  const clock = new SystemClock({ stepped: (by) => log.warn('receivers set the clock', { by }) });
  // Without a readable file there is only what an earlier run left: nothing new is made for a mistyped name.
  if (local === undefined && !existsSync(join(data, 'configuration'))) return refuse(options.config);
  makeDirectory(data);
  const unlock = takeDirectory(data, log);
  try {
    checkFormat(data, log);
    const unused = await beginRecords(data, log);
    const starts = await Starts.open(data, log);
    const minimal = starts.minimal ? (starts.before ?? 'the agent did not stay up') : undefined;
    const vin = local?.vin === undefined ? await vinOfCar(local, data, { clock, log }, signalled) : undefined;
    if (local !== undefined && (local.vin ?? vin) === undefined) return false;
    const parts = {
      ...{ file: resolve(options.config), data, environment: process.env, clock, log, unwritten },
      ...(vin === undefined ? {} : { vin }),
    };
    const configurations = await Configurations.open(parts);
    const { configuration, vehicle, diagnostics } = await configurations.choose(minimal);
    complain(diagnostics);
    if (starts.backOff > 0)
      log.warn('runs before this one crashed; waiting', { before: starts.before, ms: starts.backOff });
    if (await first(signalled, after(clock, starts.backOff))) return false;
    await starts.begin();
    const run = {
      configuration,
      vehicle,
      data,
      first: unused,
      log,
      clock,
      configurations,
      starts,
      minimal,
      record: options.record,
    };
    return await attend(run, signalled);
  } finally {
    log.flush();
    unlock();
  }
}

interface Run {
  readonly configuration: IdentifiedConfiguration;
  readonly vehicle: Vehicle;
  readonly data: string;
  /** No agent ever ran there. */
  readonly first: boolean;
  readonly log: Log;
  readonly clock: SystemClock;
  readonly configurations: Configurations;
  readonly starts: Starts;
  /** Why it is to be the minimal mode. */
  readonly minimal: string | undefined;
  readonly record: string | undefined;
}

/** One run, whole or minimal, and what stands around it. */
async function attend(run: Run, signalled: Promise<void>): Promise<boolean> {
  const { configuration, data, log, clock, configurations, starts, minimal } = run;
  const { vin, metrics, health, profile } = configuration;
  const service = await Service.open({
    vin,
    profile,
    data,
    clock,
    log,
    environment: process.env,
    configurations,
    starts,
    helloEvery: health.every,
    ...(metrics === undefined ? {} : { metrics }),
    ...(minimal === undefined ? {} : { minimal }),
  });
  let stop: (() => Promise<void>) | undefined;
  // A process that is told to end does not wait for what was due later.
  let forget: () => void = () => undefined;
  let ends = true;
  try {
    const mqtt = addressOf(configuration);
    let said = `minimal: ${vin}, ${minimal}`;
    if (minimal !== undefined)
      stop = await startMinimal({ configuration, mqtt, data, service, clock, log, reason: minimal });
    else {
      said = `ready: ${vin} (${run.vehicle.profile.name})`;
      stop = await drive(run, mqtt, service);
    }
    process.stdout.write(`${said}, records in ${data}\n`);
    service.ready(said);
    const rest = new Promise<string>((resolve) => {
      if (minimal !== undefined) forget = clock.after(STAY, () => resolve('it is tried again'));
    });
    const why = await Promise.race([signalled, configurations.changed, rest]);
    ends = why === undefined;
    if (!ends) log.info('the agent is started anew', { why });
    if (minimal !== undefined && !ends) await starts.forgive();
    await starts.end();
  } catch (error) {
    ends = !configurations.trying;
    starts.crashed(error);
    if (ends) throw error;
    await configurations.giveUp((error as Error).message);
  } finally {
    forget();
    configurations.close();
    await stop?.();
    await service.close(ends);
  }
  return !ends;
}

/** The whole agent; the result ends it. */
async function drive(run: Run, mqtt: MqttAddress, service: Service): Promise<() => Promise<void>> {
  const { configuration, vehicle, data, first, log, clock, record } = run;
  const recording = record === undefined ? {} : { record: { ...configurationDefaults.record, folder: record } };
  const rest = new UnitRest();
  const { sources, readings, sender, requesters, close } = sourcesOf(
    { ...configuration, ...recording },
    vehicle,
    clock,
    log,
    rest,
    service.vinRead,
  );
  const { http } = configuration;
  const monitors = writtenMonitors(configuration.monitors, log);
  const options = {
    vin: configuration.vin,
    vehicle,
    data,
    first,
    sources: service.frames(sources),
    readings: service.readings(readings),
    ...(sender === undefined ? {} : { sender }),
    requesters,
    mqtt,
    ...configuration.commands,
    ...(configuration.timeZone === undefined ? {} : { zone: configuration.timeZone }),
    limit: configuration.outbox.limit,
    batch: configuration.outbox.batch,
    notificationChannels: channelsOf(configuration.callbacks, () => clock.now()),
    callbacks: { waiting: configuration.callbacks.queueLimit },
    ...(http === undefined ? {} : { http }),
    ...(monitors === undefined ? {} : { monitors }),
    log,
    clock,
    power: configuration.power,
    rest,
    published: service.published,
    service,
  };
  const car = await startCar(options).catch((error: unknown) => {
    close?.();
    throw error;
  });
  return async () => {
    await car.stop();
    close?.();
  };
}

/**
 * The number where the configuration has none: of the car whose records these are, else as the car gives it. Undefined
 * when the process is to end before it does, or there is no configuration to ask by.
 */
async function vinOfCar(
  local: Configuration | undefined,
  data: string,
  parts: { readonly clock: SystemClock; readonly log: Log },
  signalled: Promise<void>,
): Promise<string | undefined> {
  const { vin } = (await openDocument<Boots>(join(data, 'boot.json'), { boot: 0 }, { log: parts.log })).data;
  if (vin !== undefined || local === undefined) return vin;
  return (await import('../assembly/car-vin.ts')).awaitCarVin(local, parts, signalled);
}

/** Refuses records of a newer agent. A disk that refuses the number must not keep the car dark. */
function checkFormat(data: string, log: Log): void {
  const { fault, refused } = claimFormat(data);
  if (fault !== undefined) log.error('the number of the format of the records was damaged', { fault });
  if (refused !== undefined) log.error('the number of the format of the records cannot be written', { error: refused });
}

/** A configuration that cannot be read, and no record of another one. */
function refuse(file: string): never {
  complain(loadConfiguration(file, process.env).diagnostics);
  throw new VigieError('configuration.wrong', 'the configuration has errors', { where: file });
}

/** Resolves with a reason after so long. */
function after(clock: SystemClock, ms: number): Promise<string> {
  return new Promise((resolve) => {
    clock.after(ms, () => resolve('it is tried again'));
  });
}

/** Whether the first of two came before the second. */
function first(one: Promise<void>, other: Promise<string>): Promise<boolean> {
  return Promise.race([one.then(() => true), other.then(() => false)]);
}

function readCertificate(name: string, path: string): Uint8Array {
  try {
    return readFileSync(path);
  } catch (cause) {
    throw new VigieError('input.unreadable', `${name} cannot be read: ${(cause as Error).message}`, {
      where: path,
      cause,
    });
  }
}

function addressOf({ mqtt: configured, power }: Configuration): MqttAddress {
  const { protocol, keepalive, passwordFile, username, ...mqtt } = configured;
  const files = (['ca', 'cert', 'key', 'crl'] as const).filter((name) => mqtt[name] !== undefined);
  // Read again at each connection: a certificate is renewed without a restart.
  const tls = (): TlsFiles => ({
    ...Object.fromEntries(files.map((name) => [name, readCertificate(name, mqtt[name] as string)])),
    paths: mqtt,
  });
  return {
    url: [mqtt.url, ...(mqtt.fallbacks ?? [])],
    protocol: protocol === 'auto' ? 'auto' : protocol === '5' ? 5 : 4,
    keepalive: keepalive / 1000,
    asleepKeepalive: power.keepalive / 1000,
    ...(files.length === 0 ? {} : { tls }),
    ...(username === undefined ? {} : { username }),
    ...(passwordFile === undefined ? {} : { password: () => readSecret(passwordFile) }),
  };
}
