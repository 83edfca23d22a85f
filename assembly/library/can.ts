/** CAN buses of the car: `vigie/can`. */
import { configurationDefaults } from '../../config/defaults.ts';
import type { RecordingSettings } from '../../config/inputs.ts';
import { defined } from '../../protocol/defined.ts';
import { recordingSettings } from '../../protocol/settings.ts';
import {
  BUS_RULE,
  checkFields,
  checkNumbers,
  checkValue,
  isFunction,
  isText,
  type OptionRule,
  SWITCH_RULE,
} from './checks.ts';
import type { CanDescription, RecordingDescription } from './source.ts';

export { type BoundDatabase, type Database, DbcCodec, parseDbc } from '../../adapters/can/dbc/index.ts';
export { append, createBatch } from '../../adapters/can/frames.ts';
export type { FrameBatch, FrameSender, FrameSource, NamedFrame, OutgoingFrame } from '../../agent/ports.ts';
export { BIT_RATE_SWITCH, ERROR, EXTENDED, FD, REMOTE } from '../../agent/ports.ts';
export type { Diagnostic } from '../../protocol/diagnostic.ts';
export type { CanDescription, RecordingDescription };

export interface BusOptions {
  /** Name of the bus in the profile; default: the profile's only CAN bus. */
  readonly bus?: string;
}

const INTERFACE_RULE: OptionRule = [isText, 'the name of a CAN interface, such as can0'];
const ADDRESS_RULE: OptionRule = [isText, 'the address of an adapter, such as /dev/ttyACM0 or tcp://host:port'];
const FILE_RULE: OptionRule = [isText, 'the name of a recording'];
const FOLDER_RULE: OptionRule = [isText, 'the name of a folder'];
const BITRATE_RULE: OptionRule = [Number.isInteger, 'a number of bit/s, such as 500_000'];
const ENDED_RULE: OptionRule = [isFunction, 'a function'];
const SPEED_RULE: OptionRule = [
  (value) => typeof value === 'number' && value > 0,
  'a number above 0: 1 is as recorded, 2 twice as fast',
];

/**
 * A CAN interface of this Linux machine, such as `can0`. Needs the package `koffi`.
 * @throws VigieError `usage.wrong` for an unknown or invalid argument, like all functions in this module
 */
export function socketcan(name: string, options: BusOptions = {}): CanDescription {
  checkValue(name, INTERFACE_RULE, 'socketcan');
  checkFields(options, { bus: BUS_RULE }, 'socketcan');
  const { bus } = options;
  return { can: { kind: 'socketcan', interface: name }, bus };
}

export interface StickOptions extends BusOptions {
  /** Bit rate in bit/s; default 500,000. */
  readonly bitrate?: number;
}

/** An slcan adapter on a line: `/dev/ttyACM0` (needs the package `serialport`) or `tcp://host:port`. */
export function slcan(address: string, options: StickOptions = {}): CanDescription {
  checkValue(address, ADDRESS_RULE, 'slcan');
  checkFields(options, { bus: BUS_RULE, bitrate: BITRATE_RULE }, 'slcan');
  const { bus, bitrate = configurationDefaults.bitrate } = options;
  return { can: { kind: 'slcan', address, bitrate }, bus };
}

export interface CanLogOptions extends BusOptions {
  /** Factor of the playback speed; default 1, as recorded. */
  readonly speed?: number;
  readonly loop?: boolean;
  /** Called once, after the last frame or if the agent stops earlier. Must not throw. */
  readonly ended?: () => void;
}

/** Plays a recording in one of the formats that `vigie decode` reads. Its frames get the current time. */
export function canLog(file: string, options: CanLogOptions = {}): CanDescription {
  checkValue(file, FILE_RULE, 'canLog');
  checkFields(options, { bus: BUS_RULE, speed: SPEED_RULE, loop: SWITCH_RULE, ended: ENDED_RULE }, 'canLog');
  const { bus, speed = configurationDefaults.speed, loop = configurationDefaults.loop, ended } = options;
  return { can: { kind: 'log', log: file, speed, loop, ...defined({ ended }) }, bus };
}

/** Writes all frames of the CAN inputs to candump logs in `folder`. */
export function recordFrames(
  folder: string,
  bounds: Partial<Omit<RecordingSettings, 'folder'>> = {},
): RecordingDescription {
  checkValue(folder, FOLDER_RULE, 'recordFrames');
  checkNumbers(bounds, recordingSettings, 'recordFrames');
  return { record: { ...configurationDefaults.record, ...bounds, folder } };
}
