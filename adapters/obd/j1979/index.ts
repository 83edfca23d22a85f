export {
  readCodesByStatus,
  readDataByIdentifier,
  readMonitorStatus,
  readStoredCodes,
  readVehicleInformation,
} from './diagnosis.ts';
export { discoverUnits, unitAddress } from './discovery.ts';
export { freezeFrameSet } from './freeze-frame.ts';
export { readMonitorTests } from './monitor-tests.ts';
export { scalingOf } from './scaling.ts';
export { type Finding, scanCar } from './scan.ts';
export { type Fault, readStandardAnswers, type StandardAnswers } from './standard-answers.ts';
export { namedTroubleCodes, troubleCodeName } from './trouble-code-names.ts';
export { readVin } from './vin.ts';
