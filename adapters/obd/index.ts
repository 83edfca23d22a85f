export { type DecodedExchange, ObdDecoder, type ObdExchange } from './decoder.ts';
export { negativeResponseMeaning } from './negative-response.ts';
export { type ObdMessage, type ObdResponse, readResponse } from './response.ts';
export type { ObdValue } from './signal-format.ts';
export { type ObdCommand, type ObdSignal, parseSignalSet, type SignalSet } from './signal-set.ts';
export {
  readTroubleCodes,
  readUdsTroubleCodes,
  type TroubleCode,
  type TroubleCodes,
  troubleCode,
  type UdsTroubleCode,
  type UdsTroubleCodes,
} from './trouble-codes.ts';
export {
  calibrationIdentifications,
  calibrationVerificationNumbers,
  ecuName,
  supportedParameters,
  vehicleIdentificationNumber,
  vinOfDataIdentifier,
} from './vehicle-information.ts';
