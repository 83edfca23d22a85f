/** All checks of a command, in their order. The requirements of a kind are in its row (protocol/remote/). */

import { DAY } from '../../protocol/calendar.ts';
import type { OpenedCommand } from '../../protocol/command.ts';
import { type ErrorCode, VigieError } from '../../protocol/errors.ts';
import { hex } from '../../protocol/hex.ts';
import type { RemoteKind } from '../../protocol/remote/kind.ts';
import { type RemoteType, remoteKinds } from '../../protocol/remote/table.ts';
import type { ClockQuality } from '../../protocol/schema/message.ts';
import type { CommandKind } from '../../protocol/schema/remote.ts';
import type { CommandSettings } from '../../protocol/settings.ts';
import { slotAt } from '../../protocol/slots.ts';
import type { StatusReader } from '../model/status.ts';
import type { SignatureVerifier } from '../ports.ts';
import type { Ledger } from './ledger.ts';
import type { Plan, Refusal } from './plan.ts';
import type { EffectParts } from './planning.ts';
import { BURST, defaultLimits, type Limits, MONTH } from './power.ts';
import type { Thefts } from './tracking.ts';

const stolenState = slotAt('stolen.state');
const privacyState = slotAt('privacy.state');
const batteryCharge = slotAt('battery.voltage');

/** Tolerated difference in ms between the clocks of sender and car. */
export const SKEW = 5 * 60_000;

/** A command, from a sender or from the schedule. */
export interface Order {
  readonly id: string;
  readonly type: CommandKind;
  readonly body: Uint8Array;
  /** UTC ms. */
  readonly issued: number;
  readonly expires: number;
  readonly correlation: Uint8Array | undefined;
  /** True if the command was created by the car itself. */
  readonly own: boolean;
}

interface Car {
  readonly status: StatusReader;
  readonly thefts: Thefts;
}

interface Timely {
  readonly order: Order;
  readonly limits: CommandSettings;
  /** UTC ms. */
  readonly now: number;
  readonly quality: ClockQuality;
}

/** Inputs of the checks, by stage. */
interface Stages {
  /** A received message. */
  message: { readonly opened: OpenedCommand | VigieError };
  arrival: { readonly opened: OpenedCommand; readonly vin: string; readonly verifier: SignatureVerifier };
  /** A message that needs no signature check, because it has no effect. */
  repetition: {
    readonly opened: OpenedCommand;
    readonly key: string;
    readonly ledger: Ledger;
    /** Result of the check of the same message, byte for byte, if it arrived before. */
    readonly verdict: 'authentic' | 'forged' | undefined;
    /** True if a recorded answer may be sent again now. */
    readonly answerDue: boolean;
    readonly quality: ClockQuality;
  };
  /** A message whose signature is checked now: signatures are verified at a bounded rate. */
  signature: { readonly opened: OpenedCommand; readonly verifier: SignatureVerifier };
  /** An authentic command with an id that the ledger does not know; a known one gets its recorded answer. */
  replay: { readonly opened: OpenedCommand; readonly key: string; readonly ledger: Ledger };
  /** A command that was never accepted before. */
  order: Timely & {
    /** Kinds of commands that the key may sign. */
    readonly rights: readonly string[];
    /** True if too many commands are queued. */
    readonly crowded: boolean;
    /** Reason why commands of this kind are not carried out. */
    readonly unsupported: string | undefined;
  };
  /** A command to the car. */
  body: { readonly plan: Plan | VigieError };
  /** A command with a valid body; `missing`: the first of its actions that this car cannot do. */
  profile: { readonly missing: string | undefined };
  car: Car & {
    readonly kind: RemoteKind<RemoteType>;
    readonly order: Order;
    /** The command in progress that excludes it. */
    readonly other: string | undefined;
    readonly ledger: Ledger;
    readonly limits: Limits;
    /** True if the car and the buses that the command needs are awake. */
    readonly awake: boolean;
    /** UTC ms. */
    readonly now: number;
  };
  /** Before each action and effect, and again before each frame: the state of the car may have changed meanwhile. */
  step: Car & Timely & { readonly kind: RemoteKind; readonly interlocks: Refusal | undefined };
}
export type CheckStage = keyof Stages;

