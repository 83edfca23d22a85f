/** A car for commands with real ledger, envelope, Status and confirmation. Only wire, disk and clock are simulated. */

import { createHash, generateKeyPairSync, sign, verify } from 'node:crypto';
import { Channels } from '../../../agent/model/channels.ts';
import type { StatusWriter } from '../../../agent/model/mapping.ts';
import { Status } from '../../../agent/model/status.ts';
import type { Publisher, SignatureVerifier } from '../../../agent/ports.ts';
import type { AgentCommand } from '../../../agent/remotes/agent-command.ts';
import { Confirmations } from '../../../agent/remotes/confirmation.ts';
import { emptyLedger, Ledger, type LedgerData, type LedgerDocument } from '../../../agent/remotes/ledger.ts';
import type { Limits, Power } from '../../../agent/remotes/power.ts';
import { Remotes } from '../../../agent/remotes/remotes.ts';
import type { TrackingPeriod } from '../../../agent/remotes/tracking.ts';
import { channelByPath } from '../../../protocol/channels.ts';
import { type Command, type CommandBodyKind, encodeBody, encodeCommand } from '../../../protocol/command.ts';
import { EDDSA, encodeSigned } from '../../../protocol/cose.ts';
import { defined } from '../../../protocol/defined.ts';
import { VigieError } from '../../../protocol/errors.ts';
import type { CommandRule } from '../../../protocol/profile.ts';
import { remoteTypes } from '../../../protocol/remote/table.ts';
import type { ClockQuality } from '../../../protocol/schema/message.ts';
import type { CommandKind, RemoteReport } from '../../../protocol/schema/remote.ts';
import type { Theft } from '../../../protocol/schema/theft.ts';
import { type Slot, type SlotValue, slotByPath } from '../../../protocol/slots.ts';
import { VirtualClock } from '../../rig/clock.ts';
import { MemoryLog } from '../../rig/log.ts';

export const VIN = 'VF3VGEBENCH000001';
export const CHARGING = 'energies.Electric.extension.electric.charging';

/** Values with which the car confirms each action. */
const shows: Readonly<Record<string, readonly [path: string, value: SlotValue]>> = {
  'doors.lock': ['doorsState.lockedStates', ['Locked']],
  'doors.unlock': ['doorsState.lockedStates', ['Unlocked']],
  'lights.on': ['lightingSystem.turn.LeftFront.status', 'On'],
  'lights.off': ['lightingSystem.turn.LeftFront.status', 'Off'],
  'horn.on': ['lightingSystem.fog.LeftFront.status', 'On'],
  'horn.off': ['lightingSystem.fog.LeftFront.status', 'Off'],
  'charging.start': [`${CHARGING}.status`, 'InProgress'],
  'charging.stop': [`${CHARGING}.status`, 'Stopped'],
  'charging.level3': [`${CHARGING}.chargingPowerLevel`, 'Level3'],
  'charging.partial': [`${CHARGING}.type`, 'Partial'],
  'preconditioning.start': ['preconditioning.airConditioning.status', 'Enabled'],
  'preconditioning.stop': ['preconditioning.airConditioning.status', 'Disabled'],
  'immobilization.on': ['adas.fse', true],
  'immobilization.off': ['adas.fse', false],
  'navigation.send': ['adas.abs', true],
};

export const actions = Object.keys(shows);

const rules: Readonly<Record<string, CommandRule>> = Object.fromEntries(
  Object.entries(shows).map(([action, [path, value]]) => [
    action,
    {
      confirm: Array.isArray(value) ? { path, includes: value[0] as string } : { path, equals: value as string },
      within: 3_000,
    },
  ]),
);

/** A parked, closed, plugged-in car with a charged battery. All its readings are valid for five seconds. */
const parked: Readonly<Record<string, SlotValue>> = {
  'kinetic.speed': 0,
  'ignition.type': 'Stop',
  'doorsState.lockedStates': ['Unlocked'],
  'doorsState.opening.Driver.state': 'Closed',
  'doorsState.opening.Passenger.state': 'Closed',
  'lightingSystem.turn.LeftFront.status': 'Off',
  'lightingSystem.fog.LeftFront.status': 'Off',
  [`${CHARGING}.plugged`]: true,
  [`${CHARGING}.status`]: 'Stopped',
  [`${CHARGING}.chargingPowerLevel`]: 'Level1',
  [`${CHARGING}.type`]: 'Full',
  'energies.Electric.level': 60,
  'preconditioning.airConditioning.status': 'Disabled',
  'battery.voltage': 80,
  'adas.fse': false,
  'adas.abs': false,
};

