/** Examines recordings, for people who do not yet know the meaning of the frames. The car never loads this. */
export { type FoundChecksum, findChecksum } from './checksums.ts';
export { compareTraffic, type Difference, type RecordingSide } from './compare.ts';
export { type Correlation, Correlator, type Reference } from './correlation.ts';
export { findCounters } from './counters.ts';
export { type Coverage, rankCoverage } from './coverage.ts';
export { type FrameCriteria, FrameFilter, identifierRange } from './frame-filter.ts';
export { ObservedMessage } from './observed-message.ts';
export { MOST_VALUES, SignalObserver, type SignalOfMessage, SignalStatistics, signalsOf } from './signal-statistics.ts';
export { ObservedBus, Traffic } from './traffic.ts';
