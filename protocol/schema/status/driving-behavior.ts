import { enumeration, instant, optional, record } from '../fields.ts';
import { unmapped } from '../mapping.ts';
import { createdAt } from './created.ts';

export const drivingBehaviorSchema = record(
  'DrivingBehavior',
  'The driving mode. Interface 3.19.2 Status.drivingBehavior.',
  {
    createdAt,
    mode: optional(
      1,
      enumeration('Driving mode that is selected. Interface 3.19.2 DrivingBehavior.mode.', [
        'Normal',
        'Sport',
        'Comfort',
        'Eco',
        'Sand',
        'Mud',
        'Snow',
        'ZEV',
        'Hybrid',
        'ZEVEco',
        'HybridEco',
        'EcoPlus',
        'eAWD',
        '4AWD',
        'ReinforcedLoad',
      ]),
    ),
    updatedAt: optional(
      2,
      unmapped(instant('Deprecated twin of createdAt. Interface 3.19.2 DrivingBehavior.updatedAt.')),
    ),
  },
);
