import { enumeration, list, optional, record, required } from '../fields.ts';
import { createdAt } from './created.ts';

const light = record('Light', 'One lamp. Interface 3.19.2 Lights.', {
  direction: required(1, enumeration('Side of the car. Interface 3.19.2 Lights.direction.', ['Left', 'Right'])),
  position: required(2, enumeration('End of the car. Interface 3.19.2 Lights.position.', ['Front', 'Rear'])),
  status: optional(3, enumeration('Whether it is lit. Interface 3.19.2 Lights.status.', ['Off', 'On'])),
});

const lights = (meaning: string) => list(meaning, light, { identity: ['direction', 'position'], maxItems: 4 });

export const lightingSystemSchema = record(
  'LightingSystem',
  'Lamps of the car. Interface 3.19.2 Status.lightingSystem.',
  {
    createdAt,
    turn: optional(1, lights('Turn indicators. Interface 3.19.2 LightingSystem.turn.')),
    fog: optional(2, lights('Fog lamps. Interface 3.19.2 LightingSystem.fog.')),
  },
);