interface StageCheck<S extends CheckStage> {
  readonly stage: S;
  readonly name: string;
  /** The requirement, for docs/commands.md. */
  readonly demand: string;
  /** Error codes of its refusals. If empty, those of the interlock. */
  readonly codes: readonly ErrorCode[];
  refusal(asked: Stages[S]): Refusal | undefined;
}
export type CommandCheck = { readonly [S in CheckStage]: StageCheck<S> }[CheckStage];

/** The first check that fails decides. Refusals of the stages before `order` are not answered. */
export const checks: readonly CommandCheck[] = [
  {
    stage: 'message',
    name: 'form',
    demand: 'the message is a signed command within its bounds',
    codes: ['command.malformed'],
    refusal: ({ opened }) => (opened instanceof VigieError ? refusalOf(opened) : undefined),
  },
  {
    stage: 'arrival',
    name: 'trust',
    demand: 'it names a key that the car trusts, with the algorithm of that key',
    codes: ['command.unsigned'],
    refusal: ({ opened, verifier }) =>
      verifier.key(opened.keyId)?.algorithm === opened.algorithm ? undefined : unsigned(opened, verifier),
  },
  {
    stage: 'arrival',
    name: 'vehicle',
    demand: 'it is for this car',
    codes: ['command.unsigned'],
    refusal: ({ opened, vin }) =>
      opened.command.vin === vin
        ? undefined
        : { code: 'command.unsigned', detail: `a command is for another car: ${opened.command.vin}` },
  },
  {
    stage: 'repetition',
    name: 'repetition',
    demand: 'the same message, byte for byte, did not arrive before with a wrong signature',
    codes: ['command.unsigned'],
    refusal: ({ verdict }) =>
      verdict === 'forged' ? { code: 'command.unsigned', detail: 'the same message had a wrong signature' } : undefined,
  },
  {
    stage: 'repetition',
    name: 'answer',
    demand: 'its id is new, or its answer was not repeated lately (below)',
    codes: ['command.replayed'],
    refusal: ({ opened: { command }, ledger, answerDue }) =>
      answerDue || ledger.find(command.id) === undefined
        ? undefined
        : { code: 'command.replayed', detail: `${command.id}: its answer was repeated lately` },
  },
  {
    stage: 'repetition',
    name: 'used counter',
    demand:
      'its id is that of a remembered command, or its counter can still be used, and the car has not forgotten the time in which it was issued',
    codes: ['command.replayed'],
    refusal: spent,
  },
  {
    stage: 'signature',
    name: 'signature',
    demand: 'the signature is that of the key, which is still trusted',
    codes: ['command.unsigned'],
    refusal: ({ opened, verifier }) => {
      const { keyId, algorithm, toBeSigned, signature } = opened;
      const sound = verifier.key(keyId)?.algorithm === algorithm && verifier.verify(keyId, toBeSigned, signature);
      return sound ? undefined : unsigned(opened, verifier);
    },
  },
  {
    stage: 'replay',
    name: 'doubt',
    demand: 'it was issued after the last moment of which the car may have forgotten commands',
    codes: ['command.replayed'],
    refusal: ({ opened: { command }, ledger }) => (ledger.forgot(command.issued) ? replayed(command.id) : undefined),
  },
  {
    stage: 'replay',
    name: 'replay window',
    demand: 'its counter was not used, and fewer than 512 higher ones of its key were; from now on it counts as used',
    codes: ['command.replayed'],
    refusal: ({ opened: { command }, key, ledger }) =>
      ledger.use(key, command.counter) ? undefined : replayed(command.id),
  },
  {
    stage: 'order',
    name: 'rights',
    demand: 'the key has a right to this kind',
    codes: ['command.forbidden'],
    refusal: ({ order: { type }, rights }) =>
      rights.includes(type) ? undefined : { code: 'command.forbidden', detail: `the key has no right to ${type}` },
  },
  {
    stage: 'order',
    name: 'crowd',
    demand: 'fewer than 1,000 commands wait',
    codes: ['command.tooFast'],
    refusal: ({ crowded }) =>
      crowded ? { code: 'command.tooFast', detail: 'too many commands wait already' } : undefined,
  },
  {
    stage: 'order',
    name: 'kind',
    demand: 'the agent carries out commands of this kind',
    codes: ['command.unsupported'],
    refusal: ({ unsupported: detail }) => (detail === undefined ? undefined : { code: 'command.unsupported', detail }),
  },
  {
    stage: 'order',
    name: 'validity',
    demand: 'it is not valid for longer than `commands.maxValidity`',
    codes: ['command.longLived'],
    refusal: longLived,
  },
  {
    stage: 'order',
    name: 'expiry',
    demand: 'the car knows the time; it is not late, and not issued in the future',
    codes: ['command.expired'],
    refusal: late,
  },
  {
    stage: 'body',
    name: 'body',
    demand: 'the body follows the schema and the rules of its kind',
    codes: ['command.malformed'],
    refusal: ({ plan }) => (plan instanceof VigieError ? refusalOf(plan) : undefined),
  },
  {
    stage: 'profile',
    name: 'profile',
    demand: 'the vehicle profile has its actions, and a bus to send them on',
    codes: ['command.unsupported'],
    refusal: ({ missing }) =>
      missing === undefined
        ? undefined
        : { code: 'command.unsupported', detail: `the vehicle profile has no ${missing}, or no bus to send it on` },
  },
  {
    stage: 'car',
    name: 'progress',
    demand: 'no command of this kind, and none of the same part of the car, is in progress',
    codes: ['command.busy'],
    refusal: ({ other }) =>
      other === undefined ? undefined : { code: 'command.busy', detail: `command ${other} is in progress` },
  },
  {
    stage: 'car',
    name: 'burst',
    demand: `at most ${defaultLimits.burst} commands of a kind in ${BURST / 1000} s, besides those of the car itself`,
    codes: ['command.tooFast'],
    refusal: ({ order, kind: { type }, ledger, limits: { burst }, now }) =>
      order.own || ledger.accepted(now - BURST, now, type) < burst
        ? undefined
        : { code: 'command.tooFast', detail: `more than ${burst} ${type} within ${BURST / 1000} s` },
  },
  {
    stage: 'car',
    name: 'daily limit',
    demand: `at most ${defaultLimits.daily} commands in 24 h, besides those of the car itself`,
    codes: ['command.tooMany'],
    refusal: ({ order, ledger, limits: { daily }, now }) =>
      order.own || ledger.accepted(now - DAY, now) < daily
        ? undefined
        : { code: 'command.tooMany', detail: `more than ${daily} commands within a day` },
  },
  {
    stage: 'car',
    name: 'theft',
    demand: `the car does not count as stolen; does not apply to ${exempt('whileStolen')}`,
    codes: ['command.stolen'],
    refusal: stolen,
  },
  {
    stage: 'car',
    name: 'privacy',
    demand: `not in full privacy, unless declared stolen; does not apply to ${exempt('whilePrivate')}`,
    codes: ['command.private'],
    refusal: hiding,
  },
  {
    stage: 'car',
    name: 'wake-ups',
    demand: `the car and the buses of the command are awake; or it was woken at most ${defaultLimits.wakeUps - 1} times in the 30 days before`,
    codes: ['command.wakeUpsUsed'],
    refusal: ({ awake, ledger, limits: { wakeUps }, now }) =>
      awake || ledger.wakeUps(now - MONTH, now) < wakeUps
        ? undefined
        : { code: 'command.wakeUpsUsed', detail: `woken ${wakeUps} times within 30 days` },
  },
  {
    stage: 'car',
    name: 'battery',
    demand: `the 12 V battery is at ${defaultLimits.battery} % or more, or its charge was never known; does not apply to ${exempt('withLowBattery')}`,
    codes: ['command.batteryLow'],
    refusal: ({ kind, status, limits: { battery } }) => {
      const charge = status.value(batteryCharge);
      if (kind.withLowBattery === true || typeof charge !== 'number' || charge >= battery) return undefined;
      return { code: 'command.batteryLow', detail: `the 12 V battery is at ${charge} %, needed are ${battery} %` };
    },
  },
  { stage: 'step', name: 'validity', demand: 'still so', codes: ['command.longLived'], refusal: longLived },
  { stage: 'step', name: 'expiry', demand: 'still so', codes: ['command.expired'], refusal: late },
  { stage: 'step', name: 'theft', demand: 'still so', codes: ['command.stolen'], refusal: stolen },
  { stage: 'step', name: 'privacy', demand: 'still so', codes: ['command.private'], refusal: hiding },
  {
    stage: 'step',
    name: 'interlocks',
    demand: 'the interlocks of the action hold (above); tracking only of a stolen car that does not hide its position',
    codes: [],
    refusal: ({ interlocks }) => interlocks,
  },
];

