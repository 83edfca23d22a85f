/**
 * A second version of Annex B of SAE J1979-DA, as formulae of the data bytes A, B, C … of an answer. Written from the
 * standard, independently of the shipped signal set, with the same names so that both can be compared.
 */
export type Formula = (...bytes: readonly number[]) => number;
export type Formulae = Readonly<Record<string, Formula>>;

const word = (high = 0, low = 0): number => 256 * high + low;
const signedWord = (high = 0, low = 0): number => word(high, low) - (high > 127 ? 65_536 : 0);
const long = (a = 0, b = 0, c = 0, d = 0): number => word(a, b) * 65_536 + word(c, d);

/** Percentage of 255. */
const share = (a = 0): number => (a * 100) / 255;
/** Percentage around 0. */
const trim = (a = 0): number => (a * 100) / 128 - 100;
const celsius = (a = 0): number => a - 40;
const plain = (a = 0): number => a;
/** Exhaust and catalyst temperatures: tenths of a degree, offset -40. */
const hot = (high = 0, low = 0): number => word(high, low) / 10 - 40;
const ratio = (high = 0, low = 0): number => (word(high, low) * 2) / 65_536;
/** 0.000122 per step in the standard, i.e. 8 / 65536. */
const eighth = (high = 0, low = 0): number => (word(high, low) * 8) / 65_536;
const torque = (a = 0): number => a - 125;

/** The same formula for several names. Each has `size` bytes, and the first starts at byte `from`. */
function row(names: string, formula: Formula, size: number, from = 0): Formulae {
  return Object.fromEntries(
    names.split(' ').map((name, index) => {
      const at = from + index * size;
      return [name, (...bytes) => formula(...bytes.slice(at, at + size))];
    }),
  );
}

const oxygenVoltage = (sensor: string): Formulae => ({
  [`OxygenVoltage${sensor}`]: (a = 0) => a / 200,
  // FF: the sensor is not used for the trim.
  [`OxygenTrim${sensor}`]: (_, b) => (b === 0xff ? Number.NaN : trim(b)),
});
const lambdaVoltage = (sensor: string): Formulae => ({
  [`LambdaVoltage${sensor}Ratio`]: ratio,
  [`LambdaVoltage${sensor}`]: (_a, _b, c, d) => (word(c, d) * 8) / 65_536,
});
const lambdaCurrent = (sensor: string): Formulae => ({
  [`LambdaCurrent${sensor}Ratio`]: ratio,
  [`LambdaCurrent${sensor}`]: (_a, _b, c, d) => word(c, d) / 256 - 128,
});
const sensors = ['11', '12', '13', '14', '21', '22', '23', '24'];

function perSensor(first: number, formulae: (sensor: string) => Formulae): Record<string, Formulae> {
  const entries = sensors.map((sensor, index) => [pidOf(first + index), formulae(sensor)] as const);
  return Object.fromEntries(entries);
}

const pidOf = (pid: number): string => pid.toString(16).toUpperCase().padStart(2, '0');

function timers(numbers: readonly number[]): Formulae {
  return row(numbers.map((number) => `Aecd${number}Timer1 Aecd${number}Timer2`).join(' '), long, 4, 1);
}

