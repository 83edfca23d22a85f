/**
 * Reads fault codes of the control units that the profile lists, with ReadDTCInformation (ISO 14229-1:2020 §12.3),
 * which only reads.
 */

import type { FaultDetails, UnitFaultReader, UnitFaults } from '../../../agent/faults/reader.ts';
import type { Clock, Log } from '../../../agent/ports.ts';
import { defined } from '../../../protocol/defined.ts';
import { VigieError } from '../../../protocol/errors.ts';
import { hexByte } from '../../../protocol/hex.ts';
import type { ControlUnit } from '../../../protocol/profile.ts';
import { type FaultStatus, type FreezeFrameValue, MOST_FAULT_BYTES } from '../../../protocol/schema/fault.ts';
import { unitName } from '../addressing.ts';
import { addFrozenValues, type FrozenSignal, frozenSignals } from '../frozen-signals.ts';
import { hexOf } from '../hex.ts';
import { usualAnswer } from '../isotp/route.ts';
import { parameterLength } from '../j1979/lengths.ts';
import type { SignalSet } from '../signal-set.ts';
import {
  readUdsTroubleCodes,
  type TroubleCodeStatus,
  type UdsTroubleCode,
  udsTroubleCodeBytes,
} from '../trouble-codes.ts';
import { UdsClient, type UdsRequester } from './client.ts';
import { Refused } from './failures.ts';

const READ_DTC_INFORMATION = 0x19;
/** Sub-functions of ReadDTCInformation: codes by status, and the snapshots and extended data of one code. */
const BY_STATUS_MASK = 0x02;
const SNAPSHOT = 0x04;
const EXTENDED_DATA = 0x06;
/** Number that requests all records of a code. */
const ALL_RECORDS = 0xff;
const CODE_BYTES = 3;
/** Bytes before the records: service, sub-function, code and status. */
const BEFORE_RECORDS = 6;
const OUT_OF_RANGE = 0x31;
/** Attempts per request: one repetition after a lost answer. */
const ATTEMPTS = 2;

/** High byte of data identifiers of parameters of SAE J1979: F400 plus the parameter (ISO 14229-1:2020 Table C.1). */
const PARAMETERS = 0xf4;

const STATUSES: Readonly<Record<TroubleCodeStatus, FaultStatus>> = {
  testFailed: 'TestFailed',
  testFailedThisOperationCycle: 'TestFailedThisCycle',
  pendingDTC: 'Pending',
  confirmedDTC: 'Stored',
  testNotCompletedSinceLastClear: 'TestNotCompletedSinceClear',
  testFailedSinceLastClear: 'TestFailedSinceClear',
  testNotCompletedThisOperationCycle: 'TestNotCompletedThisCycle',
  warningIndicatorRequested: 'WarningIndicator',
};

export interface UdsFaultReaderOptions {
  readonly units: readonly (ControlUnit & { readonly requester: UdsRequester })[];
  /** Signal sets that name and scale the values of snapshots; later sets take precedence. */
  readonly sets: readonly SignalSet[];
  readonly clock: Clock;
  readonly log: Log;
}

type Unit = UdsFaultReaderOptions['units'][number];

/** Reads fault codes in the default session, where control units return them without unlocking. */
export class UdsFaultReader implements UnitFaultReader {
  readonly #options: UdsFaultReaderOptions;
  readonly #signals: ReadonlyMap<number, readonly FrozenSignal[]>;
  /** Control units whose last read failed and was logged. */
  readonly #silent = new Set<string>();

  constructor(options: UdsFaultReaderOptions) {
    this.#options = options;
    this.#signals = frozenSignals(options.sets);
  }

