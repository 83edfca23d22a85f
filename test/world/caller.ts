/** Sends commands to cars and remembers their permitted outcomes. */

import { type CommandBodyKind, encodeBody, encodeCommand } from '../../protocol/command.ts';
import { commandTopic } from '../../protocol/command-topic.ts';
import { EDDSA, encodeSigned } from '../../protocol/cose.ts';
import { remoteTypes } from '../../protocol/remote/table.ts';
import type { Broker } from './broker.ts';
import { collector, root, signers, stranger, type WorldKey } from './keys.ts';
import type { Happening, Manner, Program } from './plan.ts';
import { COLLECTED, collectedName } from './signals.ts';
import type { WorldTime } from './time.ts';

/** Command bodies, with the action that each requests. */
const WISHES: readonly (readonly [kind: CommandBodyKind, body: object, action: string])[] = [
  ['Doors', { state: 'Locked' }, 'doors.lock'],
  ['Doors', { state: 'Unlocked' }, 'doors.unlock'],
  ['Lights', { on: true }, 'lights.on'],
  ['Lights', { on: false }, 'lights.off'],
  ['Horn', { state: 'Activated' }, 'horn.on'],
  ['Horn', { state: 'Unactivated' }, 'horn.off'],
  ['ElectricBatteryChargingRequest', { immediate: true }, 'charging.start'],
  ['ElectricBatteryChargingRequest', { immediate: false }, 'charging.stop'],
  ['ThermalPreconditioning', { airConditioning: { immediate: true } }, 'preconditioning.start'],
  ['ThermalPreconditioning', { airConditioning: { immediate: false } }, 'preconditioning.stop'],
  ['Immobilization', { activate: true }, 'immobilization.on'],
  ['Immobilization', { activate: false }, 'immobilization.off'],
];

/** Plan of a command for later. */
export interface SentProgram {
  /** Key under which the car stores it. */
  readonly key: string;
  readonly action: string;
  /** UTC ms */
  readonly due: number;
  /** How late it may still run, ms. */
  readonly window: number;
}

type Purpose = Pick<SentCommand, 'revokes' | 'adds' | 'program' | 'isFaulty' | 'collects'>;

/** A command before it is signed. */
interface Wish {
  readonly kind: CommandBodyKind;
  readonly body: object | Uint8Array;
  readonly action: string;
  readonly of?: Purpose;
}

/** A sent command, and facts about it in the world. */
export interface SentCommand {
  readonly id: string;
  readonly vin: string;
  readonly kind: string;
  readonly action: string;
  readonly keyId: string;
  readonly counter: number;
  /** Whether it is signed correctly, for this car, by a key that the car trusts or has trusted. */
  readonly genuine: boolean;
  readonly expires: number;
  /** For a command that revokes a key: that key. */
  readonly revokes?: string;
  /** For a command that adds a key: that key. */
  readonly adds?: string;
  /** For a command that plans something: its plan. */
  readonly program?: SentProgram;
  /** For a command about a collection: name and end. Without an end, it stops the collection of this name. */
  readonly collects?: { readonly name: string; readonly until: number | undefined };
  /** Whether its body is invalid for its kind. */
  readonly isFaulty?: boolean;
  /** Whether it reached the car while its key was trusted. */
  cameTrusted: boolean;
}

const VALID = 30_000;
/** Start of the ids of forged commands. */
export const FORGED = 'forged-';
const HOUR = 3_600_000;
/** UTC offset of the time zone in which cars read times of day: Europe/Paris in winter. */
const ZONE = HOUR;

export type CallerHappening = Extract<
  Happening,
  { do: 'command' | 'burst' | 'program' | 'collect' | 'forgeries' | 'replays' }
>;

export function isOfCaller(happening: Happening): happening is CallerHappening {
  return ['command', 'burst', 'program', 'collect', 'forgeries', 'replays'].includes(happening.do);
}

export interface CallerParts {
  readonly time: WorldTime;
  readonly broker: Pick<Broker, 'send'>;
  readonly vins: readonly string[];
  /** Clock of the caller, UTC ms. */
  readonly now: () => number;
}

interface OldCommand {
  readonly vin: string;
  readonly topic: string;
  readonly payload: Uint8Array;
  /** UTC ms */
  readonly expires: number;
}

export class Caller {
  /** By id. */
  readonly sent = new Map<string, SentCommand>();
  readonly #parts: CallerParts;
  readonly #old: OldCommand[] = [];
  #counter = 0;

  constructor(parts: CallerParts) {
    this.#parts = parts;
  }

  /** Latest due time of all plans, UTC ms. */
  get lastDue(): number {
    return Math.max(0, ...[...this.sent.values()].map(({ program }) => program?.due ?? 0));
  }

  /** Records a command of the hub. Returns its contents. */
  ofHub({ car, which }: { readonly car: number; readonly which: number }, id: string, keyId: string, expires: number) {
    const vin = this.#parts.vins[car] as string;
    const { kind, body, action } = wishOf(which);
    this.sent.set(id, { id, vin, kind, action, genuine: true, expires, keyId, counter: 0, cameTrusted: false });
    return { vin, kind, body: body as object };
  }

