import { enumeration, optional, record } from '../fields.ts';
import { createdAt } from './created.ts';

export const serviceSchema = record('ServiceType', 'Deprecated. Interface 3.19.2 Status.service.', {
  createdAt,
  type: optional(
    1,
    enumeration('Kind of service contract by propulsion. Interface 3.19.2 ServiceType.type.', [
      'Electric',
      'Hybrid',
      'Unknown',
    ]),
  ),
});
