/** Converts the body of a command into a plan. */

import { instantOf } from '../../protocol/calendar.ts';
import { type CommandBodyKind, decodeBody } from '../../protocol/command.ts';
import { defined } from '../../protocol/defined.ts';
import { VigieError } from '../../protocol/errors.ts';
import type { RemoteKind } from '../../protocol/remote/kind.ts';
import type { RemoteBody, RemoteType } from '../../protocol/remote/table.ts';
import type { CommandKind } from '../../protocol/schema/remote.ts';
import type { Effect, Plan } from './plan.ts';
import type { Programs } from './programs.ts';
import type { Thefts, Tracking } from './tracking.ts';

/** The parts of the agent that commands can change. */
export interface EffectParts {
  readonly programs: Programs;
  readonly thefts: Thefts;
  readonly tracking: Tracking;
  /** Returns the data hidden by privacy, unless the car was declared stolen. */
  readonly hidden: () => 'nothing' | 'position' | 'everything';
  /** UTC ms. */
  readonly now: () => number;
}

type Effects = { readonly [T in RemoteType]?: (body: RemoteBody<T>, parts: EffectParts) => readonly Effect[] };

/** Changes of the agent's own state by kind: programs, thefts, and the tracking of a stolen car. */
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

/** Returns the plan of a body. @throws VigieError `command.malformed` with the member and the rule */
export function planOf(kind: RemoteKind, bytes: Uint8Array, parts: EffectParts): Plan {
  const body = decodeBody(kind.type as CommandBodyKind, bytes);
  const fault = kind.fault?.(body);
  if (fault !== undefined) throw new VigieError('command.malformed', `${kind.type}: ${fault}`);
  const effectsOf = effects as Readonly<Record<string, (body: object, parts: EffectParts) => readonly Effect[]>>;
  const parameters = kind.parameters?.(body);
  const ignored = kind.deprecated !== undefined && Object.hasOwn(body, kind.deprecated) ? kind.deprecated : undefined;
  return {
    actions: kind.asks(body),
    effects: effectsOf[kind.type]?.(body, parts) ?? [],
    ...defined({ parameters, ignored }),
  };
}

/** Returns the command's groups: its kind and the parts of the car it acts on. No two commands of a group overlap. */
export function groupsOf(type: CommandKind, plan: Plan | undefined): string[] {
  return [...new Set([type, ...(plan?.actions ?? []).map((action) => action.split('.')[0] as string)])];
}

function declaration(isStolen: boolean, { thefts }: EffectParts): Effect {
  return {
    // A theft that the car detected still has to be declared: only a declared one ends privacy.
    done: () => (isStolen ? thefts.current?.origin === 'Declared' : thefts.current === undefined),
    apply: (at) => thefts.declare(isStolen, at),
  };
}

/** Returns the effect, refused while the car hides its position: it cannot be tracked then, unless declared stolen. */
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