/** Formulae by parameter of service 01. */
export const annexB: Readonly<Record<string, Formulae>> = {
  '01': { TroubleCodeCount: (a = 0) => a % 128 },
  '02': { FreezeFrameCode: word },
  '04': { EngineLoad: share },
  '05': { CoolantTemperature: celsius },
  '06': row('ShortFuelTrim1 ShortFuelTrim3', trim, 1),
  '07': row('LongFuelTrim1 LongFuelTrim3', trim, 1),
  '08': row('ShortFuelTrim2 ShortFuelTrim4', trim, 1),
  '09': row('LongFuelTrim2 LongFuelTrim4', trim, 1),
  '0A': { FuelPressure: (a = 0) => 3 * a },
  '0B': { IntakePressure: plain },
  '0C': { EngineSpeed: (a, b) => word(a, b) / 4, EngineRunning: (a, b) => Math.min(1, word(a, b)) },
  '0D': { VehicleSpeed: plain },
  '0E': { IgnitionAdvance: (a = 0) => a / 2 - 64 },
  '0F': { IntakeTemperature: celsius },
  '10': { AirFlow: (a, b) => word(a, b) / 100 },
  '11': { ThrottlePosition: share },
  ...perSensor(0x14, oxygenVoltage),
  '1F': { RunTime: word },
  '21': { LampDistance: word },
  '22': { FuelRailPressureRelative: (a, b) => word(a, b) * 0.079 },
  '23': { FuelRailPressure: (a, b) => word(a, b) * 10 },
  ...perSensor(0x24, lambdaVoltage),
  '2C': { EgrCommanded: share },
  '2D': { EgrError: trim },
  '2E': { PurgeCommanded: share },
  '2F': { FuelLevel: share },
  '30': { WarmUpsSinceClear: plain },
  '31': { DistanceSinceClear: word },
  '32': { EvaporativePressure: (a, b) => signedWord(a, b) / 4 },
  '33': { BarometricPressure: plain },
  ...perSensor(0x34, lambdaCurrent),
  '3C': { CatalystTemperature11: hot },
  '3D': { CatalystTemperature21: hot },
  '3E': { CatalystTemperature12: hot },
  '3F': { CatalystTemperature22: hot },
  '42': { ModuleVoltage: (a, b) => word(a, b) / 1000 },
  '43': { AbsoluteLoad: (a, b) => (word(a, b) * 100) / 255 },
  '44': { CommandedRatio: ratio },
  '45': { ThrottleRelative: share },
  '46': { AmbientTemperature: celsius },
  '47': { ThrottlePositionB: share },
  '48': { ThrottlePositionC: share },
  '49': { PedalPositionD: share },
  '4A': { PedalPositionE: share },
  '4B': { PedalPositionF: share },
  '4C': { ThrottleActuator: share },
  '4D': { LampTime: word },
  '4E': { TimeSinceClear: word },
  '4F': {
    RangeRatio: plain,
    RangeOxygenVoltage: (_, b = 0) => b,
    RangeOxygenCurrent: (_a, _b, c = 0) => c,
    RangeIntakePressure: (_a, _b, _c, d = 0) => 10 * d,
  },
  '50': { RangeAirFlow: (a = 0) => 10 * a },
  '52': { AlcoholShare: share },
  '53': { EvaporativePressureAbsolute: (a, b) => word(a, b) / 200 },
  '54': { EvaporativePressureWide: signedWord },
  '55': row('ShortSecondaryTrim1 ShortSecondaryTrim3', trim, 1),
  '56': row('LongSecondaryTrim1 LongSecondaryTrim3', trim, 1),
  '57': row('ShortSecondaryTrim2 ShortSecondaryTrim4', trim, 1),
  '58': row('LongSecondaryTrim2 LongSecondaryTrim4', trim, 1),
  '59': { FuelRailPressureAbsolute: (a, b) => word(a, b) * 10 },
  '5A': { PedalRelative: share },
  '5B': { HybridBatteryLevel: share },
  '5C': { OilTemperature: celsius },
  // 1/128 degree per step, from 210 degrees before top dead centre.
  '5D': { InjectionTiming: (a, b) => word(a, b) / 128 - 210 },
  '5E': { FuelRate: (a, b) => word(a, b) / 20 },
  '61': { TorqueDemanded: torque },
  '62': { TorqueActual: torque },
  '63': { TorqueReference: word },
  '64': row('TorqueMap1 TorqueMap2 TorqueMap3 TorqueMap4 TorqueMap5', torque, 1),
  // Upper half of the second byte.
  '65': { RecommendedGear: (_, b = 0) => Math.floor(b / 16) },
  '66': row('AirFlowA AirFlowB', (a, b) => word(a, b) / 32, 2, 1),
  '67': row('CoolantTemperature1 CoolantTemperature2', celsius, 1, 1),
  '68': row(
    'IntakeTemperature11 IntakeTemperature12 IntakeTemperature13 IntakeTemperature21 IntakeTemperature22 IntakeTemperature23',
    celsius,
    1,
    1,
  ),
  '69': {
    ...row('EgrACommanded EgrAActual', share, 1, 1),
    ...row('EgrAError', trim, 1, 3),
    ...row('EgrBCommanded EgrBActual', share, 1, 4),
    ...row('EgrBError', trim, 1, 6),
  },
  '6A': row('IntakeFlapACommanded IntakeFlapAPosition IntakeFlapBCommanded IntakeFlapBPosition', share, 1, 1),
  '6B': {
    ...row('EgrTemperature11 EgrTemperature12 EgrTemperature21 EgrTemperature22', celsius, 1, 1),
    ...row(
      'EgrTemperatureWide11 EgrTemperatureWide12 EgrTemperatureWide21 EgrTemperatureWide22',
      (a = 0) => 4 * a - 40,
      1,
      1,
    ),
  },
  '6C': row('ThrottleActuatorACommanded ThrottleARelative ThrottleActuatorBCommanded ThrottleBRelative', share, 1, 1),
  '6D': {
    ...row('FuelRailACommanded FuelRailAPressure', (a, b) => 10 * word(a, b), 2, 1),
    ...row('FuelRailATemperature', celsius, 1, 5),
    ...row('FuelRailBCommanded FuelRailBPressure', (a, b) => 10 * word(a, b), 2, 6),
    ...row('FuelRailBTemperature', celsius, 1, 10),
  },
  '6E': row(
    'InjectionControlACommanded InjectionControlAPressure InjectionControlBCommanded InjectionControlBPressure',
    (a, b) => 10 * word(a, b),
    2,
    1,
  ),
  '6F': {
    ...row('CompressorInletA CompressorInletB', plain, 1, 1),
    ...row('CompressorInletWideA CompressorInletWideB', (a = 0) => 8 * a, 1, 1),
  },
  '70': row('BoostACommanded BoostAPressure BoostBCommanded BoostBPressure', (a, b) => word(a, b) / 32, 2, 1),
  '71': row('VanesACommanded VanesAPosition VanesBCommanded VanesBPosition', share, 1, 1),
  '72': row('WastegateACommanded WastegateAPosition WastegateBCommanded WastegateBPosition', share, 1, 1),
  '73': row('ExhaustPressure1 ExhaustPressure2', (a, b) => word(a, b) / 100, 2, 1),
  '74': row('TurboSpeedA TurboSpeedB', (a, b) => 10 * word(a, b), 2, 1),
  ...Object.fromEntries(
    ['A', 'B'].map((turbo, index) => [
      pidOf(0x75 + index),
      {
        ...row(`Turbo${turbo}CompressorInletTemperature Turbo${turbo}CompressorOutletTemperature`, celsius, 1, 1),
        ...row(`Turbo${turbo}TurbineInletTemperature Turbo${turbo}TurbineOutletTemperature`, hot, 2, 3),
      },
    ]),
  ),
  '77': row(
    'ChargeAirTemperature11 ChargeAirTemperature12 ChargeAirTemperature21 ChargeAirTemperature22',
    celsius,
    1,
    1,
  ),
  '78': row('ExhaustTemperature11 ExhaustTemperature12 ExhaustTemperature13 ExhaustTemperature14', hot, 2, 1),
  '79': row('ExhaustTemperature21 ExhaustTemperature22 ExhaustTemperature23 ExhaustTemperature24', hot, 2, 1),
  ...Object.fromEntries(
    [1, 2].map((bank) => [
      pidOf(0x79 + bank),
      {
        ...row(`ParticulateFilter${bank}Difference`, (a, b) => signedWord(a, b) / 100, 2, 1),
        ...row(`ParticulateFilter${bank}Inlet ParticulateFilter${bank}Outlet`, (a, b) => word(a, b) / 100, 2, 3),
      },
    ]),
  ),
  '7C': row(
    'ParticulateFilter1InletTemperature ParticulateFilter1OutletTemperature ParticulateFilter2InletTemperature ParticulateFilter2OutletTemperature',
    hot,
    2,
    1,
  ),
  '7F': row('TotalRunTime TotalIdleTime TotalPowerTakeOffTime', long, 4, 1),
  '81': timers([1, 2, 3, 4, 5]),
  '82': timers([6, 7, 8, 9, 10]),
  '83': row('Nox11 Nox12 Nox21 Nox22', word, 2, 1),
  '84': { ManifoldSurfaceTemperature: celsius },
  '85': {
    ...row('ReagentConsumption ReagentDemand', (a, b) => word(a, b) / 200, 2, 1),
    ...row('ReagentLevel', share, 1, 5),
    ...row('ReagentWarningTime', long, 4, 6),
  },
  '86': row('ParticulateMass11 ParticulateMass21', (a, b) => word(a, b) / 80, 2, 1),
  '87': row('IntakePressureA IntakePressureB', (a, b) => word(a, b) / 32, 2, 1),
  '88': row(
    'InducementDistance1 InducementBlockDistance InducementDistance2 InducementDistance3 InducementDistance4',
    word,
    2,
    3,
  ),
  '89': timers([11, 12, 13, 14, 15]),
  '8A': timers([16, 17, 18, 19, 20]),
  '8B': {
    ...row('RegenerationTrigger', share, 1, 2),
    ...row('RegenerationInterval RegenerationDistance', word, 2, 3),
  },
  '8C': {
    ...row('OxygenShare11 OxygenShare12 OxygenShare21 OxygenShare22', (a, b) => word(a, b) * 0.001526, 2, 1),
    ...row('OxygenShareRatio11 OxygenShareRatio12 OxygenShareRatio21 OxygenShareRatio22', eighth, 2, 9),
  },
  '8D': { ThrottlePositionG: share },
  '8E': { TorqueFriction: torque },
  '8F': {
    ...row('ParticulateSensor1Output', (a, b) => signedWord(a, b) / 100, 2, 2),
    ...row('ParticulateSensor2Output', (a, b) => signedWord(a, b) / 100, 2, 5),
  },
  '90': row('VehicleLampTime', word, 2, 1),
  '91': row('UnitLampTime UnitB1Time', word, 2, 1),
  '93': row('ContinuousLampTime', word, 2, 1),
  '94': row('ReagentQualityTime ReagentConsumptionTime DosingTime EgrValveTime NoxMonitoringTime', word, 2, 2),
  '98': row('ExhaustTemperature15 ExhaustTemperature16 ExhaustTemperature17 ExhaustTemperature18', hot, 2, 1),
  '99': row('ExhaustTemperature25 ExhaustTemperature26 ExhaustTemperature27 ExhaustTemperature28', hot, 2, 1),
  '9A': {
    // 1/64 V per step.
    ...row('HybridVoltage', (a, b) => word(a, b) * 0.015625, 2, 2),
    ...row('HybridCurrent', (a, b) => signedWord(a, b) / 10, 2, 4),
  },
  '9B': {
    ...row('ReagentConcentration', (a = 0) => a / 4, 1, 2),
    ...row('ReagentTemperature', celsius, 1, 3),
    ...row('ReagentTankLevel', share, 1, 4),
  },
  '9C': {
    ...row('OxygenShare13 OxygenShare14 OxygenShare23 OxygenShare24', (a, b) => word(a, b) * 0.001526, 2, 1),
    ...row('OxygenShareRatio13 OxygenShareRatio14 OxygenShareRatio23 OxygenShareRatio24', eighth, 2, 9),
  },
  '9D': row('EngineFuelMassRate VehicleFuelMassRate', (a, b) => word(a, b) / 50, 2),
  '9E': { ExhaustFlow: (a, b) => word(a, b) / 5 },
  '9F': row('FuelUseA1 FuelUseB1 FuelUseA2 FuelUseB2 FuelUseA3 FuelUseB3 FuelUseA4 FuelUseB4', share, 1, 1),
  A1: row('NoxCorrected11 NoxCorrected12 NoxCorrected21 NoxCorrected22', word, 2, 1),
  A2: { CylinderFuel: (a, b) => word(a, b) / 32 },
  A4: { ActualGear: (_, b = 0) => Math.floor(b / 16), ...row('GearRatio', (a, b) => word(a, b) / 1000, 2, 2) },
  A6: { Odometer: (a, b, c, d) => long(a, b, c, d) / 10 },
  A7: row('Nox13 Nox14 Nox23 Nox24', word, 2, 1),
  A8: row('NoxCorrected13 NoxCorrected14 NoxCorrected23 NoxCorrected24', word, 2, 1),
  AA: { SpeedLimit: plain },
  B2: { BatteryHealth: share },
  C3: row('FuelLevelA FuelLevelB', share, 1, 1),
  C7: { DistanceSinceFlash: word },
  D2: row('CertifiedEnergy CertifiedRange', share, 1, 1),
  D3: { EngineOdometer: (a, b, c, d) => long(a, b, c, d) / 10 },
};

