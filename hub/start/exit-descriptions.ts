/** Describes the cars of a hub to Home Assistant, and marks which cars it has described. */
import type { ExitMessage } from '../../adapters/exits/exit.ts';
import type { Platforms } from '../../adapters/exits/home-assistant.ts';
import { version } from '../../assembly/version.ts';
import type { ExitsConfiguration } from '../../config/exits.ts';
import { remoteScopeOf } from '../../protocol/interface/remotes.ts';
import { scopeOfPath } from '../../protocol/interface/visible-members.ts';
import type { RemoteType } from '../../protocol/remote/table.ts';
import { type Slot, slots } from '../../protocol/slots.ts';
import type { DescribedCar } from './exit-car.ts';
import { type ExitMarker, markerMessage } from './exit-markers.ts';

export interface CarDescriber {
  /** Returns the marker of a car, then its discovery message. */
  messages(car: DescribedCar, known: ReadonlySet<Slot>): readonly ExitMessage[];
  /** Returns the topic of the car's discovery message; undefined without Home Assistant. */
  topic(vin: string): string | undefined;
  /** Call with the marker of an earlier run. Components that only its scopes allowed are removed. */
  announced(vin: string, marker: ExitMarker): void;
}

/** `own`: start of the topics of the exit itself. */
export async function carDescriber(configuration: ExitsConfiguration, own: string): Promise<CarDescriber> {
  const { homeAssistant, prefix, scopes } = configuration;
  if (homeAssistant === undefined) {
    return {
      messages: ({ vin }) => [markerMessage(own, vin, {})],
      topic: () => undefined,
      announced: () => undefined,
    };
  }
  // The table has words in three languages: load it only for an exit that uses them.
  const { dictionaryOf } = await import('../../protocol/words/table.ts');
  const { discoveryOf, discoveryTopic, platformsOf } = await import('../../adapters/exits/home-assistant.ts');
  const discovery = homeAssistant.prefix;
  const shared = {
    ...{ version, discovery, prefix, words: dictionaryOf(homeAssistant.language), reports: [] },
    hubPresence: `${own}/presence`,
  };
  /** Returns all components that these scopes allow, the same for each car. */
  const allowed = (some: ReadonlySet<string>): Platforms => {
    const may = (type: RemoteType): boolean => some.has(remoteScopeOf(type));
    const seen = slots.filter(({ path }) => some.has(scopeOfPath(path)));
    return platformsOf({ ...shared, vin: '', title: '', may, announced: {} }, seen);
  };
  const present = allowed(scopes);
  /** Components that earlier scopes allowed and the present ones do not, by the earlier scopes. */
  const removed = new Map<string, Platforms>();
  const removedOf = new Map<string, Platforms>();
  const topic = (vin: string): string => discoveryTopic({ discovery, vin });
  return {
    topic,
    messages: (car, known) => [
      markerMessage(own, car.vin, { discovery: topic(car.vin), scopes: [...scopes] }),
      discoveryOf({ ...shared, ...car, announced: removedOf.get(car.vin) ?? {} }, known),
    ],
    announced: (vin, { scopes: earlier = [] }) => {
      const key = earlier.join(' ');
      const gone =
        removed.get(key) ??
        Object.fromEntries(Object.entries(allowed(new Set(earlier))).filter(([id]) => !Object.hasOwn(present, id)));
      removed.set(key, gone);
      if (Object.keys(gone).length > 0) removedOf.set(vin, gone);
    },
  };
}
