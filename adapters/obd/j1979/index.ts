export {
  type OnBoardMonitorStatus,
  readCodesByStatus,
  readDataByIdentifier,
  readMonitorStatus,
  readStoredCodes,
  readVehicleInformation,
  type UnitInformation,
  type UnitTroubleCodes,
} from './diagnosis.ts';
export { discoverUnits, functionalAddress, type ObdUnit, unitAddress } from './discovery.ts';
export { freezeFrameSet } from './freeze-frame.ts';
export { parameterLength } from './lengths.ts';
export { type MonitorTest, monitorName, readMonitorTests } from './monitor-tests.ts';
export { type Scaling, scalingOf } from './scaling.ts';
export { type Finding, scanCar, type UnitFinding } from './scan.ts';
export { type Fault, readStandardAnswers, type StandardAnswers } from './standard-answers.ts';
export { namedTroubleCodes, troubleCodeName } from './trouble-code-names.ts';
export { readVin } from './vin.ts';
