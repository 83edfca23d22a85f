/** Bus frames as server-sent events, for callers with the required scope (`/vigie/v1/bus`). */
import { VigieError } from '../../protocol/errors.ts';
import { MOST_SIGNALS } from '../../protocol/interface/own/bus-access.ts';
import { readPairs } from './address.ts';
import type { Caller } from './call.ts';
import { type RequestContext, respond } from './exchange.ts';
import { acceptable } from './media.ts';
import type { BusStreams, FollowedEvents } from './own-routes.ts';
import type { Router } from './routes.ts';
import type { Snapshots } from './snapshots.ts';

/** Minimum time in ms between two events of a stream. */
const EVERY = 100;
const EVENTS = 'text/event-stream';

/** Adds the routes. Calls `load` when a client opens a stream, so that the code is not loaded before it is needed. */
export function addBus(router: Router, load: () => Promise<BusStreams>, snapshots: Snapshots): void {
  const add = (
    path: string,
    known: readonly string[],
    open: (streams: BusStreams, context: RequestContext) => FollowedEvents,
  ): void => {
    const serve = async (context: RequestContext, { expires }: Caller): Promise<Response> => {
      acceptable([EVENTS], context.req.header('accept'));
      const { events, begin, end } = open(await load(), context);
      const stream = snapshots.open(events, expires, { every: EVERY, ended: end });
      begin();
      return respond(context.env, 200, stream, { 'Content-Type': EVENTS });
    };
    router.add('GET', path, serve, { stream: true, known });
  };
  add('/vigie/v1/bus', [], (streams) => streams.frames());
  add('/vigie/v1/bus/signals', ['signal'], (streams, context) => streams.signals(signalsOf(context)));
}

function signalsOf({ env }: RequestContext): readonly string[] {
  const pairs = readPairs(env.exchange.target.query);
  const signals = pairs.flatMap(([name, value]) => (name === 'signal' ? [value] : []));
  if (signals.length >= 1 && signals.length <= MOST_SIGNALS) return signals;
  throw new VigieError(
    'input.malformed',
    `must be given 1 to ${MOST_SIGNALS} times, is given ${signals.length} times`,
    {
      where: 'signal',
    },
  );
}
