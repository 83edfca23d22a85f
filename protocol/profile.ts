/** A vehicle profile with all checks done: config/ loads it, the agent and its adapters use it. */

import type { FailureCause } from './errors.ts';
import type { AlertRule, CollisionRule, TelemetryRule, TheftRule, TripRule, WaypointRule } from './recording.ts';
import type { SignalDefinition } from './schema/catalog.ts';

/**
 * One source of a Status path or of a channel (protocol/channels.ts). Sources of the same path are listed in order of
 * `priority`, 0 first.
 */
export interface SourceMapping {
  readonly path: string;
  readonly bus?: string;
  readonly message: string;
  readonly signal: string;
  /** value = physical signal × scale + offset */
  readonly scale: number;
  readonly offset: number;
  /** Raw values that mean "not available"; they never become values. */
  readonly invalid: readonly number[];
  /** Raw value to name, flag or set of names; unlisted raw values never become values. */
  readonly map?: Readonly<Record<string, string | boolean | number | readonly string[]>>;
  /** Time in ms after which the value is stale. */
  readonly timeout?: number;
  readonly priority: number;
  /** Silence in ms after which the next source is used. */
  readonly failover?: number;
}

/** Value of Status or of a channel (protocol/channels.ts) that confirms that a command has taken effect. */
export interface Confirmation {
  readonly path: string;
  readonly equals?: string | number | boolean;
  /** For a set: the name that it must contain. */
  readonly includes?: string;
}

/** Required value of a Status path. A stale reading does not count. One of the other fields is present. */
export interface Condition {
  readonly path: string;
  readonly equals?: string | number | boolean;
  /** For a set: the name that it must contain. */
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
  /** Conditions in addition to those of the table of interlocks. */
  readonly requires?: readonly Requirement[];
  /** Time in ms for the car to respond; without a response by then the command fails. */
  readonly within: number;
}

/** Frame that requests an action of the car. */
export interface Send {
  readonly bus?: string;
  readonly message: string;
  /** Physical values, names of the value table, or parameters, by signal; omitted signals are 0. */
  readonly signals: Readonly<Record<string, number | string>>;
  /** Interval in ms between repetitions. */
  readonly every: number;
  /** Duration of the repetitions in ms; 0: one frame. */
  readonly for: number;
  /** Signal that contains the frame counter. */
  readonly counter?: string;
  readonly checksum?: {
    readonly signal: string;
    readonly method: 'sum' | 'xor' | 'crc8-j1850' | 'autosar-p1' | 'autosar-p2';
    /** AUTOSAR only: the data ID (16 bit), or the list of 16 (8 bit) of profile 2, by counter value. */
    readonly dataId?: number | readonly number[];
  };
}

/** Addressing of a request; ISO 15765-4 §6.3 and ISO 15765-2 §10. */
export interface DiagnosticAddress {
  /** CAN identifier of the request, without flag bits; 7DF or 18DB33F1 address all control units. */
  readonly request: number;
  /** True for 29-bit identifiers. */
  readonly extended: boolean;
  /** CAN identifier of the control unit that must answer. If omitted, any unit may answer. */
  readonly response?: number;
  /** Identifier for flow control, if it is not the usual one for the answer's identifier. */
  readonly flowControl?: number;
  /** Target address in the first byte of each frame, 0..255 (extended addressing). If omitted, normal addressing. */
  readonly target?: number;
  /** Source address in the first byte of the answer, 0..255 (extended addressing). */
  readonly source?: number;
}

/** Control unit whose fault codes are read over UDS. */
export interface ControlUnit {
  readonly name?: string;
  readonly bus: string;
  readonly address: DiagnosticAddress;
  /** Mask of statusOfDTC: a code is reported if it has at least one of these bits (ISO 14229-1:2020 §12.3.2). */
  readonly statusMask: number;
}

