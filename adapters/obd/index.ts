export { headerText } from './addressing.ts';
export { type DecodedExchange, ObdDecoder, type ObdExchange } from './decoder.ts';
export { negativeResponseMeaning } from './negative-response.ts';
export { readResponse } from './response.ts';
export type { ObdValue } from './signal-format.ts';
export { type ObdCommand, type ObdSignal, parseSignalSet, repeatedCommands, type SignalSet } from './signal-set.ts';
export { readTroubleCodes, readUdsTroubleCodes, troubleCode } from './trouble-codes.ts';
export {
  calibrationIdentifications,
  calibrationVerificationNumbers,
  ecuName,
  supportedParameters,
  vehicleIdentificationNumber,
} from './vehicle-information.ts';
