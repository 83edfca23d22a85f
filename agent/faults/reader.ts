/** How the agent asks a car for its fault codes. */
import type { FaultStatus, FreezeFrameValue } from '../../protocol/schema/fault.ts';

/** Report of one control unit. */
export interface UnitFaults {
  /** Identifier of its answers, such as `7E8`. */
  readonly unit: string;
  /** Codes by list; a list that the control unit did not give in this reading is absent. */
  readonly lists: Readonly<Partial<Record<FaultStatus, readonly string[]>>>;
  /** The unit commands the emission lamp (SAE J1979 §6.1, PID 01); absent: it did not say. */
  readonly lamp?: boolean;
  /** Freeze frame 0 and the code that caused it; absent: the unit has none, or the code was known. */
  readonly freezeFrame?: { readonly code: string; readonly values: readonly FreezeFrameValue[] };
  /** Read by UDS: its codes have a failure type, and nothing is said of codes without one. */
  readonly uds?: {
    readonly name?: string;
    /** By code; of codes that were known there are none. */
    readonly details: ReadonlyMap<string, FaultDetails>;
  };
}

/** Data that a control unit has stored with a code (ISO 14229-1, 19 04 and 19 06). */
export interface FaultDetails {
  readonly freezeFrame: readonly FreezeFrameValue[];
  /** Hexadecimal; they may say where the car was. */
  readonly snapshot?: string;
  readonly extendedData?: string;
}

/** Reads fault codes; it never clears them. */
export interface UnitFaultReader {
  /**
   * Asks all control units. What they stored with a code is read only of codes that are not `known`.
   * @returns units in the order of their identifiers; empty when no unit answers
   * @throws VigieError `input.unreadable` when there is no way to ask now
   */
  read(known: (unit: string, code: string) => boolean): Promise<readonly UnitFaults[]>;
}

export interface FaultReader extends UnitFaultReader {
  /** Calls `found` whenever control units are found, as when the ignition comes on. */
  onUnitsFound(found: () => void): void;
}
