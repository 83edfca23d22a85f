/** Roll-outs of configurations: progress and cars. */

import type { Call, Handlers } from '../../adapters/http/call.ts';
import { found, unknown } from '../../adapters/http/resources/context.ts';
import { defined } from '../../protocol/defined.ts';
import { dateTime } from '../../protocol/interface/json/date-time.ts';
import type { RolloutCarState, RolloutSummary, RolloutWithCars } from '../../protocol/interface/own/rollouts.ts';
import type { Rollout, RolloutStore } from '../core/rollout-store.ts';
import { continueRollout, presentRollout, stopRollout } from '../core/rollouts.ts';

/** Number of cars in one page. */
const PAGE = 200;

/** Returns the handlers of the operations `hub.rollouts.*`. */
export function rolloutHandlers(store: RolloutStore): Handlers {
  return {
    'hub.rollouts.list': async (call) => {
      const rollouts = (await store.rollouts()).filter((one) => mayRead(call, one));
      const present = await Promise.all(rollouts.map((one) => presentRollout(one, store)));
      return found({ rollouts: present.map((one) => written(call, one)) });
    },
    'hub.rollouts.get': async (call) => found(await withCars(call, store)),
    'hub.rollouts.continue': async (call) => {
      const { id } = await readable(call, store);
      await continueRollout(store, id, call.query['tolerate'] as number | undefined);
      return found(await withCars(call, store));
    },
    'hub.rollouts.stop': async (call) => {
      const { id } = await readable(call, store);
      await stopRollout(store, id, call.caller.name);
      return found(await withCars(call, store));
    },
  };
}

/** Returns true if the caller may read the roll-out. Users may see cars, but no fleets. */
function mayRead({ caller }: Call, { fleet }: Rollout): boolean {
  return caller.user === undefined && caller.fleets?.has(fleet) !== false;
}

async function readable(call: Call, store: RolloutStore): Promise<Rollout> {
  const id = call.path['oid'] ?? '';
  const rollout = await store.rollout(id);
  if (rollout === undefined || !mayRead(call, rollout)) throw unknown('roll-out', id);
  return rollout;
}

function addressOf({ base }: Call, { id }: Rollout): string {
  return `${base}/vigie/v1/rollouts/${id}`;
}

function written(call: Call, rollout: Rollout): RolloutSummary & { readonly _links: object } {
  const { id, fleet, name, digest, caller, created, first, tolerated, stage, reason, cars } = rollout;
  return {
    _links: { self: { href: addressOf(call, rollout) } },
    id,
    fleet,
    name,
    digest,
    first,
    tolerated,
    stage,
    ...defined({ reason }),
    requestedBy: caller,
    requestedAt: dateTime(created),
    states: cars,
  };
}

async function withCars(call: Call, store: RolloutStore): Promise<RolloutWithCars> {
  const rollout = await readable(call, store);
  const { after = '', state } = call.query as { readonly after?: string; readonly state?: RolloutCarState };
  const cars = await store.cars(rollout.id, after, PAGE, state);
  const last = cars.length < PAGE ? undefined : cars.at(-1);
  const self = { href: addressOf(call, rollout) };
  const only = state === undefined ? '' : `&state=${state}`;
  return {
    ...written(call, await presentRollout(rollout, store)),
    _links: { self, ...(last === undefined ? {} : { next: { href: `${self.href}?after=${last.vin}${only}` } }) },
    cars: cars.map(({ at, ...car }) => ({ ...car, ...(at === undefined ? {} : { at: dateTime(at) }) })),
  };
}
