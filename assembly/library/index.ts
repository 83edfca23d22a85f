/** Vigie as part of another program: `vigie`. See docs/embedding.md. */
export { type CarClock, SystemClock } from '../../adapters/clock/system.ts';
export type {
  Actuator,
  FrameBatch,
  FrameSender,
  FrameSource,
  Log,
  ReadingSink,
  ReadingSource,
  SourceHealth,
} from '../../agent/ports.ts';
export type { MakeRecorder, Recorder, RecorderParts } from '../../agent/recorders/recorder.ts';
export { type ErrorCode, VigieError } from '../../protocol/errors.ts';
export type { StatusPaths } from '../../protocol/generated/status-paths.ts';
export type { LogEvent } from '../../protocol/log-events.ts';
export type { Body, Kind, Message } from '../../protocol/schema/message.ts';
export type { CloudLink } from '../cloud-link.ts';
export type { OwnStore } from '../records.ts';
export { FilesRefused } from '../refused.ts';
export { version } from '../version.ts';
export {
  type AgentEvents,
  createAgent,
  type StatusChange,
  type StatusPath,
  type StatusValues,
  type VigieAgent,
} from './agent.ts';
export type { CreateAgentOptions } from './options.ts';
export type { AgentSource, InputDescription } from './source.ts';