const trusted = generateKeyPairSync('ed25519');
export const stranger = generateKeyPairSync('ed25519');
const keyId = Uint8Array.of(1, 2, 3, 4, 5, 6, 7, 8);

/** A verifier with one key that has every right except those in `without`. */
export function verifierOf(without: readonly string[] = []): SignatureVerifier {
  const kinds = remoteTypes.filter((type) => !without.includes(type));
  return {
    key: (id) => (Buffer.from(id).equals(keyId) ? { algorithm: EDDSA, kinds } : undefined),
    verify: (_id, message, signature) => verify(null, message, trusted.publicKey, signature),
    digest: (message) => createHash('sha256').update(message).digest('hex'),
  };
}

let counter = 0;

export function commandOf<K extends CommandBodyKind>(
  clock: VirtualClock,
  kind: K,
  body: object,
  rest: Partial<Command> = {},
): Command {
  counter++;
  return {
    id: `command-${counter}`,
    vin: VIN,
    kind,
    body: encodeBody(kind, body),
    issued: clock.now(),
    expires: clock.now() + 30_000,
    counter,
    ...rest,
  };
}

export function signed(command: Command, key = trusted.privateKey): Uint8Array {
  return encodeSigned(encodeCommand(command), { algorithm: EDDSA, keyId }, (bytes) => sign(null, bytes, key));
}

/** A document that stores what is written, like a disk. */
export function disk(data: LedgerData = emptyLedger, corrupt = 0): LedgerDocument & { data: LedgerData } {
  const document = {
    data,
    corrupt,
    async write(next: LedgerData) {
      // Data read from a disk is never the same object.
      document.data = JSON.parse(JSON.stringify(next)) as LedgerData;
    },
  };
  return document;
}

export interface Setting {
  /** Whether the car confirms each action. It never does for actions that it does not obey. */
  readonly obeys?: boolean | ((action: string) => boolean);
  readonly quality?: ClockQuality;
  readonly document?: LedgerDocument & { data: LedgerData };
  readonly memory?: Map<string, unknown>;
  /** Whether commits may be lost. */
  readonly damaged?: boolean;
  readonly clock?: VirtualClock;
  readonly power?: Power;
  readonly limits?: Partial<Limits>;
  readonly without?: readonly string[];
  readonly requires?: Readonly<Record<string, CommandRule['requires']>>;
  /** Actions in the profile. Default: all. */
  readonly profile?: readonly string[];
  readonly zone?: string;
  readonly feeds?: readonly string[];
  readonly publisher?: Partial<Publisher>;
  readonly actuate?: (action: string, allowed: (() => void) | undefined) => Promise<void>;
  readonly theft?: Theft;
  readonly waker?: (at: number) => void;
  readonly verifier?: SignatureVerifier;
  readonly agentCommands?: ReadonlyMap<CommandKind, AgentCommand>;
}