const byStage = new Map<CheckStage, CommandCheck[]>();
for (const check of checks) byStage.set(check.stage, [...(byStage.get(check.stage) ?? []), check]);

/** Returns the refusal of the first check of a stage that fails, or undefined. */
export function firstRefusal<S extends CheckStage>(stage: S, asked: Stages[S]): Refusal | undefined {
  for (const check of (byStage.get(stage) ?? []) as unknown as readonly StageCheck<S>[]) {
    const refusal = check.refusal(asked);
    if (refusal !== undefined) return refusal;
  }
  return undefined;
}

/** Returns the kinds that are exempt from the rule. */
function exempt(rule: 'whileStolen' | 'whilePrivate' | 'withLowBattery'): string {
  return remoteKinds.flatMap((kind) => (kind[rule] === true ? [kind.type] : [])).join(', ');
}

/** Returns the data that privacy hides now. */
export function hidden({ status, thefts }: Car): ReturnType<EffectParts['hidden']> {
  if (thefts.current?.origin === 'Declared') return 'nothing';
  const state = status.value(privacyState);
  if (state === 'Full') return 'everything';
  return state === 'Geolocation' ? 'position' : 'nothing';
}

function longLived({ order: { issued, expires, own }, limits: { maxValidity } }: Timely): Refusal | undefined {
  if (own || expires - issued <= maxValidity) return undefined;
  const detail = `it is valid for ${Math.ceil((expires - issued) / 1000)} s; the limit is ${maxValidity / 1000} s`;
  return { code: 'command.longLived', detail };
}

