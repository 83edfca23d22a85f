/** Sends the records of a car to plain topics: each once, also those of an outage. */
import type { ForwarderReport, NumberedItem } from '../adapters/exits/forwarder.ts';
import { recordMessage } from '../adapters/exits/records.ts';
import type { Link } from '../agent/ports.ts';
import { FAREWELL, within } from '../agent/within.ts';
import { eventScopes, type Sees } from '../protocol/interface/visible-members.ts';
import { type RecordKind, recordKinds } from '../protocol/schema/kind.ts';
import { type CarForwarderOptions, carForwarder } from './car-forwarder.ts';

interface RecordTopicsOptions extends CarForwarderOptions {
  readonly vin: string;
  /** Start of all topics, without a final slash. */
  readonly prefix: string;
  readonly sees: Sees;
  readonly link: Pick<Link, 'publish'>;
}

export interface RecordTopics {
  /** Continues at once: the broker is there. */
  poke(): void;
  readonly reports: readonly ForwarderReport[];
  /**
   * Waits for the broker's acknowledgements, at most {@link FAREWELL} ms. The next start sends messages without one
   * again.
   */
  close(): Promise<void>;
}

/** Starts to send all kinds of records that the exit may see. A car without a folder of records sends none. */
export function openRecordTopics(options: RecordTopicsOptions): RecordTopics {
  const { store, sees, link, vin, prefix, clock } = options;
  const encoder = new TextEncoder();
  const publish = async (kind: RecordKind, items: readonly NumberedItem[]): Promise<void> => {
    for (const item of items) {
      const message = recordMessage({ prefix, vin, sees }, kind, item);
      if (message === undefined) continue;
      await link.publish({ topic: message.topic, payload: encoder.encode(message.text), retain: message.retain });
    }
  };
  const isSeen = (kind: RecordKind): boolean => eventScopes[kind] !== undefined && sees(eventScopes[kind]);
  const kinds = store.numbered === undefined ? [] : recordKinds.filter(isSeen);
  const forwarders = kinds.map((kind) => carForwarder('records', kind, options, (items) => publish(kind, items)));
  return {
    get reports() {
      return forwarders.map(({ report }) => report);
    },
    poke: () => {
      for (const forwarder of forwarders) void forwarder.poke();
    },
    close: async () => {
      await within(FAREWELL, Promise.all(forwarders.map((forwarder) => forwarder.close())), clock);
    },
  };
}
