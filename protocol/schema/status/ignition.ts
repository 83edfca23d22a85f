import { enumeration, record, required } from '../fields.ts';
import { createdAt } from './created.ts';

export const ignitionSchema = record('Ignition', 'The ignition. Interface 3.19.2 Status.ignition.', {
  createdAt,
  type: required(
    1,
    enumeration(
      'Position of the ignition: off, contact or accessory before the start, running. Interface 3.19.2 Ignition.type.',
      ['Stop', 'StartUp', 'Start'],
    ),
  ),
});
