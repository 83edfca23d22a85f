/** Reads and records fault codes. Loaded only if the configuration requests fault codes. */
import type { FaultReaderOptions } from '../adapters/obd/j1979/fault-reader.ts';
import type { UdsFaultReaderOptions } from '../adapters/obd/uds/fault-reader.ts';
import type { FaultReader, UnitFaultReader, UnitFaults } from '../agent/faults/reader.ts';
import type { FaultParts, FaultRecorder, FaultView } from '../agent/faults/recorder.ts';
import type { Log, RecordStore } from '../agent/ports.ts';
import type { MakeRecorder } from '../agent/recorders/recorder.ts';
import type { AgentCommand } from '../agent/remotes/agent-command.ts';
import { decodeBody } from '../protocol/command.ts';
import { VigieError } from '../protocol/errors.ts';
import type { VehicleProfile } from '../protocol/profile.ts';
import type { FaultSettings } from '../protocol/settings.ts';

/** Control units from which fault codes can be requested. */
export interface AskedForFaults extends Pick<FaultReaderOptions, 'sets'> {
  /** Registers a callback to call when control units are found. */
  readonly onUnitsFound: FaultReader['onUnitsFound'];
  /** Requester for all control units by SAE J1979. If omitted, no such requests are sent. */
  readonly requester?: FaultReaderOptions['requester'];
  /** Control units that are read over UDS. */
  readonly uds?: Pick<UdsFaultReaderOptions, 'units' | 'clock'>;
}

/** Fault codes of one agent. */
export interface FaultCodes {
  /** @param lamp receives the state of the emission lamp, unless the profile has another source for that alert */
  recorders(lamp: NonNullable<FaultParts['lamp']>): readonly MakeRecorder[];
  /** Like {@link FaultRecorder.readNow}. */
  readNow(): Promise<void>;
  /** Returns undefined as long as the agent has not created its recorder. */
  view(kept: RecordStore): FaultView | undefined;
}

/** Executes commands of kind `ReadFaults`. @param commit resolves when the records are on disk */
export function readFaultsCommand({ readNow }: Pick<FaultCodes, 'readNow'>, commit: () => Promise<void>): AgentCommand {
  return async (body) => {
    decodeBody('ReadFaults', body);
    await readNow();
    await commit();
  };
}

export async function faultCodesOf(
  asked: AskedForFaults,
  settings: FaultSettings,
  { faultCodes: texts = {}, sources }: VehicleProfile,
  log: Log,
): Promise<FaultCodes> {
  const { FaultRecorder, lampChannel } = await import('../agent/faults/recorder.ts');
  const reader = await readerOf(asked, log);
  const isMapped = sources.some(({ path }) => path === lampChannel.path);
  let made: FaultRecorder | undefined;
  return {
    recorders: (lamp) => [
      ({ status, records }) => {
        const parts = { status, records, log, lamp: isMapped ? undefined : lamp };
        made = new FaultRecorder(reader, { ...settings, texts }, parts);
        return made;
      },
    ],
    readNow: async () => made?.readNow(),
    view: (kept) => made?.view(kept),
  };
}

async function readerOf({ requester, sets, onUnitsFound, uds }: AskedForFaults, log: Log): Promise<FaultReader> {
  const readers: UnitFaultReader[] = [];
  if (requester !== undefined) {
    const { J1979FaultReader } = await import('../adapters/obd/j1979/fault-reader.ts');
    readers.push(new J1979FaultReader({ requester, sets, log }));
  }
  if (uds !== undefined) {
    const { UdsFaultReader } = await import('../adapters/obd/uds/fault-reader.ts');
    readers.push(new UdsFaultReader({ ...uds, sets, log }));
  }
  return { onUnitsFound, read: (known) => readAll(readers, known, log) };
}

/** Lets one reader after another read all units. If one fails, the others still read. */
async function readAll(
  readers: readonly UnitFaultReader[],
  known: Parameters<FaultReader['read']>[0],
  log: Log,
): Promise<readonly UnitFaults[]> {
  const units: UnitFaults[] = [];
  let failure: VigieError | undefined;
  for (const reader of readers) {
    try {
      units.push(...(await reader.read(known)));
    } catch (error) {
      if (!(error instanceof VigieError)) throw error;
      failure ??= error;
    }
  }
  if (failure !== undefined && units.length === 0) throw failure;
  if (failure !== undefined) log.info('faults.unread', { why: failure.message });
  return units;
}
