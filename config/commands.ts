/** The `commands` section of a profile. */

import { channelByPath } from '../protocol/channels.ts';
import { defined } from '../protocol/defined.ts';
import type { CommandRule, Confirmation, Requirement, Send } from '../protocol/profile.ts';
import { remoteActions } from '../protocol/remote/table.ts';
import type { Leaf } from '../protocol/slots.ts';
import type { BusNames } from './buses.ts';
import { readCondition } from './conditions.ts';
import { profileDefaults } from './defaults.ts';
import { quoted } from './faults.ts';
import { type Findings, pointer } from './findings.ts';
import type { ChecksumInput, CommandInput, ConfirmInput, RequirementInput, SendInput } from './profile-schema.ts';
import { readDuration } from './quantities.ts';
import type { Source } from './sources.ts';
import { readUds, type WrittenUds } from './uds.ts';
import { type FixedValue, misfit, slotAt } from './values.ts';

interface Rule extends CommandRule {
  readonly line: number;
}

/** Command of the profile, sent in CAN frames or as a diagnostic request. */
export type ProfileCommand = Rule &
  ({ readonly send: WrittenSend; readonly uds?: undefined } | { readonly uds: WrittenUds; readonly send?: undefined });

/** Frame of a command, with the line of the profile that contains the name of the message. */
type WrittenSend = Send & { readonly bus: string; readonly line: number };

/** Paths whose values can confirm a command. */
interface Fed {
  readonly sources: readonly Source[];
  /** Paths below `status`, including those with faults. */
  readonly paths: ReadonlySet<string>;
  /** Channels of the other sections, including those with faults. */
  readonly channels: ReadonlySet<string>;
}

/** Reads `commands`. Returns the rules by kind and action, e.g. `doors.lock`. */
export function readCommands(
  section: object,
  buses: BusNames,
  fed: Fed,
  findings: Findings,
): Record<string, ProfileCommand> {
  const commands: Record<string, ProfileCommand> = {};
  for (const [kind, actions] of Object.entries(section)) {
    if (typeof actions !== 'object' || actions === null || Array.isArray(actions)) continue;
    for (const [action, input] of Object.entries(actions as Record<string, CommandInput>)) {
      const at = pointer('commands', kind, action);
      const { send, uds, confirm } = readParts(input, at, buses, fed, findings);
      if (confirm === undefined || !findings.sound(at)) continue;
      const requires = input.requires?.flatMap((entry, index) =>
        readRequirement(entry, `${at}/requires/${index}`, fed, findings),
      );
      const within = input.within === undefined ? profileDefaults.within : readDuration(input.within);
      if (send !== undefined && send.for > within) {
        const message = 'frames would still be sent when the time to confirm is over';
        findings.error(`${at}/send/for`, message, 'make `within` longer');
      }
      const frames = remoteActions.get(`${kind}.${action}`)?.framesOnly;
      if (uds !== undefined && frames !== undefined) findings.error(`${at}/uds`, frames, 'write `send`');
      if (uds !== undefined && uds.hold > within) {
        const message = 'control would still be held when the time to confirm is over';
        findings.error(`${at}/uds/hold`, message, 'make `within` longer');
      }
      const rule = { confirm, within, ...defined({ requires }), line: findings.line(at) };
      if (send !== undefined) commands[`${kind}.${action}`] = { send, ...rule };
      if (uds !== undefined) commands[`${kind}.${action}`] = { uds, ...rule };
    }
  }
  return commands;
}

/** Reads and checks every part of a command, even if other parts contain faults. */
function readParts(input: CommandInput, at: string, buses: BusNames, fed: Fed, findings: Findings) {
  const written: Partial<CommandInput> | null = input;
  if (findings.sound(at) && (written?.send === undefined) === (written?.uds === undefined)) {
    findings.error(at, 'exactly one of `send` and `uds` is required', 'add send or uds');
  }
  const send = findings.sound(`${at}/send`) ? written?.send : undefined;
  const uds = findings.sound(`${at}/uds`) ? written?.uds : undefined;
  const confirm = findings.sound(`${at}/confirm`) ? written?.confirm : undefined;
  return {
    send: send === undefined ? undefined : readSend(send, `${at}/send`, buses, findings),
    uds: uds === undefined ? undefined : readUds(uds, `${at}/uds`, buses, findings),
    confirm: confirm === undefined ? undefined : readConfirm(confirm, `${at}/confirm`, fed, findings),
  };
}

