import { enumeration, flag, optional, record } from '../fields.ts';
import { createdAt } from './created.ts';

export const wipingBladesSchema = record(
  'WipingBladesState',
  'The windscreen wipers. Interface 3.19.2 Status.wipingBlades.',
  {
    createdAt,
    active: optional(1, flag('The wipers work. Interface 3.19.2 WipingBladesState.active.')),
    speed: optional(
      2,
      enumeration('How fast, only while active. Interface 3.19.2 WipingBladesState.speed.', ['High', 'Low']),
    ),
  },
);
