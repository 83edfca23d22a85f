import { enumeration, optional, record } from '../fields.ts';
import { createdAt } from './created.ts';

export const serviceSchema = record(
  'ServiceType',
  {
    createdAt,
    type: optional(
      1,
      enumeration(['Electric', 'Hybrid', 'Unknown'], {
        description: 'Kind of service contract by propulsion. Interface 3.19.2 ServiceType.type.',
      }),
    ),
  },
  { description: 'Deprecated. Interface 3.19.2 Status.service.' },
);
