/** Reads and records fault codes. It is loaded only with fault codes in the configuration. */
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

/** Control units that can be asked for fault codes. */
export interface AskedForFaults extends Pick<FaultReaderOptions, 'sets'> {
  /** Registers a callback for found control units. */
  readonly onUnitsFound: FaultReader['onUnitsFound'];
  /** Requester for all control units by SAE J1979. If omitted, no such request is sent. */
  readonly requester?: FaultReaderOptions['requester'];
  /** Control units that UDS reads. */
  readonly uds?: Pick<UdsFaultReaderOptions, 'units' | 'clock'>;
}

/** Fault codes of one agent. */
export interface FaultCodes {
  /** @param lamp receives the emission lamp, unless the profile names another source of that alert */
  recorders(lamp: NonNullable<FaultParts['lamp']>): readonly MakeRecorder[];
  /** Same as {@link FaultRecorder.readNow}. */
  readNow(): Promise<void>;
  /** Returns undefined until the agent has its recorder. */
  view(kept: RecordStore): FaultView | undefined;
}

/** Executes commands of kind `ReadFaults`; `commit` resolves when the records are on disk. */
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

/** Reads all units one reader after the other. A failed reader does not prevent the others. */
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
