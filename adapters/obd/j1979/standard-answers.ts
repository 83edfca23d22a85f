/** Facts about the car from answers of the standard services, without signal sets: its VIN and its fault codes. */
import { defined } from '../../../protocol/defined.ts';
import { VigieError } from '../../../protocol/errors.ts';
import { commandName } from '../addressing.ts';
import { bytesOf, hexOf } from '../hex.ts';
import { answersRequest } from '../isotp/matching.ts';
import type { ObdMessage } from '../response.ts';
import { readTroubleCodes, readUdsTroubleCodes, type TroubleCode } from '../trouble-codes.ts';
import { vehicleIdentificationNumber, vinOfDataIdentifier } from '../vehicle-information.ts';
import { troubleCodeName } from './trouble-code-names.ts';

/** A fault code of one control unit. */
export interface Fault extends TroubleCode {
  /**
   * For services 03, 07 and 0A the kind of storage: `confirmed`, `pending` or `permanent`; for service 19 the names of
   * the status bits (ISO 14229-1 Annex D.2).
   */
  readonly status: readonly string[];
  /** Meaning, for known codes of the standard. */
  readonly name?: string;
  /** Header of the control unit's answers, e.g. `7E8`; undefined if the adapter prints no headers. */
  readonly unit?: string;
}

export interface StandardAnswers {
  /** Vehicle identification number. */
  readonly vin?: string;
  /** VINs of other control units that differ from `vin`. */
  readonly otherVins?: readonly string[];
  /** Empty if the control units that answered have no codes. */
  readonly faults?: readonly Fault[];
}

/**
 * Reads answers to 09 02 and 22 F190 (VIN) and to 03, 07, 0A and 19 02 (fault codes); ignores all others. With a
 * `command` (`0902`, `7E0.22F190`), reads only answers to that command.
 * @throws VigieError `input.malformed` if there are such answers but all are unreadable
 */
export function readStandardAnswers(messages: readonly ObdMessage[], command?: string): StandardAnswers {
  const request = command === undefined ? undefined : bytesOf(commandName(command)?.request ?? '');
  const wanted = messages.filter(({ data }) => request === undefined || isAnswer(request, data));
  const vins = new Set<string>();
  const faults = new Map<string, Fault>();
  let listed = false;
  let fault: VigieError | undefined;
  for (const [header, payloads] of byUnit(wanted)) {
    for (const read of [() => vinOf(payloads), () => faultsOf(header, payloads)]) {
      try {
        const found = read();
        if (typeof found === 'string') vins.add(found);
        else if (found !== undefined) {
          listed = true;
          for (const one of found) faults.set(`${header} ${one.code} ${one.status}`, one);
        }
      } catch (error) {
        if (!(error instanceof VigieError)) throw error;
        fault ??= error;
      }
    }
  }
  if (fault !== undefined && vins.size === 0 && !listed) throw fault;
  const [vin, ...otherVins] = vins;
  return {
    ...defined({ vin }),
    ...(otherVins.length === 0 ? {} : { otherVins }),
    ...(listed ? { faults: [...faults.values()] } : {}),
  };
}

/** Returns true if the data answers the request. An empty (unparsable) request has no answers. */
function isAnswer(request: Uint8Array, data: Uint8Array): boolean {
  return request.length > 0 && answersRequest(request, data);
}

/** Groups answers by header; duplicates count once. */
function byUnit(messages: readonly ObdMessage[]): Map<string, readonly Uint8Array[]> {
  const units = new Map<string, Map<string, Uint8Array>>();
  for (const { header, data } of messages) {
    const unit = units.get(header) ?? new Map<string, Uint8Array>();
    units.set(header, unit);
    unit.set(hexOf(data), data);
  }
  return new Map([...units].map(([header, payloads]) => [header, [...payloads.values()]]));
}

function vinOf(payloads: readonly Uint8Array[]): string | undefined {
  const byService = payloads.filter(([service, infoType]) => service === 0x49 && infoType === 0x02);
  if (byService.length > 0) return vehicleIdentificationNumber(byService);
  const byIdentifier = payloads.find((data) => data[0] === 0x62 && data[1] === 0xf1 && data[2] === 0x90);
  return byIdentifier === undefined ? undefined : vinOfDataIdentifier(byIdentifier);
}

function faultsOf(unit: string, payloads: readonly Uint8Array[]): Fault[] | undefined {
  let faults: Fault[] | undefined;
  for (const data of payloads) {
    const codes = codesOf(data);
    if (codes === undefined) continue;
    faults ??= [];
    for (const code of codes) {
      const name = troubleCodeName(code.code);
      faults.push({ ...code, ...defined({ name }), ...(unit === '' ? {} : { unit }) });
    }
  }
  return faults;
}

/** Services 03, 07 and 0A, plus 0x40. */
const STORED: ReadonlySet<number> = new Set([0x43, 0x47, 0x4a]);

function codesOf(data: Uint8Array): readonly (TroubleCode & { readonly status: readonly string[] })[] | undefined {
  const [service = 0, report] = data;
  if (STORED.has(service)) {
    const { store, codes } = readTroubleCodes(data);
    return codes.map((code) => ({ ...code, status: [store] }));
  }
  return service === 0x59 && report === 0x02 ? readUdsTroubleCodes(data).codes : undefined;
}
