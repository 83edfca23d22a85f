export { wakeAt } from './waker.ts';
