/** What recordings contain, for people who do not know yet what their frames mean. The car never loads this. */
export { ObservedMessage } from './observed-message.ts';
export { ObservedBus, Traffic } from './traffic.ts';