/** Returns true if the command's own times make it fail: it is verified after all others, only to be answered. */
export function isLate(timely: Timely): boolean {
  return timely.quality !== 'none' && (longLived(timely) ?? late(timely)) !== undefined;
}

/** Without a known time the car cannot decide whether a command is too late. */
function late({ order: { issued, expires, own }, now, quality }: Timely): Refusal | undefined {
  const refuse = (detail: string): Refusal => ({ code: 'command.expired', detail });
  if (quality === 'none') return refuse('the car does not know the time');
  if (now > expires) return refuse(`it expired ${Math.ceil((now - expires) / 1000)} s ago`);
  if (own || issued <= now + SKEW) return undefined;
  return refuse('it was issued in the future: the clocks of sender and car disagree');
}

function stolen({ kind, status, thefts }: Car & { readonly kind: RemoteKind }): Refusal | undefined {
  const isStolen = thefts.current !== undefined || status.value(stolenState) === true;
  if (!isStolen || kind.whileStolen === true) return undefined;
  return { code: 'command.stolen', detail: 'the car counts as stolen' };
}

function hiding({ kind, ...car }: Car & { readonly kind: RemoteKind }): Refusal | undefined {
  if (hidden(car) !== 'everything' || kind.whilePrivate === true) return undefined;
  return { code: 'command.private', detail: 'full privacy is chosen in the car: what it does could not be seen' };
}

/** The message is not authenticated yet: refuses it only if it would be refused even with a valid signature. */
function spent({ opened: { command }, key, ledger, verdict, quality }: Stages['repetition']): Refusal | undefined {
  if (ledger.find(command.id) !== undefined) return undefined;
  // The next authentic command settles a doubtful ledger once the time is known; until then a repetition has no effect.
  const idle = quality === 'none' && verdict === 'authentic';
  const forgotten = ledger.doubtful ? idle : ledger.forgot(command.issued);
  return forgotten || ledger.used(key, command.counter) ? replayed(command.id) : undefined;
}

function unsigned({ keyId }: OpenedCommand, verifier: SignatureVerifier): Refusal {
  const why = verifier.key(keyId) === undefined ? verifier.why?.(keyId) : 'the signature is wrong';
  const detail = `a command was not signed by a key this car trusts: ${hex(keyId)}`;
  return { code: 'command.unsigned', detail: why === undefined ? detail : `${detail}: ${why}` };
}

/**
 * Returns a refusal that is not sent: the ledger may have forgotten this id, and an old message, sent again, could make
 * the car contradict its earlier report.
 */
function replayed(id: string): Refusal {
  return { code: 'command.replayed', detail: `${id}: its counter was used, or may have been` };
}

const refusalOf = ({ code, message }: VigieError): Refusal => ({ code, detail: message });
