/** One car at the plain topics of a hub: its values as the database has them, and the part that sends them. */
import { randomUUID } from 'node:crypto';
import { CommandTopics } from '../../adapters/exits/commands.ts';
import { CarExit, type ExitMessage, type ExitStatus, type ExitTopics } from '../../adapters/exits/exit.ts';
import { hiddenFrom, privacyLevels } from '../../agent/model/privacy.ts';
import type { Clock, Link, Log, OutgoingMessage } from '../../agent/ports.ts';
import { dateTime } from '../../protocol/interface/json/date-time.ts';
import { remoteLack, remoteScopeOf } from '../../protocol/interface/remotes.ts';
import { scopeOfPath } from '../../protocol/interface/visible-members.ts';
import { findRemoteKind, type RemoteType } from '../../protocol/remote/table.ts';
import { disassemble, type Slot, type SlotValue, slotByPath, slots } from '../../protocol/slots.ts';
import type { HubCommands } from '../core/commands.ts';
import type { VehicleStatus } from '../core/vehicle-status.ts';

/** Facts about a car that its description contains. */
export interface DescribedCar {
  readonly vin: string;
  readonly title: string;
  /** Returns true if the exit may send commands of this kind and the car can execute them. */
  readonly may: (type: RemoteType) => boolean;
}

/** Parts that all cars of the exit share. */
export interface ExitCarParts {
  readonly topics: ExitTopics;
  readonly scopes: ReadonlySet<string>;
  readonly link: Pick<Link, 'connected' | 'publish'>;
  readonly commands: Pick<HubCommands, 'submit'>;
  readonly describe: (car: DescribedCar, known: ReadonlySet<Slot>) => readonly ExitMessage[];
  /** Called when the broker has refused a message of the car, which then sends nothing until {@link ExitCar.greet}. */
  readonly refused: (error: unknown) => void;
  readonly clock: Clock;
  readonly log: Log;
}

/** Caller of the commands in the audit trail. */
const CALLER = 'exits.mqtt';
/** Largest number of commands of a car that the database has not stored yet. */
const MAX_SUBMITTING = 10;
/** Level of privacy that hides each slot, by index. */
const hidingLevels = slots.map(({ path }) => hiddenFrom(path));
const PRIVACY = slotByPath.get('privacy.state');
const STOLEN = slotByPath.get('stolen.state');

interface Present {
  readonly value: SlotValue;
  /** UTC ms of the car. */
  readonly at: number;
  readonly stale: boolean;
}

export class ExitCar implements ExitStatus {
  readonly vin: string;
  readonly #parts: ExitCarParts;
  readonly #exit: CarExit;
  #values: readonly (Present | undefined)[] = [];
  #vehicle: VehicleStatus['vehicle'];
  /** True until the broker takes messages of this car. */
  #refused = false;
  #removed = false;
  #submitting = 0;
  /** Acknowledgement of the newest message. The broker acknowledges messages in their order. */
  #sent: Promise<unknown> = Promise.resolve();

