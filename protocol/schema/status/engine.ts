import { enumeration, optional, quantity, record, required } from '../fields.ts';
import { only } from '../mapping.ts';
import { createdAt } from './created.ts';
import { powertrainStatuses } from './powertrain.ts';

const temperature = (meaning: string) => quantity('degC', 0.1, [-100, 300], meaning);

const level = (meaning: string) => quantity('%', 1, [0, 100], meaning);

const thermic = record('ThermicExtension', 'Of a combustion engine. Interface 3.19.2 Engine.extension.thermic.', {
  coolant: optional(
    1,
    record('EngineCoolant', 'The coolant. Interface 3.19.2 Engine.extension.thermic.coolant.', {
      temp: optional(1, temperature('Temperature of the coolant. Interface 3.19.2 EngineLiquid.temp.')),
      level: optional(2, level('Level of the coolant. Interface 3.19.2 EngineLiquid.level.')),
    }),
  ),
  oil: optional(
    2,
    record('EngineOil', 'The oil. Interface 3.19.2 Engine.extension.thermic.oil.', {
      temp: optional(1, temperature('Temperature of the oil. Interface 3.19.2 EngineLiquid.temp.')),
      level: optional(2, level('Level of the oil. Interface 3.19.2 EngineLiquid.level.')),
    }),
  ),
  air: optional(
    3,
    record('EngineAir', 'The intake air. Interface 3.19.2 Engine.extension.thermic.air.', {
      temp: optional(1, temperature('Temperature of the intake air. Interface 3.19.2 EngineAir.temp.')),
    }),
  ),
});

/** One engine. The deprecated alias `oil.temp` of the user line exists only in HTTP. */
export const engineSchema = record('Engine', 'One engine. Interface 3.19.2 Engine.', {
  createdAt,
  type: required(1, enumeration('Kind of engine. Interface 3.19.2 EngineBase.type.', ['Thermic', 'Electric'])),
  speed: optional(
    2,
    quantity(
      'rpm',
      0.125,
      [-32_767, 32_767],
      'Speed of the shaft, negative for an electric engine that turns backwards; 0.125 rpm as SAE J1939 SPN 190. Interface 3.19.2 EngineBase.speed.',
    ),
  ),
  extension: optional(
    3,
    record('EngineExtension', 'Members of one kind of engine. Interface 3.19.2 Engine.extension.', {
      thermic: optional(1, only('Thermic', thermic)),
    }),
  ),
  gmpStatus: optional(
    4,
    enumeration('Deprecated, now powertrain.status. Interface 3.19.2 EngineBase.gmpStatus.', powertrainStatuses),
  ),
});
