import { enumeration, list, optional, record, required } from '../fields.ts';
import { createdAt } from './created.ts';

const light = record(
  'Light',
  {
    direction: required(
      1,
      enumeration(['Left', 'Right'], { description: 'Side of the car. Interface 3.19.2 Lights.direction.' }),
    ),
    position: required(
      2,
      enumeration(['Front', 'Rear'], { description: 'End of the car. Interface 3.19.2 Lights.position.' }),
    ),
    status: optional(
      3,
      enumeration(['Off', 'On'], { description: 'Whether it is lit. Interface 3.19.2 Lights.status.' }),
    ),
  },
  { description: 'One lamp. Interface 3.19.2 Lights.' },
);

const lights = (meaning: string) =>
  list(light, { identity: ['direction', 'position'], maxItems: 4, description: meaning });

export const lightingSystemSchema = record(
  'LightingSystem',
  {
    createdAt,
    turn: optional(1, lights('Turn indicators. Interface 3.19.2 LightingSystem.turn.')),
    fog: optional(2, lights('Fog lamps. Interface 3.19.2 LightingSystem.fog.')),
  },
  { description: 'Lamps of the car. Interface 3.19.2 Status.lightingSystem.' },
);
