/**
 * Live messages of cars as server-sent events (WHATWG HTML §9.2): `event` for entries of `/vigie/v1/events`. A stream
 * of one car also has `change` and `removed` for its values, as in `/live` of the car.
 */

import { TooManyRequests } from '../../adapters/http/access/failures.ts';
import type { Answer, Call, Handlers } from '../../adapters/http/call.ts';
import { EventStream } from '../../adapters/http/event-stream.ts';
import { unknown } from '../../adapters/http/resources/context.ts';
import type { Clock } from '../../agent/ports.ts';
import { defined } from '../../protocol/defined.ts';
import { dateTime } from '../../protocol/interface/json/date-time.ts';
import { shownValue } from '../../protocol/interface/json/shown-value.ts';
import type { FleetEvent } from '../../protocol/interface/own/hub-overview.ts';
import { scopeOfPath, seesOf } from '../../protocol/interface/visible-members.ts';
import type { Slot } from '../../protocol/slots.ts';
import type { LiveFeed } from '../core/live.ts';
import type { VehicleReader } from '../core/ports.ts';
import { withdrawn } from './access.ts';

interface LiveDesk {
  readonly feed: LiveFeed;
  readonly reader: Pick<VehicleReader, 'vehicle'>;
  /** Returns the cars that the caller may see now; undefined for all. */
  visible(call: Call): Promise<ReadonlySet<string> | undefined>;
  /** Returns the event as the caller may see it, or undefined if it is hidden. */
  seenBy(call: Call): (event: FleetEvent) => FleetEvent | undefined;
  /** Returns true if the token with this id is issued and not withdrawn. */
  isIssued(token: string): Promise<boolean>;
  /** Call while somebody views this car. */
  look(vin: string): void;
  readonly clock: Clock;
}

/** Largest number of open streams. */
const STREAMS = 256;
const TIMES = { heartbeat: 15_000, pause: 50 };
/**
 * Largest number of events that wait for a slow client. The client then loses its stream, and can resume after the last
 * event that it received.
 */
const WAITING = 2_000;
/** Time in ms between two notifications to a car with viewers. */
const LOOK = 60_000;

/** Marks that there were more events than a stream can send again. */
const MISSED = Symbol('missed');
type Told = Slot | FleetEvent | typeof MISSED;

/** Returns the handlers of the operations `hub.live.get` and `hub.car.live`. */
export function liveHandlers(desk: LiveDesk): Handlers {
  let open = 0;
  const follow = async (call: Call, vin?: string): Promise<Answer> => {
    if (open >= STREAMS) throw new TooManyRequests('all live streams are taken', 10_000);
    const { feed, clock } = desk;
    const sees = seesOf(call.caller);
    const see = desk.seenBy(call);
    let cancel: () => void = () => undefined;
    let isOpen = true;
    const gone = (): void => {
      if (!isOpen) return;
      isOpen = false;
      open--;
      cancel();
      feed.close(viewer);
    };
    const stream: EventStream<Told> = new EventStream<Told>({
      known: [],
      sees: (told) => !isSlot(told) || sees(scopeOfPath(told.path)),
      event: (told, at) => (vin === undefined || !isSlot(told) ? eventOf(told) : changeOf(feed, vin, told, at)),
      clock,
      times: TIMES,
      until: call.caller.expires ?? Number.POSITIVE_INFINITY,
      gone,
    });
    const { token } = call.caller;
    const viewer = {
      ...defined({ vin, token }),
      visible: () => desk.visible(call),
      event: (event: FleetEvent) => {
        const seen = see(event);
        if (seen === undefined) return;
        if (stream.waiting < WAITING) stream.note(seen, seen.at);
        else stream.end();
      },
      changed: (slots: readonly Slot[]) => {
        for (const slot of slots) stream.note(slot, clock.now());
      },
      missed: () => stream.note(MISSED, clock.now()),
      end: () => stream.end(),
    };
    const look = (): void => {
      if (vin === undefined) return;
      desk.look(vin);
      cancel = clock.after(LOOK, look);
    };
    open++;
    try {
      const since = call.headers['last-event-id'];
      await feed.open(viewer, since === undefined ? undefined : Number(since));
      // From now on the feed ends the stream if the token is withdrawn.
      if (token !== undefined && !(await desk.isIssued(token))) throw withdrawn();
    } catch (error) {
      stream.end();
      throw error;
    }
    // If another viewer already follows the car, the feed does not report its present values as changes: send them.
    if (vin !== undefined) for (const [slot, { at }] of feed.values(vin)) stream.note(slot, at);
    look();
    return { status: 200, body: stream.stream };
  };
  return {
    'hub.live.get': (call) => follow(call),
    'hub.car.live': async (call) => {
      const { vin = '' } = call.path;
      if ((await desk.reader.vehicle(vin)) === undefined) throw unknown('vehicle', vin);
      return follow(call, vin);
    },
  };
}

function isSlot(told: Told): told is Slot {
  return told !== MISSED && 'path' in told;
}

function eventOf(told: Told): readonly [name: string, data: object, id?: number] {
  return told === MISSED ? ['missed', {}] : ['event', told, (told as FleetEvent).id];
}

function changeOf(feed: LiveFeed, vin: string, slot: Slot, noted: number): readonly [name: string, data: object] {
  const { path } = slot;
  const known = feed.values(vin).get(slot);
  if (known === undefined) return ['removed', { path, at: dateTime(noted) }];
  const { value, at, stale } = known;
  return ['change', { path, value: shownValue(slot, value), at: dateTime(at), stale }];
}
