import { readBody } from './body.ts';
import { immobilizationAction } from './immobilization.ts';
import type { Parts, RemoteKind } from './kind.ts';
import type { Effect } from './plan.ts';

/** A theft: declared, followed, or the car kept from being started again. */
export const stolen: RemoteKind = {
  type: 'Stolen',
  whileStolen: true,
  whilePrivate: true,
  withLowBattery: true,
  plan: (body, parts) => {
    const { stolen: isStolen, trackingPeriod, immobilization } = readBody('Stolen', body);
    if (isStolen !== undefined) return { actions: [], effects: [declaration(isStolen, parts)] };
    if (trackingPeriod !== undefined)
      return { actions: [], effects: [following(parts.tracking.ordered(trackingPeriod), parts)] };
    return { actions: [immobilizationAction(immobilization?.activate === true)], effects: [] };
  },
};

function declaration(isStolen: boolean, { thefts }: Parts): Effect {
  return {
    // What the car found out by itself still has to be declared: only then it shows itself in spite of privacy.
    done: () => (isStolen ? thefts.current?.origin === 'Declared' : thefts.current === undefined),
    apply: (at) => thefts.declare(isStolen, at),
  };
}

/** A car that hides where it is cannot be followed; one that was declared stolen hides nothing. */
function following(effect: Effect, { hidden }: Parts): Effect {
  return {
    ...effect,
    refusal: () =>
      effect.refusal?.() ??
      (hidden() === 'nothing'
        ? undefined
        : { code: 'command.private', detail: 'the car keeps its position to itself: declare it stolen first' }),
  };
}
