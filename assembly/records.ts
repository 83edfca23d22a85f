/** Persistent data of an agent, and the keys that it obeys. */

import { join } from 'node:path';
import type { CarClock } from '../adapters/clock/system.ts';
import { type OwnKey, TrustStore } from '../adapters/keys/index.ts';
import { type FileSystem, memoryStore, openDocument, openStore, type Store } from '../adapters/store/index.ts';
import type { Log } from '../agent/ports.ts';
import { emptyLedger, type LedgerDocument } from '../agent/remotes/ledger.ts';
import { defined } from '../protocol/defined.ts';
import type { AgentSettings } from '../protocol/settings.ts';
import { type Boots, countBoot, firstBoot, openChanges, openLedger } from './directory.ts';
import { readAgain } from './read-again.ts';
import { keepTrust } from './retry.ts';
import type { CarService } from './service.ts';
import type { Teardown } from './teardown.ts';

interface OpenRecordsOptions {
  readonly vin: string;
  /** Directory of records and state; absent: they are in memory, and end with the agent. */
  readonly data?: string | undefined;
  /** No agent ever ran in `data`. */
  readonly first: boolean;
  readonly settings: Pick<AgentSettings, 'outbox'>;
  /** Default: the file system of the machine. */
  readonly files?: FileSystem | undefined;
  /** Opens the program's own store, instead of one in `data`. */
  readonly store?: (() => Promise<OwnStore>) | undefined;
  readonly clock: CarClock;
  readonly log: Log;
}

/** A store of a program. `boot` counts its starts from 1: receivers distinguish messages of two starts by it. */
export interface OwnStore extends Omit<Store, 'metrics'> {
  readonly boot?: number;
}

/** The records of one agent, open. */
export interface OpenRecords {
  /** Counts the starts. */
  readonly boot: number;
  /** `metrics`: of a store on disk. */
  readonly store: Omit<Store, 'metrics'> & Partial<Pick<Store, 'metrics'>>;
  /** Outcomes of commands. */
  readonly ledger: LedgerDocument;
}

/**
 * Counts this start and opens the records; `teardowns` closes them.
 * @throws VigieError `usage.wrong` when they are another car's, `store.unreadable` when the disk does not return them
 */
export async function openRecords(options: OpenRecordsOptions, teardowns: Teardown[]): Promise<OpenRecords> {
  const { vin, data, first, settings, files, clock, log } = options;
  const own = await options.store?.();
  if (own !== undefined) teardowns.unshift(() => own.close());
  const now = () => (clock.quality() === 'none' ? undefined : clock.now());
  if (data === undefined) {
    const ledger: { data: LedgerDocument['data']; write: LedgerDocument['write'] } = {
      data: emptyLedger,
      write: async (next) => {
        ledger.data = next;
      },
    };
    return { boot: own?.boot ?? firstBoot(), store: own ?? memoryStore({ now }), ledger };
  }
  const read = <T>(attempt: () => Promise<T>): Promise<T> => readAgain(attempt, { clock, log });
  const at = defined({ files });
  const boots = await read(() => openDocument<Boots>(join(data, 'boot.json'), { boot: 0 }, { log, ...at }));
  const boot = await countBoot(boots, vin, data, log);
  const store = await read(() =>
    openStore(join(data, 'outbox'), {
      log,
      now,
      agreed: () => clock.agreed(),
      keptBytes: settings.outbox.keepAcknowledged,
      ...at,
    }),
  );
  teardowns.unshift(() => store.close());
  // So that the first commit of a folder is not empty: what a later start must find is there then.
  if (first) store.memory.keep(() => [['first-start', boot]]);
  return { boot, store, ledger: await read(() => openLedger(data, first, log, files)) };
}

interface KeysOptions extends Pick<OpenRecordsOptions, 'data' | 'first' | 'files' | 'clock' | 'log'> {
  /** File of the keys that may sign commands; absent: only `own` may. */
  readonly trust?: string | undefined;
  /** The unit's own key. */
  readonly own?: OwnKey | undefined;
  readonly service?: Pick<CarService, 'lacks'> | undefined;
}

/** The keys whose commands are obeyed: of the trust file as soon as it can be read, and as commands have changed them. */
export async function openKeys(
  { data, first, files, clock, log, trust, own, service }: KeysOptions,
  { store, ledger }: OpenRecords,
  teardowns: Teardown[],
): Promise<TrustStore> {
  const changes =
    trust === undefined || data === undefined
      ? {}
      : {
          changes: await readAgain(
            () => openChanges({ data, memory: store.memory, file: trust, first, ledger, log, ...(files && { files }) }),
            {
              clock,
              log,
            },
          ),
          log,
        };
  const keys = TrustStore.without(clock, { ...changes, ...(own === undefined ? {} : { own: [own.key] }) });
  store.memory.keep(() => keys.states());
  if (trust !== undefined) teardowns.unshift(await keepTrust(keys, trust, { service, clock, log }));
  return keys;
}