  async read(known: (unit: string, code: string) => boolean): Promise<readonly UnitFaults[]> {
    const found: UnitFaults[] = [];
    for (const unit of this.#options.units) {
      const name = answersOf(unit);
      try {
        found.push(await this.#readUnit(unit, name, known));
        this.#silent.delete(name);
      } catch (error) {
        if (!(error instanceof VigieError)) throw error;
        if (!this.#silent.has(name)) this.#options.log.info('faults.unitUnread', { unit: name, why: error.message });
        this.#silent.add(name);
      }
    }
    return found.sort((a, b) => (a.unit < b.unit ? -1 : 1));
  }

  async #readUnit(unit: Unit, name: string, known: (unit: string, code: string) => boolean): Promise<UnitFaults> {
    const client = new UdsClient(unit.requester, unit.address, this.#options.clock, false);
    const payload = Uint8Array.of(READ_DTC_INFORMATION, BY_STATUS_MASK, unit.statusMask);
    const { codes } = readUdsTroubleCodes(
      await client.ask({ payload, echoed: 1 }, { attempts: ATTEMPTS, until: NEVER }),
    );
    const lists = Object.fromEntries(
      Object.entries(STATUSES).map(([bit, list]) => [
        list,
        codes.filter(({ status }) => status.includes(bit as TroubleCodeStatus)).map(({ code }) => code),
      ]),
    );
    const appeared = codes.filter(({ code }) => !known(name, code));
    const details = await this.#details(client, name, appeared);
    return { unit: name, lists, uds: { ...defined({ name: unit.name }), details } };
  }

  async #details(
    client: UdsClient,
    unit: string,
    codes: readonly UdsTroubleCode[],
  ): Promise<ReadonlyMap<string, FaultDetails>> {
    const found = new Map<string, FaultDetails>();
    /**
     * Sub-functions that the control unit does not support or did not answer; they are not requested for further codes.
     */
    const missing = new Set<number>();
    const records = async (sub: number, code: UdsTroubleCode): Promise<Uint8Array> => {
      if (missing.has(sub)) return NOTHING;
      const payload = Uint8Array.of(READ_DTC_INFORMATION, sub, ...udsTroubleCodeBytes(code), ALL_RECORDS);
      try {
        return (await client.ask({ payload, echoed: CODE_BYTES + 1 })).subarray(BEFORE_RECORDS);
      } catch (error) {
        if (!(error instanceof VigieError)) throw error;
        if (!(error instanceof Refused && error.response === OUT_OF_RANGE)) missing.add(sub);
        return NOTHING;
      }
    };
    for (const code of codes) {
      const snapshot = await records(SNAPSHOT, code);
      const extendedData = await records(EXTENDED_DATA, code);
      found.set(code.code, {
        freezeFrame: this.#values(snapshot),
        ...this.#bounded('snapshot', snapshot, unit, code),
        ...this.#bounded('extendedData', extendedData, unit, code),
      });
    }
    return found;
  }

  #bounded<K extends string>(
    member: K,
    bytes: Uint8Array,
    unit: string,
    { code }: UdsTroubleCode,
  ): { [M in K]?: string } {
    if (bytes.length === 0) return {};
    if (bytes.length <= MOST_FAULT_BYTES) return { [member]: hexOf(bytes) } as { [M in K]: string };
    const error = `${member} of ${code} has ${bytes.length} bytes; records have at most ${MOST_FAULT_BYTES}`;
    this.#options.log.warn('obd.faults.unreadable', { unit, error });
    return {};
  }

  /**
   * Decodes the first snapshot record: number, count of identifiers, then each two-byte identifier and its data. The
   * standard defines the data length only for parameters of SAE J1979: reading stops at the first other identifier.
   */
  #values(snapshot: Uint8Array): FreezeFrameValue[] {
    const values: FreezeFrameValue[] = [];
    let at = 2;
    for (let left = snapshot[1] ?? 0; left > 0; left--) {
      const parameter = snapshot[at + 1] ?? 0;
      const length = snapshot[at] === PARAMETERS ? parameterLength(parameter) : undefined;
      if (length === undefined || at + 2 + length > snapshot.length) break;
      addFrozenValues(values, this.#signals.get(parameter) ?? [], snapshot.subarray(at + 2, at + 2 + length));
      at += 2 + length;
    }
    return values;
  }
}

const NEVER = Number.POSITIVE_INFINITY;
const NOTHING = new Uint8Array(0);

/** Names a control unit by the identifier of its answers, plus the address if several units share the identifier. */
function answersOf({ address }: ControlUnit): string {
  const { request, extended, response = usualAnswer(request, extended), target, source = target } = address;
  return source === undefined ? unitName(response) : `${unitName(response)}-${hexByte(source)}`;
}
