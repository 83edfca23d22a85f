/** What commands change of what the agent itself keeps: programs, thefts and how a stolen car is followed. */
import { instantOf } from '../../protocol/calendar.ts';
import type { RemoteBody, RemoteType } from '../../protocol/remote/table.ts';
import type { Effect } from './plan.ts';
import type { Programs } from './programs.ts';
import type { Thefts, Tracking } from './tracking.ts';

/** The parts of the agent that commands change. */
export interface EffectParts {
  readonly programs: Programs;
  readonly thefts: Thefts;
  readonly tracking: Tracking;
  /** What the people in the car keep to themselves, unless the car was declared stolen. */
  readonly hidden: () => 'nothing' | 'position' | 'everything';
  /** UTC ms. */
  readonly now: () => number;
}

type Effects = { readonly [T in RemoteType]?: (body: RemoteBody<T>, parts: EffectParts) => readonly Effect[] };

const effects: Effects = {
  ThermalPreconditioning: ({ airConditioning: { programs = [] } }, { programs: kept }) =>
    programs.length === 0 ? [] : [kept.preconditioning(programs)],
  ElectricBatteryChargingRequest: ({ schedule }, { programs }) => {
    const { nextDelayedTime: text, programs: list } = schedule ?? {};
    if (text !== undefined) return [programs.delayed(instantOf(text) ?? text)];
    return list === undefined ? [] : [programs.charging(list)];
  },
  Stolen: ({ stolen, trackingPeriod }, parts) => {
    if (stolen !== undefined) return [declaration(stolen, parts)];
    return trackingPeriod === undefined ? [] : [following(parts.tracking.ordered(trackingPeriod), parts)];
  },
};

/** The effects of a sound body, in their order; most kinds have none. */
export function effectsOf(type: string, body: object, parts: EffectParts): readonly Effect[] {
  const of = (effects as Readonly<Record<string, (body: object, parts: EffectParts) => readonly Effect[]>>)[type];
  return of?.(body, parts) ?? [];
}

function declaration(isStolen: boolean, { thefts }: EffectParts): Effect {
  return {
    // What the car found out by itself still has to be declared: only then it shows itself in spite of privacy.
    done: () => (isStolen ? thefts.current?.origin === 'Declared' : thefts.current === undefined),
    apply: (at) => thefts.declare(isStolen, at),
  };
}

/** A car that hides where it is cannot be followed; one that was declared stolen hides nothing. */
function following(effect: Effect, { hidden }: EffectParts): Effect {
  return {
    ...effect,
    refusal: () =>
      effect.refusal?.() ??
      (hidden() === 'nothing'
        ? undefined
        : { code: 'command.private', detail: 'the car keeps its position to itself: declare it stolen first' }),
  };
}
