export { VirtualClock } from '../../adapters/clock/virtual.ts';