export function carOf(setting: Setting = {}) {
  const { obeys = true, document = disk(), memory = new Map<string, unknown>() } = setting;
  const clock = setting.clock ?? new VirtualClock();
  const status = new Status();
  const channels = new Channels();
  const log = new MemoryLog();
  const reports: RemoteReport[] = [];
  const actuated: string[] = [];
  const parameters: unknown[] = [];
  const periods: (TrackingPeriod | undefined)[] = [];
  let quality: ClockQuality = setting.quality ?? 'ntp';
  let theft = setting.theft;
  let refuses = false;
  const slotOf = (path: string): Slot => slotByPath.get(path) as Slot;
  const see = (path: string, value: SlotValue): void => status.write(slotOf(path), value, clock.now());
  for (const [path, value] of Object.entries(parked)) {
    status.expireAfter(slotOf(path), 5_000);
    see(path, value);
  }
  const writer: StatusWriter = {
    set: (slot, value, at) => status.write(slot, value, at),
    remove: (slot, at) => status.remove(slot, at),
    expose: () => undefined,
    overrule: (slot, value, at) => status.write(slot, value, at),
    retract: (slot, at) => status.remove(slot, at),
    release: () => undefined,
  };
  const chosen = new Set(setting.profile ?? actions);
  const ownRules = Object.fromEntries(
    Object.entries(rules)
      .filter(([action]) => chosen.has(action))
      .map(([action, rule]) => {
        const requires = setting.requires?.[action];
        return [action, requires === undefined ? rule : { ...rule, requires }];
      }),
  );
  // Like the outbox: the message and the copy of the ledger are in one commit.
  const publisher: Publisher = {
    put: (_kind, body) => void reports.push(body as RemoteReport),
    secure: async (_kind, body, options) => {
      if (refuses && options?.durable === true) throw new VigieError('store.failed', 'no space left');
      reports.push(body as RemoteReport);
      if (refuses) throw new VigieError('store.failed', 'no space left');
      for (const [key, value] of remotes.states()) memory.set(key, structuredClone(value));
    },
    ...setting.publisher,
  };
  const remotes: Remotes = new Remotes({
    vin: VIN,
    rules: ownRules,
    actuator: {
      actions: chosen,
      actuate: async (action, given, allowed) => {
        await setting.actuate?.(action, allowed);
        actuated.push(action);
        if (given !== undefined) parameters.push(given);
        const [path, value] = shows[action] as [string, SlotValue];
        if (obeys === true || (obeys !== false && obeys(action))) clock.after(300, () => see(path, value));
      },
    },
    verifier: setting.verifier ?? verifierOf(setting.without),
    ...defined({ agentCommands: setting.agentCommands }),
    ledger: new Ledger(document),
    status,
    confirmations: new Confirmations(status, clock),
    publisher,
    clock,
    quality: () => quality,
    log,
    writer,
    thefts: {
      get current() {
        return theft;
      },
      declare: (isStolen, at) => {
        theft = isStolen ? { id: 't', createdAt: at, startedAt: at, state: true, origin: 'Declared' } : undefined;
      },
    },
    tracker: { track: (period) => void periods.push(period) },
    channels,
    fed: new Set([...Object.keys(parked), ...(setting.feeds ?? [])]),
    memory: { recall: (key) => memory.get(key), damaged: setting.damaged === true },
    waker: (at) => {
      setting.waker?.(at);
      return () => undefined;
    },
    ...defined({ power: setting.power, limits: setting.limits, zone: setting.zone }),
  });
  /** Sends all current readings again, like periodic frames. */
  const repeat = (): void => {
    for (const path of Object.keys(parked)) status.seen(slotOf(path), clock.now());
  };
  const give = async (payload: Uint8Array, time = 4_000): Promise<void> => {
    const done = remotes.intake.receive(payload);
    await clock.settle(time, 100);
    await done;
  };
  return {
    clock,
    status,
    channels,
    log,
    reports,
    actuated,
    parameters,
    periods,
    remotes,
    document,
    memory,
    see,
    repeat,
    give,
    value: (path: string) => status.value(slotOf(path)),
    say: (path: string, value: SlotValue) => channels.write(channelByPath.get(path) as never, value, clock.now()),
    know: (next: ClockQuality) => {
      quality = next;
    },
    steal: (origin: 'Declared' | 'Alarm' | undefined) => {
      const at = clock.now();
      theft = origin === undefined ? undefined : { id: 't', createdAt: at, startedAt: at, state: true, origin };
    },
    stolen: () => theft,
    /** Makes the disk refuse every commit from now on. */
    refuse: () => {
      refuses = true;
    },
    /** Signs a command, delivers it, and returns its states. */
    order: async (kind: CommandBodyKind, body: object, rest: Partial<Command> = {}): Promise<string[]> => {
      const from = reports.length;
      await give(signed(commandOf(clock, kind, body, rest)));
      return reports.slice(from).map(({ status: state, failureCause }) => failureCause ?? state);
    },
  };
}
