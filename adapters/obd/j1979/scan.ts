/** One complete scan of a car: its VIN, its control units, their values and fault codes. */

import { defined } from '../../../protocol/defined.ts';
import { VigieError } from '../../../protocol/errors.ts';
import { hexByte } from '../../../protocol/hex.ts';
import { unitName } from '../addressing.ts';
import type { ObdDecoder } from '../decoder.ts';
import { hexOf } from '../hex.ts';
import { NEGATIVE } from '../negative-response.ts';
import type { DiagnosticAddress, DiagnosticAnswer, DiagnosticRequester } from '../requester.ts';
import type { ObdValue } from '../signal-format.ts';
import { readMonitorStatus, readVehicleInformation } from './diagnosis.ts';
import { discoverUnits, functionalAddress, type ObdUnit } from './discovery.ts';
import { readStandardAnswers, type StandardAnswers } from './standard-answers.ts';

/** Findings, in this order: units, VIN, values, fault codes; unreadable items in between. */
export type Finding =
  | StandardAnswers
  | UnitFinding
  | { readonly unit: string; readonly command: string; readonly values: Readonly<Record<string, ObdValue>> }
  /** Data of a parameter that no signal set describes, in hexadecimal. */
  | { readonly unit: string; readonly command: string; readonly data: string }
  | { readonly problem: string };

/** A control unit; unknown fields are omitted. */
export interface UnitFinding {
  /** Header of its answers, e.g. `7E8`. */
  readonly unit: string;
  readonly vin?: string;
  readonly name?: string;
  readonly calibrations?: readonly string[];
  readonly verificationNumbers?: readonly string[];
  /** True if the malfunction indicator lamp is on. */
  readonly lamp?: boolean;
  /** Supported parameters of service 01. */
  readonly parameters: readonly string[];
}

/** testFailed, pendingDTC or confirmedDTC (ISO 14229-1 Annex D.2). */
const FAULTY = 0x0d;

/**
 * Scans a car once, with services that only read: 01, 03, 07, 09 and 0A of SAE J1979, 19 02 and 22 F190 of ISO 14229-1.
 * An unanswered request loses only that item.
 * @param decoder with signal sets that contain the parameters of service 01
 * @returns nothing if no control unit answers
 * @throws VigieError `input.unreadable` if requests are impossible
 */
export async function* scanCar(requester: DiagnosticRequester, decoder: ObdDecoder): AsyncGenerator<Finding> {
  const problems: Finding[] = [];
  const units = await discoverUnits(requester, 0x01, (list, error) => {
    problems.push(problem(`list ${hexByte(list)} of service 01`, error));
  });
  const extended = units[0]?.address.extended ?? false;
  if (units.length === 0) {
    yield* scanWithoutJ1979(requester);
    return;
  }
  const patient = withProblems(requester, problems);
  const information = await readVehicleInformation(patient, extended);
  const lamps = await readMonitorStatus(patient, extended);
  for (const { id, parameters } of units) {
    const { unit: _, ...known } = information.find(({ unit }) => unit === id) ?? { unit: id };
    const lamp = lamps.find(({ unit }) => unit === id)?.lamp;
    yield {
      unit: unitName(id),
      ...known,
      ...defined({ lamp }),
      parameters: [...parameters].map(hexByte),
    };
  }
  yield* problems;
  const vins = information.flatMap(({ vin }) => vin ?? []);
  if (vins.length > 0) yield numbers(vins);
  else yield* vinByIdentifier(requester, units);
  for (const unit of units) yield* valuesOf(requester, decoder, unit);
  yield* faultsOf(requester, units, extended);
}

/** Wraps the requester: failed requests return no answers, and their reasons are added to the problems. */
function withProblems(requester: DiagnosticRequester, problems: Finding[]): DiagnosticRequester {
  return {
    request: async (request) => {
      try {
        return await requester.request(request);
      } catch (error) {
        problems.push(problem(`service ${[...request.payload].map(hexByte).join(' ')}`, error));
        return [];
      }
    },
  };
}

/** Scans a car without the services of SAE J1979, which electric cars need not support: its VIN can still be read. */
async function* scanWithoutJ1979(requester: DiagnosticRequester): AsyncGenerator<Finding> {
  for (const extended of [false, true]) {
    const answers = await requester.request({ address: functionalAddress(extended), payload: VIN_BY_IDENTIFIER });
    if (answers.length === 0) continue;
    for (const id of new Set(answers.map((answer) => answer.id))) yield { unit: unitName(id), parameters: [] };
    yield* read(() => readStandardAnswers(messagesOf(answers)));
    yield { problem: 'no control unit answers service 01 of SAE J1979: it has no standard values' };
    return;
  }
}

