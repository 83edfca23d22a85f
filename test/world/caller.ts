/** Who sends commands to cars, and remembers what may become of them. */

import { type CommandBodyKind, encodeBody, encodeCommand } from '../../protocol/command.ts';
import { commandTopic } from '../../protocol/command-topic.ts';
import type { Broker } from './broker.ts';
import { operators, root, stranger, type WorldKey } from './keys.ts';
import type { Happening } from './plan.ts';
import type { WorldTime } from './time.ts';

/** What is sent, and the action that it asks for. */
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

/** A command that was sent, and what the world knows of it. */
export interface SentCommand {
  readonly id: string;
  readonly vin: string;
  readonly kind: string;
  readonly action: string;
  readonly keyId: string;
  /** Signed as it should be, by a key that the car trusts or trusted, for this car. */
  readonly genuine: boolean;
  readonly expires: number;
  /** Of a command that revokes a key: that key. */
  readonly revokes?: string;
  /** It came to the car while its key was trusted. */
  cameTrusted: boolean;
}

const VALID = 30_000;

export interface CallerParts {
  readonly time: WorldTime;
  readonly broker: Pick<Broker, 'send'>;
  readonly vins: readonly string[];
  /** UTC ms as the caller knows it. */
  readonly now: () => number;
}

export class Caller {
  /** By id. */
  readonly sent = new Map<string, SentCommand>();
  readonly #parts: CallerParts;
  readonly #old: { readonly vin: string; readonly topic: string; readonly payload: Uint8Array }[] = [];
  #counter = 0;

  constructor(parts: CallerParts) {
    this.#parts = parts;
  }

  /** A car has reported that it trusts a key no more: whoever has the key still tries; what that was, in words. */
  useRevoked(vin: string, keyId: string): string {
    const key = operators.findIndex((one) => one.hex === keyId);
    const car = this.#parts.vins.indexOf(vin);
    return this.send({ do: 'command', at: 0, car, which: this.#counter, key, manner: 'once', wait: 0 });
  }

  /** Sends what the plan says; what it was, in words. */
  send({ car, which, key, manner, wait }: Extract<Happening, { do: 'command' }>): string {
    const { broker, time, vins, now } = this.#parts;
    const vin = vins[car] as string;
    if (manner === 'again') {
      const old = this.#old.filter((one) => one.vin === vin);
      const one = old[which % Math.max(1, old.length)];
      if (one === undefined) return 'has nothing to send again';
      broker.send(vin, one.topic, one.payload);
      return `sends an old command again`;
    }
    const revokes = manner === 'revoke' ? (operators[key] as WorldKey) : undefined;
    const signer = revokes !== undefined ? root : manner === 'by a stranger' ? stranger : (operators[key] as WorldKey);
    const wish = WISHES[which % WISHES.length] as (typeof WISHES)[number];
    const [kind, body, action] = revokes === undefined ? wish : (['Trust', { revoke: revokes.id }, ''] as const);
    const counter = ++this.#counter;
    const id = `command-${counter}`;
    const issued = Math.round(now());
    const expires = issued + (manner === 'late' ? 500 : VALID);
    const to = manner === 'to another car' ? 'VF3VGEELSEWHERE01' : vin;
    const payload = encodeCommand({ id, vin: to, kind, body: encodeBody(kind, body), issued, expires, counter });
    const signed = signer.sign(payload);
    // A bit of the signature, which is the end of the message.
    if (manner === 'unsigned') signed[signed.length - 1 - (which % 64)]! ^= 1 << (which % 8);
    const topic = commandTopic(vin, kind);
    const genuine = manner !== 'unsigned' && manner !== 'by a stranger' && manner !== 'to another car';
    this.sent.set(id, {
      ...{ id, vin, kind, action, genuine, expires, keyId: signer.hex, cameTrusted: false },
      ...(revokes === undefined ? {} : { revokes: revokes.hex }),
    });
    this.#old.push({ vin, topic, payload: signed });
    const send = (): void => broker.send(vin, topic, signed);
    if (manner === 'late') time.after(500 + wait, send);
    else send();
    if (manner === 'twice') time.after(wait, send);
    const what = revokes === undefined ? action : `revocation of ${revokes.name}`;
    return `sends ${id} (${what}) signed by ${signer.name}, ${manner}`;
  }
}
