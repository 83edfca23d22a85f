/** A vehicle profile with all checks done: config/ reads it, the agent and its adapters use it. */

import type { FailureCause } from './errors.ts';
import type { AlertRule, CollisionRule, TelemetryRule, TheftRule, TripRule, WaypointRule } from './recording.ts';
import type { SignalDefinition } from './schema/catalog.ts';

/** One source of a Status path or of a channel (protocol/channels.ts). Sources of the same path are listed in order of `priority`, 0 first. */
export interface SourceMapping {
  readonly path: string;
  readonly bus?: string;
  readonly message: string;
  readonly signal: string;
  /** value = physical signal × scale + offset */
  readonly scale: number;
  readonly offset: number;
  /** Raw values that say "not available"; they never become values. */
  readonly invalid: readonly number[];
  /** Raw value to name, flag or set of names; raw values that are not listed never become values. */
  readonly map?: Readonly<Record<string, string | boolean | number | readonly string[]>>;
  /** Milliseconds after which the value is stale. */
  readonly timeout?: number;
  readonly priority: number;
  /** Milliseconds of silence after which the next source takes over. */
  readonly failover?: number;
}

/** How Status or a channel (protocol/channels.ts) shows that a command has taken effect. */
export interface Confirmation {
  readonly path: string;
  readonly equals?: string | number | boolean;
  /** For sets: the name that must be in it. */
  readonly includes?: string;
}

/** Required value of a path of Status, from a reading that is not stale: one of the other members is present. */
export interface Condition {
  readonly path: string;
  readonly equals?: string | number | boolean;
  /** For a set: the name that must be in it. */
  readonly includes?: string;
  readonly atMost?: number;
  readonly atLeast?: number;
}

/** A condition of the profile. It replaces the condition of the interlocks for the same path. */
export interface Requirement extends Condition {
  /** Failure cause of the interface. */
  readonly cause: FailureCause;
}

export interface CommandRule {
  readonly confirm: Confirmation;
  /** Conditions besides those of the table of interlocks. */
  readonly requires?: readonly Requirement[];
  /** Milliseconds the car may take; silence for longer is a failure. */
  readonly within: number;
}

/** The frame that asks the car. */
export interface Send {
  readonly bus?: string;
  readonly message: string;
  /** Physical values, names of the value table or parameters, by signal; signals that are left out are 0. */
  readonly signals: Readonly<Record<string, number | string>>;
  /** Milliseconds between repetitions. */
  readonly every: number;
  /** Milliseconds of repetition; 0: one frame. */
  readonly for: number;
  /** Signal that counts the frames. */
  readonly counter?: string;
  readonly checksum?: {
    readonly signal: string;
    readonly method: 'sum' | 'xor' | 'crc8-j1850' | 'autosar-p1' | 'autosar-p2';
    /** AUTOSAR only: the data ID (16 bit), or the list of 16 (8 bit) of profile 2, by counter value. */
    readonly dataId?: number | readonly number[];
  };
}

/** How a request is addressed; ISO 15765-4 §6.3 and ISO 15765-2 §10. */
export interface DiagnosticAddress {
  /** CAN identifier of the request, without flag bits; 7DF or 18DB33F1 ask all control units. */
  readonly request: number;
  /** 29-bit identifiers. */
  readonly extended: boolean;
  /** CAN identifier of the one control unit that is to answer; absent: any unit may answer. */
  readonly response?: number;
  /** Identifier that flow control is sent with, where it is not the usual one for the answer's. */
  readonly flowControl?: number;
  /** Target address in the first byte of each frame, 0..255 (extended addressing); absent: normal addressing. */
  readonly target?: number;
  /** Address that the answer carries in its first byte, 0..255 (extended addressing). */
  readonly source?: number;
}

/** A control unit with fault codes that are read by UDS. */
export interface ControlUnit {
  readonly name?: string;
  readonly bus: string;
  readonly address: DiagnosticAddress;
  /** Bits of statusOfDTC of which a code must have one to be reported (ISO 14229-1:2020 §12.3.2). */
  readonly statusMask: number;
}

