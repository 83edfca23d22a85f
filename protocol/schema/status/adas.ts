import { enumeration, flag, list, optional, quantity, record } from '../fields.ts';
import { createdAt } from './created.ts';

const laneKeeping = ['Authorized', 'CorrectionInProgress', 'NotAuthorized', 'NotSelected'] as const;

const parkAssist = record(
  'ParkAssist',
  {
    front: optional(
      1,
      list(
        enumeration(['Fault', 'DriverInhibition', 'Active', 'Wait', 'OutOfService'], {
          description: 'One state. Interface 3.19.2 Adas.parkAssist.front.',
        }),
        { maxItems: 5, description: 'States of the parking aid in front.' },
      ),
    ),
    rear: optional(
      2,
      list(
        enumeration(['Fault', 'DriverInhibition', 'TrailerInhibition', 'Active', 'Wait', 'OutOfService'], {
          description: 'One state. Interface 3.19.2 Adas.parkAssist.rear.',
        }),
        { maxItems: 6, description: 'States of the parking aid in the rear.' },
      ),
    ),
  },
  { description: 'The parking aid. Interface 3.19.2 Adas.parkAssist.' },
);

/** The interface gives it no createdAt, but the service sends one. The user line writes `off` for aebs `Off`. */
export const adasSchema = record(
  'Adas',
  {
    createdAt,
    accr: optional(
      1,
      enumeration(
        ['Activated', 'Fault', 'Hold', 'HoldWithOverSpeeding', 'Off', 'OverSpeedingByPedalPress', 'StandBy'],
        {
          description: 'Adaptive cruise control. Interface 3.19.2 Adas.accr.',
        },
      ),
    ),
    sli: optional(
      2,
      quantity({
        unit: 'km/h',
        resolution: 1,
        minimum: 0,
        maximum: 255,
        description: 'Speed limit the car has recognised. Interface 3.19.2 Adas.sli.',
      }),
    ),
    rlka: optional(3, enumeration(laneKeeping, { description: 'Lane keeping, right. Interface 3.19.2 Adas.rlka.' })),
    llka: optional(4, enumeration(laneKeeping, { description: 'Lane keeping, left. Interface 3.19.2 Adas.llka.' })),
    rgi: optional(
      5,
      enumeration(['None', 'Up', 'Down', 'UpDown'], {
        description: 'Gear change that the car recommends. Interface 3.19.2 Adas.rgi.',
      }),
    ),
    parkAssist: optional(6, parkAssist),
    lvv: optional(7, flag({ description: 'Speed limiter is on. Interface 3.19.2 Adas.lvv.' })),
    rvv: optional(
      8,
      enumeration(
        [
          'Off',
          'NoBestFit',
          'BestFitInProgress',
          'BestFitMax',
          'BestFitMin',
          'BestFitDeactivated',
          'AutoDeactivated',
          'OverflowSpeedConsign',
          'LackOfVisibilityRadar',
          'LearningRadar',
          'Deactivated',
          'LimitSetting',
        ],
        { description: 'Cruise control. Interface 3.19.2 Adas.rvv.' },
      ),
    ),
    aebs: optional(
      9,
      enumeration(['Off', 'Fixed', 'OnFlashing'], {
        description: 'Telltale of the automatic emergency braking. Interface 3.19.2 Adas.aebs.',
      }),
    ),
    afil: optional(
      10,
      enumeration(['FlashingFault', 'FlashingWarning', 'Off', 'OnFixed'], {
        description: 'Telltale of the lane departure warning. Interface 3.19.2 Adas.afil.',
      }),
    ),
    artiv: optional(
      11,
      enumeration(['NotSelected', 'Selected', 'Unavailable'], {
        description: 'Keeping the distance to the car in front. Interface 3.19.2 Adas.artiv.',
      }),
    ),
    bsm: optional(
      12,
      enumeration(['Active', 'Inactive', 'Disabled', 'Fault'], {
        description: 'Blind-spot monitor. Interface 3.19.2 Adas.bsm.',
      }),
    ),
    esp: optional(13, flag({ description: 'Stability control intervenes. Interface 3.19.2 Adas.esp.' })),
    abs: optional(14, flag({ description: 'Anti-lock braking intervenes. Interface 3.19.2 Adas.abs.' })),
    fse: optional(15, flag({ description: 'Electric parking brake. Interface 3.19.2 Adas.fse.' })),
  },
  { description: 'Assistance to the driver. Interface 3.19.2 Status.adas.' },
);
