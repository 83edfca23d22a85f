import { existsSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { Command } from 'commander';
import { closeStandardInput } from '../adapters/can/log/standard-input.ts';
import { SystemClock } from '../adapters/clock/system.ts';
import { openServiceLog } from '../adapters/logging/index.ts';
import { claimFormat, openDocument, refuseNewer } from '../adapters/store/index.ts';
import { Backoff } from '../agent/backoff.ts';
import { STAY } from '../agent/health/starts.ts';
import type { Log } from '../agent/ports.ts';
import { brokerOf, startConfigured } from '../assembly/configured.ts';
import { missingEntries, reportMissing } from '../assembly/data-folder.ts';
import { type Boots, beginRecords, makeDirectory, takeDirectory } from '../assembly/directory.ts';
import { Configurations, type Unwritten } from '../assembly/generation.ts';
import { startMinimal } from '../assembly/minimal.ts';
import { writtenMonitors } from '../assembly/monitors.ts';
import { isUnreadable, readAgain } from '../assembly/read-again.ts';
import { FilesRefused } from '../assembly/refused.ts';
import { renewalOf } from '../assembly/renewal.ts';
import { Service, Starts } from '../assembly/service.ts';
import type { Vehicle } from '../assembly/vehicle.ts';
import { type Configuration, type IdentifiedConfiguration, loadConfiguration } from '../config/configuration.ts';
import { configurationDefaults } from '../config/defaults.ts';
import { defined } from '../protocol/defined.ts';
import type { HelloMissing } from '../protocol/schema/hello.ts';
import { complain } from './output.ts';
import { renewalProgram } from './own-program.ts';
import { untilSignal } from './signals.ts';

export function runCommand(): Command {
  return new Command('run')
    .summary('runs the agent in the car')
    .description('Runs the agent with the configuration, until SIGTERM or Ctrl-C. Prints one line when ready.')
    .requiredOption('-c, --config <file>', 'configuration; `vigie check -c` explains its faults')
    .option('--data <dir>', 'directory of records, instead of the one configured')
    .option(
      '--record <dir>',
      'record the frames of all buses there as candump logs, instead of the configured recording',
    )
    .addHelpText(
      'after',
      `
With \`log: '-'\` in the configuration, live frames come from standard input:
  candump -L can0 | vigie run -c vigie.yaml`,
    )
    .action(async (options: Options) => {
      const signalled = untilSignal();
      const kept: Kept = { unwritten: {}, waits: new Backoff(REREAD) };
      while (await runOnce(options, signalled, kept));
      // A read of standard input may still be pending for a bus that never sent anything.
      closeStandardInput();
    });
}

/** Delays in ms between attempts to read records that the disk did not return. */
const REREAD = { first: 5_000, longest: 5 * 60_000 } as const;

/** State that a run passes to the next one in the same process. */
interface Kept {
  readonly unwritten: Unwritten;
  /** Back-off between these attempts. Reset when the disk has returned all records. */
  readonly waits: Backoff;
}

interface Options {
  readonly config: string;
  readonly data?: string;
  readonly record?: string;
}

/** Runs the agent. Resolves with false after a signal, and with true if the agent must restart. */
async function runOnce(options: Options, signalled: Promise<void>, kept: Kept): Promise<boolean> {
  const { configuration: local } = loadConfiguration(options.config, process.env, undefined, 'awaited');
  const data = options.data ?? local?.data ?? (process.env['VIGIE_DATA'] || configurationDefaults.data);
  const log = openServiceLog(process.stderr, local?.log.level ?? configurationDefaults.log.level, process.env);
  const clock = new SystemClock({ stepped: (by) => log.warn('clock.set', { by }) });
  // If the file is unreadable, use only the files of an earlier run: a mistyped name must not create a folder.
  if (local === undefined && !existsSync(join(data, 'configuration'))) return refuse(options.config);
  makeDirectory(data);
  const { config } = options;
  const { unwritten, waits } = kept;
  let unlock: () => void = () => undefined;
  try {
    unlock = await readAgain(() => takeDirectory(data, log), { clock, log });
    const again = await runWithRecords({ options, local, data, log, clock, unwritten }, signalled);
    waits.reset();
    return again;
  } catch (error) {
    if (!isUnreadable(error)) throw error;
    const parts = { config, vin: local?.vin, data, unwritten, clock, log, fault: error, waits };
    return await (await import('./without-records.ts')).runWithoutRecords(parts, signalled);
  } finally {
    log.flush();
    unlock();
  }
}

interface RecordsOfRun {
  readonly options: Options;
  /** Configuration on the unit; undefined if it contains errors. */
  readonly local: Configuration | undefined;
  readonly data: string;
  readonly log: Log;
  readonly clock: SystemClock;
  readonly unwritten: Unwritten;
}

/** Same as {@link runOnce}. Call after this process has locked the directory. @throws VigieError `store.unreadable` */
async function runWithRecords(
  { options, local, data, log, clock, unwritten }: RecordsOfRun,
  signalled: Promise<void>,
): Promise<boolean> {
  const read = <T>(attempt: () => T | Promise<T>): Promise<T> => readAgain(attempt, { clock, log });
  const missing = reportMissing(data, await read(() => missingEntries(data, 'run')), log);
  await read(() => refuseNewer(data));
  await read(() => beginRecords(data, log));
  await read(() => checkFormat(data, log));
  const starts = await read(() => Starts.open(data, log));
  const minimal = starts.minimal ? (starts.before ?? 'the agent did not stay up') : undefined;
  const vin = local?.vin === undefined ? await read(() => vinOfCar(local, data, { clock, log }, signalled)) : undefined;
  const known = local?.vin ?? vin;
  if (local !== undefined && known === undefined) return false;
  const parts = {
    file: resolve(options.config),
    data,
    environment: process.env,
    clock,
    log,
    unwritten,
    ...defined({ vin: known }),
  };
  const configurations = await read(() => Configurations.open(parts));
  const { configuration, vehicle, diagnostics } = await configurations.choose(minimal);
  complain(diagnostics);
  if (starts.backOff > 0) log.warn('agent.crashedBefore', { before: starts.before, ms: starts.backOff });
  if (await first(signalled, after(clock, starts.backOff))) return false;
  await starts.begin();
  const run = {
    configuration,
    vehicle,
    data,
    missing,
    log,
    clock,
    configurations,
    starts,
    minimal,
    record: options.record,
  };
  return await attend(run, signalled);
}

interface Run {
  readonly configuration: IdentifiedConfiguration;
  readonly vehicle: Vehicle;
  readonly data: string;
  /** Entries that are missing from the data folder. */
  readonly missing: readonly HelloMissing[];
  readonly log: Log;
  readonly clock: SystemClock;
  readonly configurations: Configurations;
  readonly starts: Starts;
  /** Reason for the minimal mode; undefined for a normal run. */
  readonly minimal: string | undefined;
  readonly record: string | undefined;
}

/** Performs one run, normal or minimal, within a {@link Service}. */
async function attend(run: Run, signalled: Promise<void>): Promise<boolean> {
  const { configuration, data, log, clock, configurations, starts, minimal, missing } = run;
  const { vin, metrics, profile } = configuration;
  const service = await Service.open({
    vin,
    profile,
    data,
    clock,
    log,
    environment: process.env,
    configurations,
    starts,
    missing,
    ...defined({ metrics, minimal }),
  });
  const dialing = renewalOf(configuration.mqtt, renewalProgram(log));
  let stop: (() => Promise<void>) | undefined;
  // If the process ends on request, it must not wait for timers.
  let forget: () => void = () => undefined;
  let ends = true;
  try {
    let said = `minimal: ${vin}, ${minimal}`;
    if (minimal !== undefined) {
      const mqtt = brokerOf(configuration, dialing);
      stop = await startMinimal({ configuration, mqtt, data, service, clock, log, reason: minimal });
    } else {
      said = `ready: ${vin} (${run.vehicle.profile.name})`;
      const { monitors, diagnostics } = writtenMonitors(configuration.monitors, log);
      complain(diagnostics);
      const car = await startConfigured(configuration, { ...run, service, monitors, dialing });
      stop = car.stop;
    }
    process.stdout.write(`${said}, records in ${data}\n`);
    service.ready(said);
    const rest = new Promise<string>((resolve) => {
      if (minimal !== undefined) forget = clock.after(STAY, () => resolve('it is tried again'));
    });
    const why = await Promise.race([signalled, configurations.changed, rest]);
    ends = why === undefined;
    if (!ends) log.info('agent.restarting', { why });
    if (minimal !== undefined && !ends) await starts.forgive();
    await starts.end();
  } catch (error) {
    ends = isUnreadable(error) || !configurations.trying;
    if (isUnreadable(error)) await starts.end();
    else starts.crashed(error);
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

/**
 * Returns the VIN if the configuration does not contain it: from the records, otherwise from the car. Returns undefined
 * if the process must end before the car has answered, or if there is no configuration with which to ask the car.
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

/** Refuses records of a newer agent. If the disk refuses to store the format number, the car must still record. */
async function checkFormat(data: string, log: Log): Promise<void> {
  const { fault, refused } = await claimFormat(data);
  if (fault !== undefined) log.error('records.versionDamaged', { fault });
  if (refused !== undefined) log.error('records.versionUnwritten', { error: refused });
}

/** Throws the faults of the configuration. Call if it is unreadable and no other configuration is stored. */
function refuse(file: string): never {
  const { diagnostics } = loadConfiguration(file, process.env);
  throw new FilesRefused('the configuration has errors', diagnostics, file);
}

/** Resolves with a reason for the log after `ms`. */
function after(clock: SystemClock, ms: number): Promise<string> {
  return new Promise((resolve) => {
    clock.after(ms, () => resolve('it is tried again'));
  });
}

/** Resolves with true if the first promise settles before the second. */
function first(one: Promise<void>, other: Promise<string>): Promise<boolean> {
  return Promise.race([one.then(() => true), other.then(() => false)]);
}
