import { enumeration, optional, quantity, record, required } from '../fields.ts';
import { only } from '../mapping.ts';
import { createdAt } from './created.ts';
import { powertrainStatuses } from './powertrain.ts';

const temperature = (meaning: string) =>
  quantity({ unit: 'degC', resolution: 0.1, minimum: -100, maximum: 300, description: meaning });

const level = (meaning: string) =>
  quantity({ unit: '%', resolution: 1, minimum: 0, maximum: 100, description: meaning });

const thermic = record(
  'ThermicExtension',
  {
    coolant: optional(
      1,
      record(
        'EngineCoolant',
        {
          temp: optional(1, temperature('Temperature of the coolant. Interface 3.19.2 EngineLiquid.temp.')),
          level: optional(2, level('Level of the coolant. Interface 3.19.2 EngineLiquid.level.')),
        },
        { description: 'The coolant. Interface 3.19.2 Engine.extension.thermic.coolant.' },
      ),
    ),
    oil: optional(
      2,
      record(
        'EngineOil',
        {
          temp: optional(1, temperature('Temperature of the oil. Interface 3.19.2 EngineLiquid.temp.')),
          level: optional(2, level('Level of the oil. Interface 3.19.2 EngineLiquid.level.')),
        },
        { description: 'The oil. Interface 3.19.2 Engine.extension.thermic.oil.' },
      ),
    ),
    air: optional(
      3,
      record(
        'EngineAir',
        { temp: optional(1, temperature('Temperature of the intake air. Interface 3.19.2 EngineAir.temp.')) },
        { description: 'The intake air. Interface 3.19.2 Engine.extension.thermic.air.' },
      ),
    ),
  },
  { description: 'Of a combustion engine. Interface 3.19.2 Engine.extension.thermic.' },
);

/** One engine. The user line's deprecated twin `oil.temp` exists in HTTP only. */
export const engineSchema = record(
  'Engine',
  {
    createdAt,
    type: required(
      1,
      enumeration(['Thermic', 'Electric'], { description: 'Kind of engine. Interface 3.19.2 EngineBase.type.' }),
    ),
    speed: optional(
      2,
      quantity({
        unit: 'rpm',
        resolution: 0.125,
        minimum: -32_767,
        maximum: 32_767,
        description:
          'Speed of the shaft, negative for an electric engine that turns backwards; 0.125 rpm as SAE J1939 SPN 190. Interface 3.19.2 EngineBase.speed.',
      }),
    ),
    extension: optional(
      3,
      record(
        'EngineExtension',
        { thermic: optional(1, only('Thermic', thermic)) },
        { description: 'Members of one kind of engine. Interface 3.19.2 Engine.extension.' },
      ),
    ),
    gmpStatus: optional(
      4,
      enumeration(powertrainStatuses, {
        description: 'Deprecated, now powertrain.status. Interface 3.19.2 EngineBase.gmpStatus.',
      }),
    ),
  },
  { description: 'One engine. Interface 3.19.2 Engine.' },
);
