/** Profile commands that are sent as diagnostic requests (ISO 14229-1). */
import { defined } from '../protocol/defined.ts';
import type { ControlUnit, Uds } from '../protocol/profile.ts';
import type { BusNames } from './buses.ts';
import { type Findings, pointer } from './findings.ts';
import { readDuration } from './quantities.ts';
import type { ControlUnitInput, UdsInput } from './uds-schema.ts';

/** UDS service, with its line in the profile. */
export type WrittenUds = Uds & { readonly line: number };

const LONGEST_11 = 0x7ff;

/** Default status mask: testFailed, pendingDTC and confirmedDTC (ISO 14229-1:2020 Annex D.2). */
const ACTIVE = 0x0d;

/** Default session: extendedDiagnosticSession, which controls outputs in most cars. */
const EXTENDED_SESSION = 0x03;

/** Returns true for the identifiers of requests to all control units (ISO 15765-4 §6.3.2). */
function isFunctional(request: number): boolean {
  return request === 0x7df || (request & 0x1fff_ff00) === 0x18db_3300;
}

/** Reads a UDS command. Returns undefined if it has faults. */
export function readUds(input: UdsInput, at: string, buses: BusNames, findings: Findings): WrittenUds | undefined {
  const { hold, release = true, security } = input;
  if (hold === undefined && input.io !== undefined) {
    findings.error(at, 'the agent would return control at once', 'add hold: and a time, such as 2s');
  }
  if (hold === undefined && input.release !== undefined) {
    findings.error(`${at}/release`, '`release` without `hold`', 'add how long the routine may run');
  }
  const bus = readBus(input, at, buses, findings);
  const address = readAddress(input, at, findings);
  const session = readSession(input.session, at, findings);
  if (security !== undefined && security.level % 2 === 0) {
    findings.error(`${at}/security/level`, 'requests for a seed have odd numbers', `write ${security.level + 1}`);
  }
  const service = readService(input, at, findings);
  if (service === undefined || bus === undefined || !findings.sound(at)) return undefined;
  return {
    bus,
    address,
    session,
    ...defined({ security }),
    service,
    hold: hold === undefined ? 0 : readDuration(hold),
    // A routine without `hold` runs until it ends by itself.
    release: release && hold !== undefined,
    line: findings.line(at),
  };
}

/** Reads `controlUnits`. Reports and omits entries with faults. */
export function readControlUnits(
  listed: readonly ControlUnitInput[],
  buses: BusNames,
  findings: Findings,
): ControlUnit[] {
  const units: ControlUnit[] = [];
  for (const [index, input] of listed.entries()) {
    const at = pointer('controlUnits', index);
    if (!findings.sound(at)) continue;
    const bus = readBus(input, at, buses, findings);
    const address = readAddress(input, at, findings);
    const { name, statusMask = ACTIVE } = input;
    const { request, response, target, source } = address;
    const isSame = (unit: ControlUnit): boolean =>
      unit.bus === bus &&
      unit.address.request === request &&
      unit.address.response === response &&
      unit.address.target === target &&
      unit.address.source === source;
    if (units.some(isSame)) findings.error(at, 'this control unit is listed already', 'remove one of them');
    if (bus === undefined || !findings.sound(at)) continue;
    units.push({ ...defined({ name }), bus, address, statusMask });
  }
  return units;
}

/** Returns the bus of a control unit: its own bus in the profile, or the bus for diagnostic requests. */
function readBus(
  input: ControlUnitInput | UdsInput,
  at: string,
  buses: BusNames,
  findings: Findings,
): string | undefined {
  const bus = buses.resolve(input.bus, at, findings, 'OBD');
  const kind = buses.buses.find(({ name }) => name === bus)?.kind;
  if (kind === 'gnss') findings.error(`${at}/bus`, 'a receiver is not a control unit', 'write a bus of the car');
  if (kind === 'values')
    findings.error(`${at}/bus`, 'a table of values does not accept requests', 'write a bus of the car');
  return bus;
}

function readAddress(input: ControlUnitInput | UdsInput, at: string, findings: Findings): Uds['address'] {
  const { request, response, flowControl, target, source } = input;
  const extended = request > LONGEST_11;
  if (isFunctional(request)) {
    const fix = 'write the address of the one that is meant, such as 0x7E0';
    findings.error(`${at}/request`, 'this is the address of all control units', fix);
  }
  for (const [member, id] of Object.entries({ response, flowControl })) {
    if (id === undefined || id > LONGEST_11 === extended) continue;
    findings.error(`${at}/${member}`, `request and ${member} do not both have ${extended ? 29 : 11} bits`);
  }
  if (source !== undefined && target === undefined) {
    findings.error(`${at}/source`, '`source` without `target`', 'add the target of the request');
  }
  return {
    request,
    extended,
    ...defined({ response, flowControl, target, source }),
  };
}

/**
 * Reads and checks a session. ISO 14229-1:2020 §10.2: 40 to 5F are specific to vehicle manufacturers, 60 to 7E to
 * system suppliers.
 */
function readSession(session = EXTENDED_SESSION, at: string, findings: Findings): number {
  if (session >= 0x40 || session === 0x03 || session === 0x04) return session;
  const why: Readonly<Record<number, string>> = {
    1: 'the default session has no end that would return control after a power cut',
    2: 'in the programming session a control unit does not do its work',
  };
  const message = why[session] ?? `there is no session ${session}`;
  findings.error(`${at}/session`, message, 'write 0x03, 0x04 or 0x40 to 0x7E');
  return session;
}

function readService({ io, routine }: UdsInput, at: string, findings: Findings): Uds['service'] | undefined {
  if ((io === undefined) === (routine === undefined)) {
    findings.error(at, 'exactly one of `io` and `routine` is required');
    return undefined;
  }
  if (routine !== undefined) {
    const { identifier, option = '', results } = routine;
    return { kind: 'routine', identifier, option, ...defined({ results }) };
  }
  const { identifier, control, state = '' } = io as NonNullable<UdsInput['io']>;
  const adjusts = control === 'shortTermAdjustment';
  if (adjusts && state === '')
    findings.error(`${at}/io`, 'the value of the adjustment is missing', 'add state: and its bytes');
  if (!adjusts && state !== '') findings.error(`${at}/io/state`, `${control} has no state`, 'remove it');
  return { kind: 'io', identifier, control, state };
}
