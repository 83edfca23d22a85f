/** Reads the VIN from the car, for a unit that has no configured VIN. */
import { readVin } from '../adapters/obd/j1979/index.ts';
import { openNotifier } from '../adapters/service/notify.ts';
import type { Configuration } from '../config/configuration.ts';
import { VigieError } from '../protocol/errors.ts';
import {
  type ConnectionParts,
  connectAdapter,
  connectInterface,
  connectStick,
  type ObdConnection,
} from './obd-connection.ts';

/** Interval of requests in ms while the car does not respond. */
const AGAIN = 5_000;

/**
 * Requests the VIN until the car returns it: at first, the ignition may be off or the adapter missing. Resolves with
 * undefined if the process must end earlier.
 * @throws VigieError `configuration.wrong` if the configured inputs cannot request the VIN
 */
export async function awaitCarVin(
  configuration: Configuration,
  parts: ConnectionParts,
  signalled: Promise<void>,
): Promise<string | undefined> {
  const { clock, log } = parts;
  const notifier = await openNotifier(process.env, log);
  const stopped = signalled.then(() => 'stopped' as const);
  try {
    for (let warned = false; ; warned = true) {
      notifier.extend(3 * AGAIN);
      const outcome = await Promise.race([attempt(configuration, parts), stopped]);
      if (outcome === 'stopped') return undefined;
      if (outcome.vin !== undefined) {
        log.info('vin.read', { vin: outcome.vin });
        return outcome.vin;
      }
      if (!warned) log.warn('vin.awaited', { why: outcome.why, fix: 'switch the ignition on, or write `vin`' });
      notifier.status(`waiting for the VIN of the car: ${outcome.why}`);
      let cancel: () => void = () => undefined;
      const pause = new Promise<void>((resolve) => {
        cancel = clock.after(AGAIN, resolve);
      });
      const ended = await Promise.race([pause, stopped]);
      cancel();
      if (ended === 'stopped') return undefined;
    }
  } finally {
    notifier.close();
  }
}

/** Requests the VIN once. Returns it, or the reason why it is still unknown. */
async function attempt(
  configuration: Configuration,
  parts: ConnectionParts,
): Promise<{ readonly vin: string; readonly why?: undefined } | { readonly vin?: undefined; readonly why: string }> {
  try {
    const { requester, close } = await connect(configuration, parts);
    try {
      const vin = (await readVin(requester)) ?? (await readVin(requester, true));
      return vin === undefined ? { why: 'no control unit gives it' } : { vin };
    } finally {
      await close();
    }
  } catch (error) {
    if (error instanceof VigieError && error.code !== 'configuration.wrong') return { why: error.message };
    throw error;
  }
}

async function connect({ obd, can, file }: Configuration, parts: ConnectionParts): Promise<ObdConnection> {
  if (obd?.kind === 'elm327') return connectAdapter(obd.address, obd.protocol, parts);
  const input = can.find(({ bus }) => bus === obd?.over);
  if (input?.kind === 'socketcan') return connectInterface(input.interface, parts);
  if (input?.kind === 'slcan') return connectStick(input.address, input.bitrate, parts);
  throw new VigieError('configuration.wrong', 'vin is missing, and the car cannot be asked for it here', {
    where: file,
  });
}
