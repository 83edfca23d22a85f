export { SlcanBus, type SlcanOptions } from './bus.ts';
