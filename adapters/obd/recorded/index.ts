export { type AnswerContents, readAnswer } from './answers.ts';
export { Roles } from './roles.ts';
export { type DumpedExchange, isScanDump, ScanDump } from './scan-dump.ts';
export { DiagnosticTraffic, type TrafficEvent } from './traffic.ts';
