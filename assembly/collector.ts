/** Runs the collections of one agent, which commands start. */
import type { IdentifierFilter } from '../adapters/can/socketcan/index.ts';
import { Collector, type CollectorParts } from '../agent/collect/collector.ts';
import type { Memory, OutboxStore } from '../agent/ports.ts';
import type { RecorderParts } from '../agent/recorders/recorder.ts';
import { announceEarlier } from '../agent/signals/announcement.ts';
import { SignalNumbers } from '../agent/signals/numbers.ts';
import type { AgentSettings } from '../protocol/settings.ts';
import { type PreparedNetwork, prepareCollection } from './collected-signals.ts';
import { deflate } from './deflate.ts';
import type { Vehicle } from './vehicle.ts';

export interface CollectSurroundings extends Pick<CollectorParts, 'clock' | 'quality' | 'log' | 'commit'> {
  readonly settings: Pick<AgentSettings, 'collect' | 'outbox'>;
  readonly vehicle: Pick<Vehicle, 'profile'>;
  readonly memory: Memory;
  /** Messages that wait to be published. */
  readonly waiting: Pick<OutboxStore, 'entries'>;
  /** Returns the numbers of the profile's custom signals; undefined if it has none. */
  readonly numbers: () => SignalNumbers | undefined;
  /** Lets frames with these identifiers pass, besides those of the profile. If omitted, all frames pass. */
  readonly listen?: ((bus: string, identifiers: readonly (number | IdentifierFilter)[]) => void) | undefined;
  /** Makes the agent send a `hello` message. */
  readonly hello: () => void;
}

export type LoadedCollector = Pick<Collector, 'order' | 'take' | 'tick' | 'flush' | 'correct' | 'hello'>;

/** Builds the collector, and resumes the collections of an earlier run. */
export function loadCollector(parts: RecorderParts, surroundings: CollectSurroundings): LoadedCollector {
  const { vehicle, settings, memory, clock, quality, log, listen, hello } = surroundings;
  let numbers = surroundings.numbers();
  if (numbers === undefined) {
    const own = new SignalNumbers([], memory, log, quality() === 'none' ? undefined : clock.now());
    memory.keep(() => own.states());
    announceEarlier(own, parts.publisher, surroundings.waiting);
    numbers = own;
  }
  const heard = new Set<string>();
  let isResuming = true;
  const collector = new Collector({
    ...surroundings,
    ...settings.outbox,
    ...parts,
    bytesPerDay: settings.collect.bytesPerDay,
    numbers,
    deflate,
    prepare: (order) => prepareCollection(order, vehicle.profile),
    changed: (running) => {
      const networks = running as readonly PreparedNetwork[];
      for (const bus of networks.flatMap(({ identifiers }) => [...identifiers.keys()])) heard.add(bus);
      for (const bus of heard) {
        const wanted = networks.flatMap(({ identifiers }) => identifiers.get(bus) ?? []);
        try {
          listen?.(bus, wanted);
        } catch (error) {
          log.error('collect.filters', { bus, error: (error as Error).message });
        }
      }
      // At startup, the first `hello` has not been sent yet and will report the collections.
      if (!isResuming) hello();
    },
  });
  memory.keep(() => collector.states());
  collector.resume();
  isResuming = false;
  return collector;
}
