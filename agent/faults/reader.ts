/** Interface to read the fault codes of a car. */
import type { FaultStatus, FreezeFrameValue } from '../../protocol/schema/fault.ts';

/** Report of one control unit. */
export interface UnitFaults {
  /** Identifier of its answers, such as `7E8`. */
  readonly unit: string;
  /** Codes by list. A list that the control unit did not send in this reading is omitted. */
  readonly lists: Readonly<Partial<Record<FaultStatus, readonly string[]>>>;
  /** True if the unit commands the emission lamp (SAE J1979 §6.1, PID 01). Omitted if the unit did not report it. */
  readonly lamp?: boolean;
  /** Freeze frame 0 and the code that caused it. Omitted if the unit has none, or the code was known. */
  readonly freezeFrame?: { readonly code: string; readonly values: readonly FreezeFrameValue[] };
  /** Set if the unit was read over UDS: its codes have a failure type, and codes without one are not reported. */
  readonly uds?: {
    readonly name?: string;
    /** Details by code; omitted for codes that were known. */
    readonly details: ReadonlyMap<string, FaultDetails>;
  };
}

/** Data that a control unit has stored with a code (ISO 14229-1, 19 04 and 19 06). */
export interface FaultDetails {
  readonly freezeFrame: readonly FreezeFrameValue[];
  /** Hexadecimal; may contain the position of the car. */
  readonly snapshot?: string;
  readonly extendedData?: string;
}

/** Reads fault codes; it never clears them. */
export interface UnitFaultReader {
  /**
   * Polls all control units. Reads the data stored with a code only for codes that are not `known`.
   * @returns units in the order of their identifiers; empty if no unit answers
   * @throws VigieError `input.unreadable` if the car cannot be polled now
   */
  read(known: (unit: string, code: string) => boolean): Promise<readonly UnitFaults[]>;
}

export interface FaultReader extends UnitFaultReader {
  /** Calls `found` whenever control units are found, for example when the ignition is switched on. */
  onUnitsFound(found: () => void): void;
}