function readSend(input: SendInput, at: string, buses: BusNames, findings: Findings): WrittenSend {
  const { message, signals, counter, checksum } = input;
  if (input.for === undefined && input.every !== undefined) {
    findings.error(`${at}/every`, '`every` without `for`', 'add how long the frame is repeated, e.g. for: 500ms');
  }
  if (input.for !== undefined && input.every === undefined) {
    findings.error(`${at}/for`, '`for` without `every`', 'add the time between frames, e.g. every: 50ms');
  }
  const every = input.every === undefined ? profileDefaults.every : readDuration(input.every);
  const repeated = input.for === undefined ? profileDefaults.for : readDuration(input.for);
  if (input.for !== undefined && repeated < every) {
    findings.error(`${at}/for`, 'repetition ends before the second frame', 'make `for` longer than `every`');
  }
  if (counter !== undefined && Object.hasOwn(signals, counter)) {
    findings.error(
      at + pointer('signals', counter),
      `${quoted(counter)} is the counter and set by the agent`,
      'remove it',
    );
  }
  if (checksum !== undefined) checkChecksum(checksum, input, at, findings);
  return {
    bus: buses.resolve(input.bus, at, findings) ?? '',
    message,
    signals,
    every,
    for: repeated,
    ...defined({ counter, checksum }),
    line: findings.line(`${at}/message`),
  };
}

/** Checks a checksum. AUTOSAR E2E (document 849): profiles 1 and 2 protect data ID, counter and data together. */
function checkChecksum(checksum: ChecksumInput, send: SendInput, at: string, findings: Findings): void {
  const { signal, method, dataId } = checksum;
  const place = `${at}/checksum`;
  if (Object.hasOwn(send.signals, signal)) {
    findings.error(
      at + pointer('signals', signal),
      `${quoted(signal)} is the checksum and set by the agent`,
      'remove it',
    );
  }
  if (signal === send.counter) findings.error(`${place}/signal`, 'counter and checksum are the same signal');
  if (!method.startsWith('autosar')) {
    if (dataId !== undefined) findings.error(`${place}/dataId`, `${method} has no data ID`, 'remove dataId');
    return;
  }
  if (dataId === undefined) findings.error(place, `${method} needs the data ID of the message`, 'add dataId');
  if (send.counter === undefined) findings.error(place, `${method} needs a counter`, 'add counter: and its signal');
  if (method === 'autosar-p1' && Array.isArray(dataId)) {
    findings.error(`${place}/dataId`, 'autosar-p1 has one data ID of 16 bits', 'write one number');
  }
  if (method === 'autosar-p2' && typeof dataId === 'number' && dataId > 0xff) {
    findings.error(`${place}/dataId`, 'data IDs of autosar-p2 have 8 bits', 'write a number up to 255 or a list of 16');
  }
}

function readConfirm(input: ConfirmInput, at: string, fed: Fed, findings: Findings): Confirmation {
  const { path, equals, includes } = input;
  const slot = channelByPath.get(path) ?? slotAt(path, `${at}/path`, findings);
  if ((equals === undefined) === (includes === undefined)) {
    findings.error(at, 'exactly one of `equals` and `includes` is required');
  } else if (slot !== undefined) {
    checkConfirm(slot, input, at, fed, findings);
  }
  return { path, ...defined({ equals, includes }) };
}

/** Reports a condition that can never hold: it would refuse every command. */
function readRequirement(input: RequirementInput, at: string, fed: Fed, findings: Findings): Requirement[] {
  const read = readCondition(input, at, fed.paths, 'the command would always be refused', findings);
  return read === undefined ? [] : [read];
}

function checkConfirm(slot: Leaf, input: ConfirmInput, at: string, fed: Fed, findings: Findings): void {
  const { path, equals, includes } = input;
  if (slot.kind === 'set' && includes === undefined) {
    findings.error(`${at}/equals`, `${path} is a set of names`, `write includes: ${slot.values?.[0]}`);
    return;
  }
  if (slot.kind !== 'set' && includes !== undefined) {
    findings.error(`${at}/includes`, `${path} is not a set of names`, 'write equals:');
    return;
  }
  const place = includes === undefined ? `${at}/equals` : `${at}/includes`;
  const fault = misfit(slot, includes === undefined ? (equals as FixedValue) : [includes]);
  if (fault !== undefined) {
    findings.error(place, fault.message, fault.fix);
    return;
  }
  const [section = ''] = channelByPath.has(path) ? path.split('.') : ['status'];
  if (!fed.paths.has(path) && !fed.channels.has(path)) {
    findings.error(
      `${at}/path`,
      `nothing under ${section} gives ${path} a value: the command could never succeed`,
      `add it to ${section}`,
    );
    return;
  }
  const feeding = fed.sources.filter((source) => source.path === path);
  if (feeding.length === 0 || feeding.some((source) => source.map === undefined)) return;
  const wanted = includes ?? equals;
  const given = feeding.flatMap((source) => Object.values(source.map ?? {}).flat());
  if (!given.includes(wanted as string)) {
    findings.error(
      place,
      `no map under ${section} ever gives ${path} ${quoted(String(wanted))}: the command could never succeed`,
      'add it to a map',
    );
  }
}