const VIN_BY_IDENTIFIER = Uint8Array.of(0x22, 0xf1, 0x90);

function numbers(vins: readonly string[]): StandardAnswers {
  const [vin, ...otherVins] = new Set(vins);
  return { ...defined({ vin }), ...(otherVins.length === 0 ? {} : { otherVins }) };
}

async function* vinByIdentifier(requester: DiagnosticRequester, units: readonly ObdUnit[]): AsyncGenerator<Finding> {
  const vins: string[] = [];
  for (const unit of units) {
    try {
      const { vin } = readStandardAnswers(messagesOf(await askUnit(requester, unit, VIN_BY_IDENTIFIER)));
      if (vin !== undefined) vins.push(vin);
    } catch (error) {
      yield problem(`${unitName(unit.id)} ${hexOf(VIN_BY_IDENTIFIER)}`, error);
    }
  }
  yield vins.length > 0 ? numbers(vins) : { problem: 'no control unit gives a vehicle identification number' };
}

async function* valuesOf(requester: DiagnosticRequester, decoder: ObdDecoder, unit: ObdUnit): AsyncGenerator<Finding> {
  const name = unitName(unit.id);
  for (const parameter of unit.parameters) {
    const command = `01${hexByte(parameter)}`;
    let answers: readonly DiagnosticAnswer[];
    try {
      answers = await askUnit(requester, unit, Uint8Array.of(0x01, parameter));
    } catch (error) {
      yield problem(`${name} ${command}`, error);
      continue;
    }
    const answer = answers.find(({ payload }) => payload[0] === 0x41);
    if (answer === undefined) {
      yield { problem: `${name} ${command}: no answer, though the control unit lists it` };
      continue;
    }
    try {
      yield { unit: name, command, values: decoder.decodeAnswers(command, answers).values };
    } catch (error) {
      if (error instanceof VigieError && error.code === 'input.unknown') {
        yield { unit: name, command, data: hexOf(answer.payload.subarray(2)) };
      } else yield problem(`${name} ${command}`, error);
    }
  }
}

async function* faultsOf(
  requester: DiagnosticRequester,
  units: readonly ObdUnit[],
  extended: boolean,
): AsyncGenerator<Finding> {
  const faults: NonNullable<StandardAnswers['faults']>[number][] = [];
  const ask = async (who: string, request: () => Promise<readonly DiagnosticAnswer[]>): Promise<Finding[]> => {
    try {
      const found = readStandardAnswers(messagesOf(await request()));
      faults.push(...(found.faults ?? []));
      return [];
    } catch (error) {
      return [problem(who, error)];
    }
  };
  for (const service of [0x03, 0x07, 0x0a]) {
    const payload = Uint8Array.of(service);
    yield* await ask(`service ${hexByte(service)}`, () =>
      requester.request({ address: functionalAddress(extended), payload }),
    );
  }
  for (const unit of units) {
    if (isOlder(unit)) continue;
    yield* await ask(`${unitName(unit.id)} service 19`, () =>
      askUnit(requester, unit, Uint8Array.of(0x19, 0x02, FAULTY)),
    );
  }
  yield { faults };
}

/** Sends requests to one unit. The buses before CAN allow only requests to all units. */
async function askUnit(
  requester: DiagnosticRequester,
  unit: ObdUnit,
  payload: Uint8Array,
): Promise<readonly DiagnosticAnswer[]> {
  const address: DiagnosticAddress = isOlder(unit) ? functionalAddress(false) : unit.address;
  return (await requester.request({ address, payload })).filter(({ id }) => id === unit.id);
}

/** Returns true if the unit has three header bytes instead of an identifier. */
function isOlder({ id, address }: ObdUnit): boolean {
  return !address.extended && id > 0x7ff;
}

function messagesOf(answers: readonly DiagnosticAnswer[]): Parameters<typeof readStandardAnswers>[0] {
  return answers
    .filter(({ payload }) => payload[0] !== NEGATIVE)
    .map(({ id, payload }) => ({ header: unitName(id), address: undefined, data: payload, complete: true }));
}

function read(answers: () => StandardAnswers): Finding[] {
  try {
    return [answers()];
  } catch (error) {
    return [problem('the vehicle identification number', error)];
  }
}

function problem(what: string, error: unknown): { readonly problem: string } {
  if (error instanceof VigieError) return { problem: `${what}: ${error.message}` };
  throw error;
}
