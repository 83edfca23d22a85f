/** The frames on the buses as server-sent events, for callers with their scope (`/vigie/v1/bus`). */
import { VigieError } from '../../protocol/errors.ts';
import { noScopes } from '../../protocol/interface/operations/scopes.ts';
import { BUS_SCOPE, MOST_SIGNALS } from '../../protocol/interface/own/bus-access.ts';
import { ownParameters, readPairs } from './address.ts';
import { type RequestContext, refuseHead, respond } from './exchange.ts';
import { acceptable } from './media.ts';
import { type BusStreams, type FollowedEvents, type OwnRoutes, sideShown } from './own-routes.ts';
import { addRefusal } from './routes.ts';
import type { Snapshots } from './snapshots.ts';

/** Least time between two events of a stream, ms. */
const EVERY = 100;
const EVENTS = 'text/event-stream';

/** `load` is called when somebody follows: what follows the buses is not in memory before. */
export function addBus(routes: OwnRoutes, load: () => Promise<BusStreams>, snapshots: Snapshots): void {
  const { app, serving } = routes;
  const add = (
    path: string,
    known: readonly string[],
    open: (streams: BusStreams, context: RequestContext) => FollowedEvents,
  ): void => {
    app.get(path, async (context) => {
      refuseHead(context);
      const query = readPairs(context.env.exchange.target.query);
      const wanted = { operation: { scopes: noScopes }, path: {} };
      const { scopes, expires } = await serving.admit(sideShown(routes, context), wanted, query, context);
      if (scopes?.has(BUS_SCOPE) === false) throw new VigieError('request.forbidden', `needs the scope ${BUS_SCOPE}`);
      ownParameters(context.env.exchange.target.query, known);
      acceptable([EVENTS], context.req.header('accept'));
      const { events, begin, end } = open(await load(), context);
      const stream = snapshots.open(events, expires, { every: EVERY, ended: end });
      begin();
      return respond(context.env, 200, stream, { 'Content-Type': EVENTS });
    });
    addRefusal(app, path, ['GET']);
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
