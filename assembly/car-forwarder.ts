/** Forwards a collection of the car's records to an exit, from the first record that it has not confirmed. */
import { Forwarder, type NumberedItem, recordSource } from '../adapters/exits/forwarder.ts';
import type { Agent } from '../agent/agent.ts';
import type { Clock, Log } from '../agent/ports.ts';
import type { Rest } from '../agent/power/rest.ts';
import { VigieError } from '../protocol/errors.ts';
import type { OpenRecords } from './records.ts';

export interface CarForwarderOptions {
  readonly agent: Pick<Agent, 'timeKnown'>;
  readonly store: OpenRecords['store'];
  readonly rest: Rest;
  readonly clock: Clock;
  readonly log: Log;
}

/** Times in ms between two looks for new records, awake and asleep: telemetry is recorded every minute or two seconds. */
const INTERVAL_MS = 2_000;
const ASLEEP_INTERVAL_MS = 60_000;

/** Starts to forward a collection. Its state is stored in the commits of the records. */
export function carForwarder(
  exit: string,
  collection: string,
  { agent, store, rest, clock, log }: CarForwarderOptions,
  write: (items: readonly NumberedItem[], closing: AbortSignal) => Promise<void>,
): Forwarder<NumberedItem> {
  const { numbered, memory, outbox } = store;
  if (numbered === undefined) {
    throw new VigieError('usage.wrong', `exits.${exit} needs records on the disk: give a directory of records (data)`);
  }
  const name = `${exit} ${collection}`;
  const key = `exit.${exit}.${collection}`;
  const forwarder = new Forwarder<NumberedItem>(
    {
      ...{ name, write, clock, log },
      interval: () => (rest.asleep ? ASLEEP_INTERVAL_MS : INTERVAL_MS),
      source: recordSource(numbered, collection, () => agent.timeKnown),
      save: async (_state, idle) => {
        // A running agent commits often; after a failure, the receiver gets the same items again.
        if (idle) await outbox.commit();
      },
    },
    memory.recall(key),
  );
  memory.keep(() => [[key, forwarder.state]]);
  log.info('exit.started', { exit: name, waiting: forwarder.report.waiting });
  void forwarder.poke();
  return forwarder;
}