/** Names from bit 0 of a byte upwards, by parameter and byte. A dash: the bit is unused or part of a number. */
const monitors =
  'Catalyst HeatedCatalyst Evaporative SecondaryAir AirConditioning OxygenSensor OxygenSensorHeater EgrVvt';
const named = (before: string, names: string, after: string): string =>
  names
    .split(' ')
    .map((name) => (name === '-' ? name : `${before}${name}${after}`))
    .join(' ');
const supported = (names: string): string => named('', names, 'Supported');

export const flagsOfAnnexB: Readonly<Record<string, Readonly<Record<number, string>>>> = {
  '01': {
    0: '- - - - - - - MalfunctionLamp',
    1: `${named('Monitor', 'Misfire FuelSystem Components', 'Supported')} - ${named('Monitor', 'Misfire FuelSystem Components', 'Incomplete')}`,
    2: named('Monitor', monitors, 'Supported'),
    3: named('Monitor', monitors, 'Incomplete'),
  },
  '13': { 0: named('OxygenSensor', '11 12 13 14 21 22 23 24', 'Present') },
  '1D': { 0: named('OxygenSensorAlt', '11 12 21 22 31 32 41 42', 'Present') },
  '1E': { 0: 'PowerTakeOff' },
  '41': {
    1: `${named('Cycle', 'Misfire FuelSystem Components', 'Enabled')} - ${named('Cycle', 'Misfire FuelSystem Components', 'Incomplete')}`,
    2: named('Cycle', monitors, 'Enabled'),
    3: named('Cycle', monitors, 'Incomplete'),
  },
  '65': {
    0: supported('PowerTakeOffOutput AutomaticDriveEngaged ManualGearEngaged GlowPlugLamp RecommendedGear'),
    1: 'PowerTakeOffOutput AutomaticDriveEngaged ManualGearEngaged GlowPlugLamp',
  },
  '66': { 0: supported('AirFlowA AirFlowB') },
  '67': { 0: supported('CoolantTemperature1 CoolantTemperature2') },
  '68': { 0: supported(named('IntakeTemperature', '11 12 13 21 22 23', '')) },
  '69': { 0: supported('EgrACommanded EgrAActual EgrAError EgrBCommanded EgrBActual EgrBError') },
  '6A': { 0: supported('IntakeFlapACommanded IntakeFlapAPosition IntakeFlapBCommanded IntakeFlapBPosition') },
  '6B': {
    0: supported(`${named('EgrTemperature', '11 12 21 22', '')} ${named('EgrTemperatureWide', '11 12 21 22', '')}`),
  },
  '78': { 0: supported(named('ExhaustTemperature', '11 12 13 14', '')) },
  '79': { 0: supported(named('ExhaustTemperature', '21 22 23 24', '')) },
  '7D': { 0: 'NoxNteInside NoxNteOutside NoxNteCarveOut NoxNteDeficiency' },
  '7E': { 0: 'ParticulateNteInside ParticulateNteOutside ParticulateNteCarveOut ParticulateNteDeficiency' },
  '83': { 0: supported('Nox11 Nox12 Nox21 Nox22') },
  '9F': { 0: supported('FuelUseA1 FuelUseB1 FuelUseA2 FuelUseB2 FuelUseA3 FuelUseB3 FuelUseA4 FuelUseB4') },
  A4: { 0: supported('ActualGear GearRatio') },
};
