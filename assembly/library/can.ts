/** CAN buses of the car: `vigie/can`. */
import { configurationDefaults } from '../../config/defaults.ts';
import type { RecordingSettings } from '../../config/inputs.ts';
import type { CanDescription, RecordingDescription } from './source.ts';

export { DbcCodec, parseDbc } from '../../adapters/can/dbc/index.ts';
export { append, createBatch } from '../../adapters/can/frames.ts';
export type { FrameBatch, FrameSender, FrameSource, NamedFrame, OutgoingFrame } from '../../agent/ports.ts';
export { BIT_RATE_SWITCH, ERROR, EXTENDED, FD, REMOTE } from '../../agent/ports.ts';
export type { CanDescription, RecordingDescription };

export interface BusOptions {
  /** Name of the bus in the profile; default: its only CAN bus. */
  readonly bus?: string;
}

/** A CAN interface of this Linux machine, such as `can0`. Needs the package `koffi`. */
export function socketcan(name: string, { bus }: BusOptions = {}): CanDescription {
  return { can: { kind: 'socketcan', interface: name }, bus };
}

export interface StickOptions extends BusOptions {
  /** bit/s; default 500,000. */
  readonly bitrate?: number;
}

/** An slcan adapter on a line: `/dev/ttyACM0` (needs the package `serialport`) or `tcp://host:port`. */
export function slcan(
  address: string,
  { bus, bitrate = configurationDefaults.bitrate }: StickOptions = {},
): CanDescription {
  return { can: { kind: 'slcan', address, bitrate }, bus };
}

export interface CanLogOptions extends BusOptions {
  /** 1, the default, is as recorded. */
  readonly speed?: number;
  readonly loop?: boolean;
}

/** A recording in one of the formats that `vigie decode` reads; its frames come as if they came now. */
export function canLog(
  file: string,
  { bus, speed = configurationDefaults.speed, loop = configurationDefaults.loop }: CanLogOptions = {},
): CanDescription {
  return { can: { kind: 'log', log: file, speed, loop }, bus };
}

/** Writes every frame of the CAN inputs to candump logs in `folder`. */
export function recordFrames(
  folder: string,
  bounds: Partial<Omit<RecordingSettings, 'folder'>> = {},
): RecordingDescription {
  return { record: { ...configurationDefaults.record, ...bounds, folder } };
}
