import type { Clock } from '../agent/ports.ts';

/** Delays a replay so that log time passes `speed` times as fast as real time; never waits if `speed` is undefined. */
export function pauses(speed: number | undefined, clock: Clock): (at: number) => Promise<void> {
  if (speed === undefined) return async () => undefined;
  let origin: { log: number; real: number } | undefined;
  return async (at) => {
    origin ??= { log: at, real: clock.monotonic() };
    const wait = (at - origin.log) / speed - (clock.monotonic() - origin.real);
    if (wait > 1) await new Promise<void>((resolve) => clock.after(wait, resolve));
  };
}