/** Requests to a control unit (ISO 14229-1:2020). */
export interface Uds {
  readonly bus: string;
  readonly address: DiagnosticAddress;
  /** Diagnostic session that allows the service: 03, 04 or 40..7E (§10.2). */
  readonly session: number;
  readonly security?: {
    /** `requestSeed`: odd, 01..7D; the next number sends the key (§10.4). */
    readonly level: number;
    /** Name of the function that computes the key. */
    readonly key: string;
    /** Constant for the computation, hexadecimal. */
    readonly constant?: string;
  };
  readonly service:
    | {
        /** Service 2F (§13.2). */
        readonly kind: 'io';
        /** Data identifier, 0..FFFF. */
        readonly identifier: number;
        readonly control: 'resetToDefault' | 'freezeCurrentState' | 'shortTermAdjustment';
        /** Control state and mask, hexadecimal; empty: none. */
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
  /** Time in ms to hold control, or to let the routine run. */
  readonly hold: number;
  /** True to return control, or to stop the routine, before the session ends. */
  readonly release: boolean;
}

/** Signal of the car without a path in the interface: it is recorded and sent under its own name. */
export interface CustomSignal extends SignalDefinition {
  readonly bus?: string;
  readonly message: string;
  readonly signal: string;
  /** True if the raw integer of the bus signal is sent; otherwise the physical value in steps of `resolution` is. */
  readonly raw: boolean;
  /** value = physical signal × scale + shift */
  readonly scale: number;
  readonly shift: number;
  /** Raw values that mean "not available". */
  readonly invalid: readonly number[];
  /** Time in ms after which the value is stale. */
  readonly timeout?: number;
  /** True if it contains the position of the car: privacy then hides it. */
  readonly position: boolean;
  readonly rule: TelemetryRule;
  /** If present, it is recorded only while this condition holds. */
  readonly while?: Condition;
}

/** A signal with text values, such as a part number. */
export interface TextSignal
  extends Pick<CustomSignal, 'name' | 'bus' | 'message' | 'signal' | 'timeout' | 'position'> {}

/** Selects raw frames by bus, by identifier, or by both; an omitted field excludes nothing. */
export interface FrameChoice {
  /** Bus names in the profile. */
  readonly buses?: readonly string[];
  /** CAN identifiers; 29-bit identifiers have 2^31 added. */
  readonly identifiers?: readonly number[];
}

/** Raw frames to keep around an event. */
export interface CaptureRule extends FrameChoice {
  /** Times in ms before and after the event. */
  readonly before: number;
  readonly after: number;
}

export interface CaptureRules {
  readonly collision?: CaptureRule;
  /** Largest capture that a command may request. If omitted, commands may request none. */
  readonly command?: CaptureRule;
  /** By monitorId. */
  readonly monitors: Readonly<Record<string, CaptureRule>>;
  /** Frames that never contain the position of the car: the only ones that are kept under privacy. */
  readonly positionFree: readonly FrameChoice[];
}

export interface VehicleProfile {
  readonly name: string;
  /** Descriptions of fault codes, by code. If omitted, there are none. */
  readonly faultCodes?: Readonly<Record<string, string>>;
  /** If omitted, fault codes are read only as in SAE J1979. */
  readonly controlUnits?: readonly ControlUnit[];
  readonly sources: readonly SourceMapping[];
  /** If omitted, there are none. */
  readonly signals?: readonly CustomSignal[];
  /** If omitted, there are none. */
  readonly texts?: readonly TextSignal[];
  /** If omitted, no raw frames are kept. */
  readonly captures?: CaptureRules;
  readonly constants: Readonly<Record<string, string | number | boolean | readonly string[]>>;
  /** By Status path; `default` applies to all others. */
  readonly telemetry: Readonly<Record<string, TelemetryRule>>;
  readonly waypoints: WaypointRule;
  /** By type (AlertType); `default` applies to all others. */
  readonly alerts?: Readonly<Record<string, AlertRule>>;
  readonly trips?: TripRule;
  readonly collisions?: CollisionRule;
  readonly thefts?: TheftRule;
  /** By action, e.g. `doors.lock`. */
  readonly commands: Readonly<Record<string, CommandRule>>;
}
