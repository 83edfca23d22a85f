import { enumeration, record, required } from '../fields.ts';
import { createdAt } from './created.ts';

export const ignitionSchema = record(
  'Ignition',
  {
    createdAt,
    type: required(
      1,
      enumeration(['Stop', 'StartUp', 'Start'], {
        description:
          'Position of the ignition: off, contact or accessory before the start, running. Interface 3.19.2 Ignition.type.',
      }),
    ),
  },
  { description: 'The ignition. Interface 3.19.2 Status.ignition.' },
);