/** Requests to a control unit (ISO 14229-1:2020). */
export interface Uds {
  readonly bus: string;
  readonly address: DiagnosticAddress;
  /** Diagnostic session in which it is allowed: 03, 04 or 40..7E (§10.2). */
  readonly session: number;
  readonly security?: {
    /** `requestSeed`: odd, 01..7D; the key goes with the number after it (§10.4). */
    readonly level: number;
    /** Name of what computes the key. */
    readonly key: string;
    /** Constant of the computation, hexadecimal. */
    readonly constant?: string;
  };
  readonly service:
    | {
        /** Service 2F (§13.2). */
        readonly kind: 'io';
        /** Data identifier, 0..FFFF. */
        readonly identifier: number;
        readonly control: 'resetToDefault' | 'freezeCurrentState' | 'shortTermAdjustment';
        /** State and mask that go with it, hexadecimal; empty: none. */
        readonly state: string;
      }
    | {
        /** Service 31 (§14.2). */
        readonly kind: 'routine';
        /** Routine identifier, 0..FFFF. */
        readonly identifier: number;
        /** Option record, hexadecimal; empty: none. */
        readonly option: string;
        /** Required start of its results, hexadecimal. If omitted, results are not requested. */
        readonly results?: string;
      };
  /** Control is held, or the routine left running, for this time, ms. */
  readonly hold: number;
  /** Control is returned, or the routine stopped, before the session ends. */
  readonly release: boolean;
}

/** A signal of the car that the interface has no path for: it is recorded and sent under a name of its own. */
export interface CustomSignal extends SignalDefinition {
  readonly bus?: string;
  readonly message: string;
  readonly signal: string;
  /** The raw integer of the bus signal is the integer that travels; otherwise the physical value is counted in `resolution`. */
  readonly raw: boolean;
  /** value = physical signal × scale + shift */
  readonly scale: number;
  readonly shift: number;
  /** Raw values that say "not available". */
  readonly invalid: readonly number[];
  /** Milliseconds after which the value is stale. */
  readonly timeout?: number;
  /** It contains the position of the car: privacy hides it like positions. */
  readonly position: boolean;
  readonly rule: TelemetryRule;
  /** It is recorded only while this holds. */
  readonly while?: Condition;
}

/** A signal with text values, such as a part number. */
export interface TextSignal
  extends Pick<CustomSignal, 'name' | 'bus' | 'message' | 'signal' | 'timeout' | 'position'> {}

/** Raw frames: those of some buses, those of some identifiers, or both; what is left out excludes nothing. */
export interface FrameChoice {
  /** Names in the profile. */
  readonly buses?: readonly string[];
  /** CAN identifiers, those of 29 bits with 2^31. */
  readonly identifiers?: readonly number[];
}

/** The raw frames that are kept of an event. */
export interface CaptureRule extends FrameChoice {
  /** Milliseconds before and after it. */
  readonly before: number;
  readonly after: number;
}

export interface CaptureRules {
  readonly collision?: CaptureRule;
  /** The most that a command may ask for; absent: none may. */
  readonly command?: CaptureRule;
  /** By monitorId. */
  readonly monitors: Readonly<Record<string, CaptureRule>>;
  /** Frames that never say where the car is: the only ones that are kept under privacy. */
  readonly positionFree: readonly FrameChoice[];
}

export interface VehicleProfile {
  readonly name: string;
  /** Texts of fault codes, by code; absent: none. */
  readonly faultCodes?: Readonly<Record<string, string>>;
  /** Absent: fault codes are read by SAE J1979 alone. */
  readonly controlUnits?: readonly ControlUnit[];
  readonly sources: readonly SourceMapping[];
  /** Absent: none. */
  readonly signals?: readonly CustomSignal[];
  /** Absent: none. */
  readonly texts?: readonly TextSignal[];
  /** Absent: no raw frames are kept. */
  readonly captures?: CaptureRules;
  readonly constants: Readonly<Record<string, string | number | boolean | readonly string[]>>;
  /** By Status path; `default` for the rest. */
  readonly telemetry: Readonly<Record<string, TelemetryRule>>;
  readonly waypoints: WaypointRule;
  /** By type (AlertType); `default` for those that are not listed. */
  readonly alerts?: Readonly<Record<string, AlertRule>>;
  readonly trips?: TripRule;
  readonly collisions?: CollisionRule;
  readonly thefts?: TheftRule;
  /** By action, e.g. `doors.lock`. */
  readonly commands: Readonly<Record<string, CommandRule>>;
}
