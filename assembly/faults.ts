/** What reads and records fault codes, which is loaded only where somebody asks for them. */
import type { FaultReaderOptions } from '../adapters/obd/j1979/fault-reader.ts';
import type { FaultParts, FaultRecorder, FaultView } from '../agent/faults/recorder.ts';
import type { Log, RecordStore } from '../agent/ports.ts';
import type { MakeRecorder } from '../agent/recorders/recorder.ts';
import type { AgentCommand } from '../agent/remotes/agent-command.ts';
import { decodeBody } from '../protocol/command.ts';
import type { VehicleProfile } from '../protocol/profile.ts';
import type { FaultSettings } from '../protocol/settings.ts';

/** Who is asked for fault codes. */
export type AskedForFaults = Required<Omit<FaultReaderOptions, 'log'>>;

/** Fault codes of one agent. */
export interface FaultCodes {
  /** @param lamp takes the emission lamp, unless the profile names another source of that alert */
  recorders(lamp: NonNullable<FaultParts['lamp']>): readonly MakeRecorder[];
  /** As {@link FaultRecorder.readNow}. */
  readNow(): Promise<void>;
  /** Undefined until the agent has its recorder. */
  view(kept: RecordStore): FaultView | undefined;
}

/** Carries out commands of kind `ReadFaults`; `commit` resolves when the records are on disk. */
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
  const [{ J1979FaultReader }, { FaultRecorder, lampChannel }] = await Promise.all([
    import('../adapters/obd/j1979/fault-reader.ts'),
    import('../agent/faults/recorder.ts'),
  ]);
  const isMapped = sources.some(({ path }) => path === lampChannel.path);
  let made: FaultRecorder | undefined;
  return {
    recorders: (lamp) => [
      ({ status, records }) => {
        const parts = { status, records, log, lamp: isMapped ? undefined : lamp };
        made = new FaultRecorder(new J1979FaultReader({ ...asked, log }), { ...settings, texts }, parts);
        return made;
      },
    ],
    readNow: async () => made?.readNow(),
    view: (kept) => made?.view(kept),
  };
}
