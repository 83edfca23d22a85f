/** Sources that a program passes to an agent: its own ones, or descriptions of inputs that the agent opens. */
import type { FrameSource, ReadingSource } from '../../agent/ports.ts';
import type {
  GnssInput,
  LogInput,
  ObdInput,
  RecordingSettings,
  SlcanInput,
  SocketCanInput,
} from '../../config/inputs.ts';

/** CAN input. If `bus` is omitted, the input feeds the only CAN bus of the profile. */
export interface CanDescription {
  readonly can:
    | Omit<SocketCanInput, 'bus' | 'line'>
    | Omit<SlcanInput, 'bus' | 'line'>
    | Omit<LogInput, 'bus' | 'line'>;
  readonly bus?: string | undefined;
}

/** Diagnostic access to the car. Over CAN: if `over` is omitted, it uses the only CAN input. */
export interface ObdDescription {
  readonly obd:
    | Omit<Extract<ObdInput, { kind: 'elm327' }>, 'bus' | 'line'>
    | { readonly kind: 'isotp'; readonly over?: string | undefined };
}

export interface GnssDescription {
  readonly gnss: Omit<GnssInput, 'bus' | 'line'>;
}

/** Writes all frames of the CAN inputs to files. */
export interface RecordingDescription {
  readonly record: RecordingSettings;
}

/** Input that the agent opens, and opens again if it fails. */
export type InputDescription = CanDescription | ObdDescription | GnssDescription | RecordingDescription;

/** Source of an agent. If a program's own source has `send`, it also accepts frames. */
export type AgentSource = InputDescription | FrameSource | ReadingSource;

export function isPort(source: AgentSource): source is FrameSource | ReadingSource {
  return 'start' in source;
}

export function isFrameSource(source: FrameSource | ReadingSource): source is FrameSource {
  return 'buses' in source;
}
