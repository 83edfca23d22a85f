/** Persistent data of an agent, and the keys that it accepts. */

import { join } from 'node:path';
import type { CarClock } from '../adapters/clock/system.ts';
import { type OwnKey, TrustStore } from '../adapters/keys/index.ts';
import { type FileSystem, memoryStore, openDocument, openStore, type Store } from '../adapters/store/index.ts';
import type { Log } from '../agent/ports.ts';
import { emptyLedger, type LedgerDocument } from '../agent/remotes/ledger.ts';
import { defined } from '../protocol/defined.ts';
import type { AgentSettings } from '../protocol/settings.ts';
import { type Boots, checkOwner, countBoot, firstBoot, openChanges, openLedger } from './directory.ts';
import { readAgain } from './read-again.ts';
import { keepTrust } from './retry.ts';
import type { CarService } from './service.ts';
import type { Teardown } from './teardown.ts';

interface OpenRecordsOptions {
  readonly vin: string;
  /** Directory of records and state. If omitted, they are in memory and are lost when the agent ends. */
  readonly data?: string | undefined;
  /** True if no agent has ever run in `data`. */
  readonly first: boolean;
  readonly settings: Pick<AgentSettings, 'outbox'>;
  /** Default: the file system of the machine. */
  readonly files?: FileSystem | undefined;
  /** Opens the program's own store, used instead of one in `data`. */
  readonly store?: (() => Promise<OwnStore>) | undefined;
  readonly clock: CarClock;
  readonly log: Log;
}

/** A program's own store. `boot` counts its starts from 1: receivers use it to tell messages of two starts apart. */
export interface OwnStore extends Omit<Store, 'metrics' | 'numbered'> {
  readonly boot?: number;
}

/** Open records of one agent. */
export interface OpenRecords {
  /** Number of this start. */
  readonly boot: number;
  /** Store of messages, state and records. Only a store on disk has `metrics` and `numbered`. */
  readonly store: Omit<Store, 'metrics' | 'numbered'> & Partial<Pick<Store, 'metrics' | 'numbered'>>;
  /** Outcomes of commands. */
  readonly ledger: LedgerDocument;
}

/**
 * Counts this start and opens the records. Adds the functions that close them to `teardowns`.
 * @throws VigieError `usage.wrong` for another car's records, `store.unreadable` if the disk fails to return them
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
  checkOwner(boots.data, vin, data);
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
  // The count also makes the first commit in a folder not empty: it then writes everything that a later start requires.
  const boot = await countBoot(boots, store.memory, { vin, log });
  return { boot, store, ledger: await read(() => openLedger(data, first, log, files)) };
}

interface KeysOptions extends Pick<OpenRecordsOptions, 'data' | 'first' | 'files' | 'clock' | 'log'> {
  /** Path of the file with the keys that may sign commands. If omitted, only `own` may. */
  readonly trust?: string | undefined;
  /** The unit's own key. */
  readonly own?: OwnKey | undefined;
  readonly service?: Pick<CarService, 'lacks'> | undefined;
}

/** Opens the accepted keys: those of the trust file, once it can be read, plus all changes by commands. */
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
