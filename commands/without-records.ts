/** Minimal mode of an agent whose disk does not return its records: it reports this, and changes no record. */

import { readdirSync, readFileSync, statSync } from 'node:fs';
import { resolve } from 'node:path';
import type { SystemClock } from '../adapters/clock/system.ts';
import type { Backoff } from '../agent/backoff.ts';
import type { Log } from '../agent/ports.ts';
import { brokerOf } from '../assembly/configured.ts';
import { Configurations, type Unwritten } from '../assembly/generation.ts';
import { startMinimal } from '../assembly/minimal.ts';
import { renewalOf } from '../assembly/renewal.ts';
import { Service } from '../assembly/service.ts';
import { defined } from '../protocol/defined.ts';
import type { VigieError } from '../protocol/errors.ts';
import { isReadFailure } from '../protocol/read-failure.ts';
import { complain } from './output.ts';
import { renewalProgram } from './own-program.ts';

const FIX = 'check the disk (dmesg), the access of the agent to the folder, memory and open files of the machine';

export interface WithoutRecords {
  /** The configuration on the unit. */
  readonly config: string;
  readonly vin: string | undefined;
  readonly data: string;
  readonly unwritten: Unwritten;
  readonly clock: SystemClock;
  readonly log: Log;
  /** Error with code `store.unreadable`. */
  readonly fault: VigieError;
  /** Back-off between attempts to read the data that the disk did not return. */
  readonly waits: Backoff;
}

/**
 * Runs the minimal mode. Resolves with false after a signal, and with true when the disk returns the missing data.
 * @throws the fault if the VIN of the car is unknown, and the errors of {@link Configurations.choose}
 */
export async function runWithoutRecords(parts: WithoutRecords, signalled: Promise<void>): Promise<boolean> {
  const { config, vin: local, data, unwritten, clock, log, fault, waits } = parts;
  const { where = data } = fault;
  log.error('records.unreadable', { file: where, error: fault.message, fix: FIX });
  const configurations = await Configurations.open({
    file: resolve(config),
    data,
    environment: process.env,
    clock,
    log,
    unwritten,
    unreadable: true,
    ...defined({ vin: local }),
  });
  const reason = `${fault.message}; ${FIX}`;
  const { configuration, diagnostics } = await configurations.choose();
  complain(diagnostics);
  const { vin, profile, metrics, mqtt } = configuration;
  const service = await Service.open({
    vin,
    profile,
    data,
    clock,
    log,
    environment: process.env,
    configurations,
    starts: { before: undefined },
    ...defined({ metrics }),
    minimal: reason,
  });
  const readable = untilReadable(where, waits, clock);
  let stop: (() => Promise<void>) | undefined;
  let ends = true;
  try {
    const broker = brokerOf(configuration, renewalOf(mqtt, renewalProgram(log)));
    stop = await startMinimal({ configuration, mqtt: broker, service, clock, log, reason });
    process.stdout.write(`minimal: ${vin}, ${reason}\n`);
    service.ready(`minimal: ${vin}, ${reason}`);
    const why = await Promise.race([signalled, readable.reached.then(() => `the disk returns ${where} again`)]);
    ends = why === undefined;
    if (!ends) log.info('agent.restarting', { why });
    return !ends;
  } finally {
    readable.cancel();
    configurations.close();
    await stop?.();
    await service.close(ends);
  }
}

/** Retries reading the path. `reached` resolves when a read succeeds, or if the path does not exist. */
function untilReadable(path: string, waits: Backoff, clock: SystemClock): { reached: Promise<void>; cancel(): void } {
  let cancel: () => void = () => undefined;
  const reached = new Promise<void>((resolve) => {
    const wait = (): void => {
      cancel = clock.after(waits.next(), () => {
        if (isReadable(path)) resolve();
        else wait();
      });
    };
    wait();
  });
  return { reached, cancel: () => cancel() };
}

function isReadable(path: string): boolean {
  try {
    if (statSync(path).isDirectory()) readdirSync(path);
    else readFileSync(path);
    return true;
  } catch (error) {
    return !isReadFailure(error);
  }
}
