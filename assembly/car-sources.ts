/** Connects the sources of a car to its agent, and starts them. */
import { Backoff } from '../agent/backoff.ts';
import type { Clock, FrameBatch, FrameSource, Log } from '../agent/ports.ts';
import type { CarAgent } from './car-agent.ts';
import type { CarOptions } from './car-options.ts';
import type { FrameTap } from './frame-tap.ts';
import type { Teardown } from './teardown.ts';
import { decoderFor } from './vehicle.ts';

type SourceOptions = Pick<CarOptions, 'vehicle' | 'sources' | 'readings' | 'clock' | 'log'>;

/** Starts all sources and returns the functions that stop them. `tap` passes frames on to readers of the interface. */
export function startSources(options: SourceOptions, car: CarAgent, tap: FrameTap | undefined): readonly Teardown[] {
  const { sources = [], readings = [], clock, log } = options;
  const frames = sources.map((source) => {
    const receive = intakeOf(options, car, tap, source);
    return supervise(source, () => source.start(receive), clock, log);
  });
  const { agent } = car;
  const others = readings.map((source) =>
    supervise(source, () => source.start(agent.wanted, agent.sink(source.apart)), clock, log),
  );
  return [...frames, ...others];
}

/** Returns a function that passes a source's frames first to Status, then to receivers that respect its privacy. */
function intakeOf(
  { vehicle, log }: SourceOptions,
  { agent, collect }: CarAgent,
  tap: FrameTap | undefined,
  source: FrameSource,
): (batch: FrameBatch) => void {
  const lost = (groups: number): void => log.warn('can.groupsLost', { buses: source.buses.join(' '), groups });
  return agent.intake(() => decoderFor(vehicle, agent.wanted, source.buses, lost), source, [
    (batch) => collect.take(batch, source.buses),
    ...(tap === undefined ? [] : [(batch: FrameBatch) => tap.take(batch, source.buses)]),
  ]);
}

/** Delays in ms between attempts to start a source. */
const RESTART = { first: 1_000, longest: 60_000 };

/**
 * Starts a source, and if that fails, retries with growing delays: a missing bus or file must not keep the agent from
 * its other work.
 * @returns the function that stops the source
 */
function supervise(
  source: { stop(): Promise<void> },
  start: () => Promise<void>,
  clock: Clock,
  log: Log,
): () => Promise<void> {
  const backoff = new Backoff(RESTART);
  let cancel: () => void = () => undefined;
  let stopped = false;
  const attempt = (): void => {
    start().catch((error: Error) => {
      if (stopped) return;
      const wait = backoff.next();
      log.error('source.failed', { error: error.message, again: `${wait / 1000} s` });
      cancel = clock.after(wait, attempt);
    });
  };
  attempt();
  return async () => {
    stopped = true;
    cancel();
    await source.stop();
  };
}
