import { enumeration, optional, record } from '../fields.ts';
import { createdAt } from './created.ts';

export const powertrainStatuses = ['NotRunning', 'Starting', 'Running', 'Stopping', 'Stopped'] as const;

export const powertrainSchema = record('Powertrain', 'The powertrain as a whole. Interface 3.19.2 Status.powertrain.', {
  createdAt,
  status: optional(1, enumeration('State of the powertrain. Interface 3.19.2 Powertrain.status.', powertrainStatuses)),
});
