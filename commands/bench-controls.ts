/** Controls of the bench on the page: they unplug broker, car and agent, and play scenes. */

import type { BenchControls, BenchPlug } from '../adapters/http/own-routes.ts';
import type { EmbeddedBroker } from '../adapters/mqtt/index.ts';
import { type SceneName, type SimulatedCar, sceneNames } from '../adapters/simulated/index.ts';
import { defined } from '../protocol/defined.ts';
import { VigieError } from '../protocol/errors.ts';
import type { BenchCable } from './bench-cable.ts';
import type { AgentPlace } from './bench-place.ts';
import type { BenchReport } from './bench-report.ts';

interface BenchParts {
  /** Undefined if the bench uses another broker. */
  readonly broker: EmbeddedBroker | undefined;
  readonly car: SimulatedCar;
  readonly cable: BenchCable;
  readonly place: Pick<AgentPlace, 'report' | 'turn'>;
  readonly messages: Pick<BenchReport, 'sizes'>;
}

export function benchControls({ broker, car, cable, place, messages }: BenchParts): BenchControls {
  let runs = true;
  // Each request waits for the previous one.
  let before: Promise<unknown> = Promise.resolve();
  const turn = async (plug: BenchPlug, wanted: boolean): Promise<void> => {
    if (plug === 'car') {
      cable.plugged = wanted;
      return;
    }
    if (plug === 'process') return place.turn(wanted);
    if (broker === undefined) {
      throw new VigieError('input.malformed', 'broker: the bench has no broker of its own; start it without --broker');
    }
    if (wanted) await broker.start();
    else await broker.stop();
    runs = wanted;
  };
  return {
    report: () => ({
      ...(broker === undefined ? {} : { broker: runs }),
      car: cable.plugged,
      ...place.report(),
      scenes: [...sceneNames],
      ...defined({ scene: car.played }),
      published: messages.sizes,
    }),
    plug: (plug, wanted) => {
      const done = before.then(() => turn(plug, wanted));
      before = done.catch(() => undefined);
      return done;
    },
    play: (scene) => car.play(scene as SceneName),
  };
}
