/** Custom signals over HTTP (docs/signals.md), under a separate base: not part of the published interface. */
import type { Clock } from '../../agent/ports.ts';
import type { PresentSignal, SignalView } from '../../agent/signals/view.ts';
import { instantOf } from '../../protocol/calendar.ts';
import { VigieError } from '../../protocol/errors.ts';
import { signalChangeJson, signalHistoryJson, signalJson } from '../../protocol/interface/json/signals.ts';
import { type Sees, seesOf } from '../../protocol/interface/visible-members.ts';
import { suggestion } from '../../protocol/nearest.ts';
import { TooManyRequests } from './access/failures.ts';
import { ownParameters, readSegments } from './address.ts';
import type { Caller } from './call.ts';
import { EventStream } from './event-stream.ts';
import { type RequestContext, respond } from './exchange.ts';
import { acceptable } from './media.ts';
import type { Router } from './routes.ts';

/** Base path of Vigie's own routes. */
const BASE = '/vigie/v1';

const HOUR = 3_600_000;
/** Query parameters of a history. */
const HISTORY = ['from', 'to', 'limit'];
/** Maximum number of readings in a response, unless the request sets a lower limit. */
export const MOST_READINGS = 10_000;
const STREAMS = 16;
const TIMES = { heartbeat: 15_000, pause: 50 };

export class SignalRoutes {
  readonly #view: SignalView;
  readonly #clock: Clock;
  readonly #streams = new Set<EventStream<string>>();

  constructor(view: SignalView, clock: Clock, router: Router) {
    this.#view = view;
    this.#clock = clock;
    const paths = {
      [`${BASE}/signals`]: (context: RequestContext, caller: Caller) => this.#list(context, seesOf(caller)),
      [`${BASE}/signals/{name}`]: (context: RequestContext, caller: Caller) => this.#one(context, seesOf(caller)),
      [`${BASE}/signals/{name}/history`]: (context: RequestContext, caller: Caller) =>
        this.#history(context, seesOf(caller)),
    };
    for (const [path, serve] of Object.entries(paths)) {
      router.add('GET', path, serve, { known: path.endsWith('/history') ? HISTORY : [] });
    }
    const follow = (context: RequestContext, caller: Caller) => this.#live(context, caller);
    router.add('GET', `${BASE}/live`, follow, { stream: true, known: [] });
  }

  /** Ends all streams. */
  close(): void {
    for (const stream of this.#streams) stream.end();
  }

  #list({ env }: RequestContext, sees: Sees): Response {
    const shown = [...this.#view.all(this.#clock.now())].filter((signal) => isSeen(sees, signal));
    return json(env, { signals: shown.map(signalJson) });
  }

  #one(context: RequestContext, sees: Sees): Response {
    return json(context.env, signalJson(this.#named(context, `${BASE}/signals/{name}`, sees)));
  }

  #history(context: RequestContext, sees: Sees): Response {
    const { definition } = this.#named(context, `${BASE}/signals/{name}/history`, sees);
    const query = ownParameters(context.env.exchange.target.query, HISTORY);
    const { from, to } = periodOf(query.get('from'), query.get('to'), this.#clock.now());
    const limit = limitOf(query.get('limit'));
    const samples = this.#view.history(definition.name, from, to);
    return json(context.env, signalHistoryJson(definition, samples.slice(0, limit), samples.length > limit));
  }

  #live(context: RequestContext, caller: Caller): Response {
    const sees = seesOf(caller);
    acceptable(['text/event-stream'], context.req.header('accept'));
    if (this.#streams.size >= STREAMS) throw new TooManyRequests('all live streams are taken', 10_000);
    const now = (): number => this.#clock.now();
    const of = (name: string): PresentSignal | undefined => this.#view.get(name, now());
    const stream: EventStream<string> = new EventStream({
      known: [...this.#view.all(now())].flatMap(({ definition: { name }, changedAt }) =>
        changedAt === undefined ? [] : [[name, changedAt] as const],
      ),
      sees: (name) => isSeen(sees, of(name)),
      event: (name, at) => {
        const signal = of(name);
        if (signal === undefined) return ['removed', { name }];
        return [signal.value === undefined ? 'removed' : 'change', signalChangeJson(signal, at)];
      },
      clock: this.#clock,
      times: TIMES,
      until: caller.expires ?? Number.POSITIVE_INFINITY,
      gone: () => {
        unfollow();
        this.#streams.delete(stream);
      },
    });
    const unfollow = this.#view.follow((name, at) => stream.note(name, at));
    this.#streams.add(stream);
    return respond(context.env, 200, stream.stream, { 'Content-Type': 'text/event-stream' });
  }

  #named({ env }: RequestContext, pattern: string, sees: Sees): PresentSignal {
    const { name = '' } = readSegments(pattern, env.exchange.target.path);
    const signal = this.#view.get(name, this.#clock.now());
    if (signal !== undefined && isSeen(sees, signal)) return signal;
    if (signal !== undefined) throw new VigieError('request.forbidden', 'needs data:position');
    const known = [...this.#view.all(this.#clock.now())].map(({ definition }) => definition.name);
    throw unknownSignal(name, known);
  }
}

/** A signal that reveals the car's position needs `data:position`; every other needs `data:telemetry`. */
function isSeen(sees: Sees, signal: PresentSignal | undefined): boolean {
  return sees(signal?.position === true ? 'data:position' : 'data:telemetry');
}

function json(env: RequestContext['env'], body: object): Response {
  return respond(env, 200, JSON.stringify(body), { 'Content-Type': 'application/json' });
}

/** Returns the requested period of a history in UTC ms. @throws VigieError `input.malformed` */
export function periodOf(
  first: string | undefined,
  end: string | undefined,
  now: number,
): { from: number; to: number } {
  const to = momentOf(end, 'to') ?? now;
  const from = momentOf(first, 'from') ?? to - HOUR;
  if (from > to) throw new VigieError('input.malformed', 'must not be later than `to`', { where: 'from' });
  return { from, to };
}

/** Returns the error for an unknown signal name. */
export function unknownSignal(name: string, known: Iterable<string>): VigieError {
  const hint = suggestion(name, known);
  return new VigieError('request.unknown', `there is no signal ${name}${hint === undefined ? '' : `; ${hint}`}`);
}

/** Reads a time of a query, UTC ms. @throws VigieError `input.malformed` */
export function momentOf(text: string | undefined, name: string): number | undefined {
  if (text === undefined) return undefined;
  const at = instantOf(text);
  if (at !== undefined) return at;
  throw new VigieError('input.malformed', 'must be a moment such as 2026-01-31T12:00:00Z', { where: name });
}

function limitOf(text: string | undefined): number {
  if (text === undefined) return MOST_READINGS;
  const limit = Number(text);
  if (/^[0-9]{1,9}$/.test(text) && limit >= 1 && limit <= MOST_READINGS) return limit;
  throw new VigieError('input.malformed', `must be a whole number from 1 to ${MOST_READINGS}`, { where: 'limit' });
}
