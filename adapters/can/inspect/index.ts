/** What recordings contain, for people who do not know yet what their frames mean. The car never loads this. */
export { type FoundChecksum, findChecksum } from './checksums.ts';
export { type FoundCounter, findCounters } from './counters.ts';
export { ObservedMessage } from './observed-message.ts';
export { ObservedBus, Traffic } from './traffic.ts';