  constructor(vin: string, parts: ExitCarParts) {
    const { topics, scopes, clock, log } = parts;
    this.vin = vin;
    this.#parts = parts;
    const isOpen = (): boolean => parts.link.connected && !this.#refused && !this.#removed;
    this.#exit = new CarExit({
      // The exit of the hub reads each car at most once per interval.
      ...{ vin, clock, log, status: this, fed: [], topics: { ...topics, interval: 0 } },
      sees: ({ path }) => scopes.has(scopeOfPath(path)),
      describe: (known) => parts.describe(this.#described, known),
      commands: new CommandTopics({
        may: (type) => scopes.has(remoteScopeOf(type)),
        submit: ({ type, body }) => this.#submit(type, body),
        refused: (order, reason) =>
          this.tellOutcome({ ...order, status: 'Failed', detail: reason, at: dateTime(clock.now()) }),
        log,
      }),
      link: {
        get connected() {
          return isOpen();
        },
        publish: (message) => this.#publish(message),
      },
    });
  }

  value({ index }: Slot): SlotValue | undefined {
    return this.#values[index]?.value;
  }

  changedAt({ index }: Slot): number {
    return this.#values[index]?.at ?? Number.NaN;
  }

  fresh({ index }: Slot): boolean {
    return this.#values[index]?.stale === false;
  }

  /** Sends all changes since the previous call. */
  accept(status: VehicleStatus): void {
    const before = this.#values;
    this.#values = valuesIn(status);
    const wasDescribed = JSON.stringify(this.#vehicle);
    this.#vehicle = status.vehicle;
    for (const slot of slots) {
      const [old, present] = [before[slot.index], this.#values[slot.index]];
      if (!isSame(old?.value, present?.value)) this.#exit.changed(slot);
      else if (old?.stale !== present?.stale) this.#exit.stale(slot);
    }
    if (JSON.stringify(this.#vehicle) !== wasDescribed) this.#exit.describeAgain();
  }

  /** Sends all values and the presence again. */
  greet(presence: string | undefined): void {
    this.#refused = false;
    this.#exit.up();
    if (presence !== undefined) this.tellPresence(presence);
  }

  down(): void {
    this.#exit.down();
  }

  tellPresence(presence: string): void {
    this.#tell('presence', presence, true);
  }

  tellOutcome(outcome: object): void {
    this.#tell('command', JSON.stringify(outcome), this.#parts.topics.retain);
  }

  message(topic: string, payload: Uint8Array, retained: boolean | undefined): void {
    this.#exit.message(topic, payload, undefined, retained);
  }

  /** Stops sending. Resolves when the broker has acknowledged or lost all messages. */
  async remove(): Promise<void> {
    this.#removed = true;
    this.#exit.close();
    await this.#sent;
  }

  #tell(name: string, text: string, retain: boolean): void {
    if (this.#removed) return;
    this.#exit.tell({ topic: `${this.#parts.topics.prefix}/${this.vin}/${name}`, text, retain });
  }

  get #described(): DescribedCar {
    const { vin } = this;
    const { label, actions, commands = true } = this.#vehicle ?? {};
    const can = actions === undefined ? undefined : new Set(actions);
    return {
      vin,
      // Cars of one model have the same label.
      title: label === undefined ? vin : `${label} ${vin.slice(-6)}`,
      may: (type) => {
        const needed = Object.keys(findRemoteKind(type)?.actions ?? {});
        const isAble = commands && (can === undefined || needed.every((action) => can.has(action)));
        return isAble && this.#parts.scopes.has(remoteScopeOf(type));
      },
    };
  }

  async #submit(type: RemoteType, body: object): Promise<void> {
    const { commands, scopes } = this.#parts;
    const lack = remoteLack({ type, body }, scopes);
    if (lack !== undefined) throw new Error(lack);
    if (this.#submitting >= MAX_SUBMITTING) throw new Error('too many commands wait for the database');
    this.#submitting++;
    try {
      await commands.submit({ id: randomUUID(), vin: this.vin, type, body, caller: CALLER });
    } finally {
      this.#submitting--;
    }
  }

  async #publish(message: OutgoingMessage): Promise<void> {
    if (this.#removed) return;
    const sent = this.#parts.link.publish(message);
    this.#sent = sent.catch(() => undefined);
    try {
      await sent;
    } catch (error) {
      this.#refused = true;
      this.#parts.refused(error);
      throw error;
    }
  }
}

/** Returns the values by index of their slots, without those that the privacy in this Status hides. */
function valuesIn(status: VehicleStatus): readonly (Present | undefined)[] {
  const stale = new Set(status.stale);
  const values: (Present | undefined)[] = new Array(slots.length).fill(undefined);
  for (const { slot, value, at } of disassemble(status.contents())) {
    values[slot.index] = { value, at, stale: stale.has(slot.id) };
  }
  const presentAt = (slot: Slot | undefined): SlotValue | undefined => slot && values[slot.index]?.value;
  // The car sends nothing hidden, but messages may arrive in another order. A stolen car hides nothing.
  const level = presentAt(STOLEN) === true ? 0 : (privacyLevels[String(presentAt(PRIVACY))] ?? 0);
  return level === 0 ? values : values.map((one, index) => ((hidingLevels[index] ?? 0) <= level ? undefined : one));
}

function isSame(one: SlotValue | undefined, other: SlotValue | undefined): boolean {
  return one === other || JSON.stringify(one) === JSON.stringify(other);
}
