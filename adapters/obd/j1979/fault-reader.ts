/** Reads fault codes of all control units with services of SAE J1979 that only read: 01, 02, 03, 07 and 0A. */

import type { UnitFaultReader, UnitFaults } from '../../../agent/faults/reader.ts';
import type { Log } from '../../../agent/ports.ts';
import { VigieError } from '../../../protocol/errors.ts';
import { hexByte } from '../../../protocol/hex.ts';
import type { FaultStatus, FreezeFrameValue } from '../../../protocol/schema/fault.ts';
import { unitName } from '../addressing.ts';
import { addFrozenValues, CAUSE, type FrozenSignal, frozenSignals } from '../frozen-signals.ts';
import type { DiagnosticAddress, DiagnosticAnswer, DiagnosticRequester } from '../requester.ts';
import type { SignalSet } from '../signal-set.ts';
import { readTroubleCodes, troubleCode } from '../trouble-codes.ts';
import { readMonitorStatus } from './diagnosis.ts';
import { discoverUnits, functionalAddress } from './discovery.ts';

const LISTS: readonly (readonly [service: number, list: FaultStatus])[] = [
  [0x03, 'Stored'],
  [0x07, 'Pending'],
  [0x0a, 'Permanent'],
];

const FREEZE_FRAME = 0x02;
/** The only frame number that every control unit with a freeze frame supports (SAE J1979 §6.2.2). */
const FIRST_FRAME = 0x00;

export interface FaultReaderOptions {
  readonly requester: DiagnosticRequester;
  /** Signal sets that name and scale the values of freeze frames; later sets take precedence. */
  readonly sets: readonly SignalSet[];
  readonly log: Log;
}

/** Facts about a unit during reading. */
interface Draft {
  readonly lists: Partial<Record<FaultStatus, string[]>>;
  lamp?: boolean;
  freezeFrame?: NonNullable<UnitFaults['freezeFrame']>;
}

export class J1979FaultReader implements UnitFaultReader {
  readonly #requester: DiagnosticRequester;
  readonly #log: Log;
  readonly #signals: ReadonlyMap<number, readonly FrozenSignal[]>;
  /** True if the car last answered with 29-bit identifiers. */
  #extended = false;

  constructor({ requester, sets, log }: FaultReaderOptions) {
    this.#requester = requester;
    this.#log = log;
    this.#signals = frozenSignals(sets);
  }

  async read(known: (unit: string, code: string) => boolean): Promise<readonly UnitFaults[]> {
    const drafts = new Map<number, Draft>();
    const draftOf = (id: number): Draft => {
      const draft = drafts.get(id) ?? { lists: {} };
      drafts.set(id, draft);
      return draft;
    };
    for (const { unit, lamp } of await this.#lamps()) draftOf(unit).lamp = lamp;
    if (drafts.size === 0) return [];
    for (const [service, list] of LISTS) {
      for (const { id, payload } of await this.#ask(functionalAddress(this.#extended), [service])) {
        const codes = this.#codesOf(id, payload);
        if (codes === undefined) continue;
        // The buses before CAN send three codes per message, in as many messages as needed.
        const { lists } = draftOf(id);
        lists[list] = [...new Set([...(lists[list] ?? []), ...codes])];
      }
    }
    await this.#addFreezeFrames(drafts, known);
    return [...drafts].sort(([a], [b]) => a - b).map(([id, draft]) => ({ unit: unitName(id), ...draft }));
  }

  /**
   * Reads the monitor status with identifiers of the previous length, 11 or 29 bits; without an answer, of the other.
   */
  async #lamps(): ReturnType<typeof readMonitorStatus> {
    const before = this.#extended;
    for (const extended of [before, !before]) {
      this.#extended = extended;
      const found = await readMonitorStatus(this.#requester, extended);
      if (found.length > 0) return found;
    }
    this.#extended = before;
    return [];
  }

  async #addFreezeFrames(drafts: Map<number, Draft>, known: (unit: string, code: string) => boolean): Promise<void> {
    const isNew = (id: number, code: string): boolean => !known(unitName(id), code);
    const codesOf = ({ lists }: Draft): string[] => Object.values(lists).flat();
    if (![...drafts].some(([id, draft]) => codesOf(draft).some((code) => isNew(id, code)))) return;
    const causes = await this.#ask(functionalAddress(this.#extended), [FREEZE_FRAME, CAUSE, FIRST_FRAME]);
    const frozen = causes.flatMap(({ id, payload }) => {
      const [, parameter, frame, high = 0, low = 0] = payload;
      // 0000: the control unit has stored no freeze frame.
      if (parameter !== CAUSE || frame !== FIRST_FRAME || (high === 0 && low === 0)) return [];
      const { code } = troubleCode(high, low);
      const draft = drafts.get(id);
      return draft !== undefined && codesOf(draft).includes(code) && isNew(id, code) ? [{ id, code, draft }] : [];
    });
    if (frozen.length === 0) return;
    const units = await discoverUnits(this.#requester, FREEZE_FRAME);
    for (const { id, code, draft } of frozen) {
      const unit = units.find((one) => one.id === id);
      if (unit === undefined) continue;
      // The buses before CAN (three header bytes) allow only requests to all units.
      const isOlder = !this.#extended && id > 0x7ff;
      const address = isOlder ? functionalAddress(false) : unit.address;
      draft.freezeFrame = { code, values: await this.#frozenValues(id, address, unit.parameters) };
    }
  }

  async #frozenValues(
    id: number,
    address: DiagnosticAddress,
    parameters: ReadonlySet<number>,
  ): Promise<FreezeFrameValue[]> {
    const values: FreezeFrameValue[] = [];
    for (const parameter of parameters) {
      const signals = this.#signals.get(parameter);
      if (signals === undefined) continue;
      const answers = await this.#ask(address, [FREEZE_FRAME, parameter, FIRST_FRAME]);
      const answer = answers.find(({ id: from, payload }) => from === id && payload[1] === parameter);
      if (answer === undefined) continue;
      addFrozenValues(values, signals, answer.payload.subarray(3));
    }
    return values;
  }

  /**
   * Returns positive answers. A malformed answer fails only this request.
   * @throws VigieError if requests are impossible now
   */
  async #ask(address: DiagnosticAddress, bytes: readonly number[]): Promise<readonly DiagnosticAnswer[]> {
    const payload = Uint8Array.from(bytes);
    try {
      const answers = await this.#requester.request({ address, payload });
      return answers.filter((answer) => answer.payload[0] === (bytes[0] as number) + 0x40);
    } catch (error) {
      if (!(error instanceof VigieError) || error.code !== 'input.malformed') throw error;
      this.#log.warn('obd.faults.unreadable', { request: bytes.map(hexByte).join(''), error: error.message });
      return [];
    }
  }

  #codesOf(id: number, payload: Uint8Array): readonly string[] | undefined {
    try {
      return readTroubleCodes(payload).codes.map(({ code }) => code);
    } catch (error) {
      if (!(error instanceof VigieError)) throw error;
      this.#log.warn('obd.faults.unreadable', { unit: unitName(id), error: error.message });
      return undefined;
    }
  }
}