  /** A car has reported that it no longer trusts a key, and its holder uses it again. Returns a description. */
  useRevoked(vin: string, keyId: string): string {
    const key = signers.findIndex((one) => one.hex === keyId);
    const car = this.#parts.vins.indexOf(vin);
    return this.send({ do: 'command', at: 0, car, which: this.#counter, key, manner: 'once', wait: 0 });
  }

  /** Performs a step of the plan. Returns a description. */
  does(happening: CallerHappening): string {
    if (happening.do === 'command') return this.send(happening);
    if (happening.do === 'collect') return this.collect(happening);
    if (happening.do === 'program') return this.plan(happening);
    if (happening.do === 'burst') return this.#sendMany(happening);
    return this.flood(happening);
  }

  #sendMany({ at, car, which, key, count, every, same }: Extract<Happening, { do: 'burst' }>): string {
    for (let n = 0; n < count; n++) {
      const send = (): string =>
        this.send({ do: 'command', at, car, which: same ? which : which + n, key, manner: 'once', wait: 0 });
      this.#parts.time.after(n * every, send);
    }
    return `begins to send ${count} commands, one each ${every} ms`;
  }

  /** Sends the planned command. Returns a description. */
  send({ car, which, key, manner, wait }: Extract<Happening, { do: 'command' }>): string {
    const { broker, vins } = this.#parts;
    const vin = vins[car] as string;
    if (manner === 'again') {
      const old = this.#old.filter((one) => one.vin === vin);
      const one = old[which % Math.max(1, old.length)];
      if (one === undefined) return 'has nothing to send again';
      broker.send(vin, one.topic, one.payload);
      return `sends an old command again`;
    }
    const operator = signers[key] as WorldKey;
    const isTrust = manner === 'revoke' || manner === 'add';
    const signer = isTrust ? root : manner === 'by a stranger' ? stranger : operator;
    const wish = manner === 'with a faulty body' ? faultyWish(which) : wishOf(which);
    return this.#give(vin, isTrust ? trustWish(operator, manner) : wish, signer, manner, { which, wait });
  }

  /** Sends all commands to a car again that are still valid. Returns a description. */
  repeat(vin: string): string {
    const { broker, now } = this.#parts;
    const valid = this.#old.filter((one) => one.vin === vin && one.expires > now());
    for (const { topic, payload } of valid) broker.send(vin, topic, payload);
    return `sends ${valid.length} commands again`;
  }

  /** Asks a car to do something later. Returns a description. */
  plan({ car, which, key, in: wait }: Extract<Happening, { do: 'program' }>): string {
    const { vins, now } = this.#parts;
    const due = Math.ceil((now() + wait) / 1_000) * 1_000;
    const operator = signers[key] as WorldKey;
    return this.#give(vins[car] as string, programWish(which, due), operator, 'once', { which: 0, wait: 0 });
  }

  /** Starts or stops a collection of signals. Returns a description. */
  collect({ car, name, lasts, interval }: Extract<Happening, { do: 'collect' }>): string {
    const until = lasts === 0 ? undefined : Math.round(this.#parts.now()) + lasts;
    const id = `command-${this.#counter + 1}`;
    const signals = COLLECTED.map((signal) => ({ signal: `Car.${signal}`, name: collectedName(id, signal) }));
    const body = until === undefined ? { name, signals: [] } : { name, signals, until, interval };
    const action = until === undefined ? `end of collection ${name}` : `collection ${name} for ${lasts} ms`;
    const wish: Wish = { kind: 'Collect', body, action, of: { collects: { name, until } } };
    return this.#give(this.#parts.vins[car] as string, wish, collector, 'once', { which: 0, wait: 0 });
  }

  /** Sends many messages that must change nothing. Returns a description. */
  flood({ do: what, car, which, perSecond, count }: Extract<Happening, { do: 'forgeries' | 'replays' }>): string {
    const { broker, time, vins } = this.#parts;
    const vin = vins[car] as string;
    const old = this.#old.filter((one) => one.vin === vin);
    const one = old[which % Math.max(1, old.length)];
    if (what === 'replays' && one === undefined) return 'has nothing to send again';
    for (let n = 0; n < count; n++) {
      time.after((n * 1_000) / perSecond, () => {
        const { topic, payload } = what === 'replays' && one !== undefined ? one : this.#forged(vin, which, n);
        broker.send(vin, topic, payload);
      });
    }
    return `begins to send ${count} ${what}, ${perSecond} in a second`;
  }

  /** A forged message with the id of an operator's key and a plausible next counter. */
  #forged(vin: string, which: number, n: number): { readonly topic: string; readonly payload: Uint8Array } {
    const { kind, body } = wishOf(which + n);
    const issued = Math.round(this.#parts.now());
    const [id, counter] = [`${FORGED}${which}-${n}`, this.#counter + 1 + (n % 64)];
    const times = { issued, expires: issued + VALID };
    const payload = encodeCommand({ id, vin, kind, body: bytesOf(kind, body), ...times, counter });
    const keyId = (signers[which % 3] as WorldKey).id;
    const signature = new Uint8Array(64).fill(n % 256);
    return {
      topic: commandTopic(vin, kind),
      payload: encodeSigned(payload, { algorithm: EDDSA, keyId }, () => signature),
    };
  }

  #give(
    vin: string,
    { kind, body, action, of }: Wish,
    signer: WorldKey,
    manner: Manner,
    { which, wait }: { readonly which: number; readonly wait: number },
  ): string {
    const { broker, time, now } = this.#parts;
    const counter = ++this.#counter;
    const id = `command-${counter}`;
    const issued = Math.round(now());
    const expires = issued + (manner === 'late' ? 500 : VALID);
    const to = manner === 'to another car' ? 'VF3VGEELSEWHERE01' : vin;
    const payload = encodeCommand({ id, vin: to, kind, body: bytesOf(kind, body), issued, expires, counter });
    const signed = signer.sign(payload);
    // Changes a bit of the signature, which is at the end of the message.
    if (manner === 'unsigned') signed[signed.length - 1 - (which % 64)]! ^= 1 << (which % 8);
    const topic = commandTopic(vin, kind);
    const genuine = manner !== 'unsigned' && manner !== 'by a stranger' && manner !== 'to another car';
    const sent = { id, vin, kind, action, genuine, expires, keyId: signer.hex, counter, cameTrusted: false };
    this.sent.set(id, { ...sent, ...of });
    this.#old.push({ vin, topic, payload: signed, expires });
    const send = (): void => broker.send(vin, topic, signed);
    if (manner === 'late') time.after(500 + wait, send);
    else send();
    if (manner === 'twice') time.after(wait, send);
    return `sends ${id} (${action}) signed by ${signer.name}, ${manner}`;
  }
}

/** Kind of the command that requests an action. */
export function kindOf(action: string): string {
  return WISHES.find((wish) => wish[2] === action)?.[0] ?? '';
}

function bytesOf(kind: CommandBodyKind, body: object | Uint8Array): Uint8Array {
  return body instanceof Uint8Array ? body : encodeBody(kind, body);
}

/** An invalid body for the kind. */
function faultyWish(which: number): Wish {
  const { kind, body } = wishOf(which);
  const bytes = bytesOf(kind, body);
  const faulty = [
    bytes.slice(0, -1),
    // A text, a list, and a map whose only member is a text or a list.
    Uint8Array.of(0x61, 0x78),
    Uint8Array.of(0x80),
    Uint8Array.of(0xa1, 0x01, 0x61, 0x78),
    Uint8Array.of(0xa1, 0x01, 0x80),
  ][(which >> 4) % 5] as Uint8Array;
  return { kind, body: faulty, action: 'nothing', of: { isFaulty: true } };
}

function wishOf(which: number): Wish {
  const [kind, body, action] = WISHES[which % WISHES.length] as (typeof WISHES)[number];
  return { kind, body, action };
}

function trustWish(key: WorldKey, manner: 'revoke' | 'add'): Wish {
  if (manner === 'revoke') {
    const body = { revoke: key.id };
    return { kind: 'Trust', body, action: `revocation of ${key.name}`, of: { revokes: key.hex } };
  }
  const publicKey = new Uint8Array(key.publicKey.export({ type: 'spki', format: 'der' }));
  const body = { add: { name: key.name, publicKey, kinds: [...remoteTypes] } };
  return { kind: 'Trust', body, action: `addition of ${key.name}`, of: { adds: key.hex } };
}

/** Programs of a car, as described in docs/commands.md. */
function programWish(which: Program, due: number): Wish {
  const of = (key: string, action: string, window: number): Purpose => ({ program: { key, action, due, window } });
  if (which === 'delayed charging') {
    const body = { schedule: { nextDelayedTime: new Date(due).toISOString() } };
    const program = of('charge/next', 'charging.start', 2 * HOUR);
    return { kind: 'ElectricBatteryChargingRequest', body, action: which, of: program };
  }
  const seconds = ((due + ZONE) % (24 * HOUR)) / 1_000;
  const start = `PT${Math.floor(seconds / 3_600)}H${Math.floor(seconds / 60) % 60}M${seconds % 60}S`;
  if (which === 'charging') {
    const body = { schedule: { programs: [{ slot: 1, start }] } };
    const program = of('charge/1', 'charging.start', 2 * HOUR);
    return { kind: 'ElectricBatteryChargingRequest', body, action: which, of: program };
  }
  const occurence = { day: ['Mon', 'Tue', 'Wed', 'Thu', 'Fri', 'Sat', 'Sun'] };
  const body = { airConditioning: { programs: [{ slot: 1, enabled: true, recurrence: 'Daily', start, occurence }] } };
  const program = of('precondition/1', 'preconditioning.start', HOUR / 4);
  return { kind: 'ThermalPreconditioning', body, action: which, of: program };
}
