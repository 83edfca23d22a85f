/** Sources of a program for an agent: its own ports, or descriptions of inputs that the agent opens. */
import type { FrameSource, ReadingSource } from '../../agent/ports.ts';
import type {
  GnssInput,
  LogInput,
  ObdInput,
  RecordingSettings,
  SlcanInput,
  SocketCanInput,
} from '../../config/inputs.ts';

/** A CAN input; without `bus` it feeds the only CAN bus of the profile. */
export interface CanDescription {
  readonly can:
    | Omit<SocketCanInput, 'bus' | 'line'>
    | Omit<SlcanInput, 'bus' | 'line'>
    | Omit<LogInput, 'bus' | 'line'>;
  readonly bus?: string | undefined;
}

/** Diagnostic access to the car. Over a CAN bus: without `over`, the only CAN input. */
export interface ObdDescription {
  readonly obd:
    | Omit<Extract<ObdInput, { kind: 'elm327' }>, 'bus' | 'line'>
    | { readonly kind: 'isotp'; readonly over?: string | undefined };
}

export interface GnssDescription {
  readonly gnss: Omit<GnssInput, 'bus' | 'line'>;
}

/** Every frame of the CAN inputs is written to files. */
export interface RecordingDescription {
  readonly record: RecordingSettings;
}

/** An input that the agent opens, and opens again when it fails. */
export type InputDescription = CanDescription | ObdDescription | GnssDescription | RecordingDescription;

/** A source that is a port of the program's own may also take frames: then it has `send`. */
export type AgentSource = InputDescription | FrameSource | ReadingSource;

export function isPort(source: AgentSource): source is FrameSource | ReadingSource {
  return 'start' in source;
}

export function isFrameSource(source: FrameSource | ReadingSource): source is FrameSource {
  return 'buses' in source;
}
