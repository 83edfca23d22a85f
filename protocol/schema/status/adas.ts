import { enumeration, flag, list, optional, quantity, record } from '../fields.ts';
import { createdAt } from './created.ts';

const laneKeeping = ['Authorized', 'CorrectionInProgress', 'NotAuthorized', 'NotSelected'] as const;

const parkAssist = record('ParkAssist', 'The parking aid. Interface 3.19.2 Adas.parkAssist.', {
  front: optional(
    1,
    list(
      'States of the parking aid in front.',
      enumeration('One state. Interface 3.19.2 Adas.parkAssist.front.', [
        'Fault',
        'DriverInhibition',
        'Active',
        'Wait',
        'OutOfService',
      ]),
      { maxItems: 5 },
    ),
  ),
  rear: optional(
    2,
    list(
      'States of the parking aid in the rear.',
      enumeration('One state. Interface 3.19.2 Adas.parkAssist.rear.', [
        'Fault',
        'DriverInhibition',
        'TrailerInhibition',
        'Active',
        'Wait',
        'OutOfService',
      ]),
      { maxItems: 6 },
    ),
  ),
});

/** The interface defines no createdAt, but the service sends it. The user line writes `off` for aebs `Off`. */
export const adasSchema = record('Adas', 'Assistance to the driver. Interface 3.19.2 Status.adas.', {
  createdAt,
  accr: optional(
    1,
    enumeration('Adaptive cruise control. Interface 3.19.2 Adas.accr.', [
      'Activated',
      'Fault',
      'Hold',
      'HoldWithOverSpeeding',
      'Off',
      'OverSpeedingByPedalPress',
      'StandBy',
    ]),
  ),
  sli: optional(2, quantity('km/h', 1, [0, 255], 'Speed limit the car has recognised. Interface 3.19.2 Adas.sli.')),
  rlka: optional(3, enumeration('Lane keeping, right. Interface 3.19.2 Adas.rlka.', laneKeeping)),
  llka: optional(4, enumeration('Lane keeping, left. Interface 3.19.2 Adas.llka.', laneKeeping)),
  rgi: optional(
    5,
    enumeration('Gear change that the car recommends. Interface 3.19.2 Adas.rgi.', ['None', 'Up', 'Down', 'UpDown']),
  ),
  parkAssist: optional(6, parkAssist),
  lvv: optional(7, flag('Speed limiter is on. Interface 3.19.2 Adas.lvv.')),
  rvv: optional(
    8,
    enumeration('Cruise control. Interface 3.19.2 Adas.rvv.', [
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
    ]),
  ),
  aebs: optional(
    9,
    enumeration('Telltale of the automatic emergency braking. Interface 3.19.2 Adas.aebs.', [
      'Off',
      'Fixed',
      'OnFlashing',
    ]),
  ),
  afil: optional(
    10,
    enumeration('Telltale of the lane departure warning. Interface 3.19.2 Adas.afil.', [
      'FlashingFault',
      'FlashingWarning',
      'Off',
      'OnFixed',
    ]),
  ),
  artiv: optional(
    11,
    enumeration('Keeping the distance to the car in front. Interface 3.19.2 Adas.artiv.', [
      'NotSelected',
      'Selected',
      'Unavailable',
    ]),
  ),
  bsm: optional(
    12,
    enumeration('Blind-spot monitor. Interface 3.19.2 Adas.bsm.', ['Active', 'Inactive', 'Disabled', 'Fault']),
  ),
  esp: optional(13, flag('Stability control intervenes. Interface 3.19.2 Adas.esp.')),
  abs: optional(14, flag('Anti-lock braking intervenes. Interface 3.19.2 Adas.abs.')),
  fse: optional(15, flag('Electric parking brake. Interface 3.19.2 Adas.fse.')),
});
