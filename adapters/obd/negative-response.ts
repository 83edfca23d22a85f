import { hexByte } from '../../protocol/hex.ts';

/** First byte of a negative response: 7F, the refused service, the code (ISO 14229-1 §8.2.3). */
export const NEGATIVE = 0x7f;

/** The service continues; the answer follows (ISO 14229-1 Table A.1, requestCorrectlyReceived-ResponsePending). */
export const PENDING = 0x78;

/** Negative response codes (ISO 14229-1:2020 Table A.1). */
const MEANINGS: ReadonlyMap<number, string> = new Map([
  [0x10, 'general reject'],
  [0x11, 'service not supported'],
  [0x12, 'sub-function not supported'],
  [0x13, 'incorrect message length or invalid format'],
  [0x14, 'response too long'],
  [0x21, 'busy, repeat request'],
  [0x22, 'conditions not correct'],
  [0x24, 'request sequence error'],
  [0x25, 'no response from subnet component'],
  [0x26, 'failure prevents execution of requested action'],
  [0x31, 'request out of range'],
  [0x33, 'security access denied'],
  [0x34, 'authentication required'],
  [0x35, 'invalid key'],
  [0x36, 'exceeded number of attempts'],
  [0x37, 'required time delay not expired'],
  [0x38, 'secure data transmission required'],
  [0x39, 'secure data transmission not allowed'],
  [0x3a, 'secure data verification failed'],
  [0x50, 'certificate verification failed: invalid time period'],
  [0x51, 'certificate verification failed: invalid signature'],
  [0x52, 'certificate verification failed: invalid chain of trust'],
  [0x53, 'certificate verification failed: invalid type'],
  [0x54, 'certificate verification failed: invalid format'],
  [0x55, 'certificate verification failed: invalid content'],
  [0x56, 'certificate verification failed: invalid scope'],
  [0x57, 'certificate verification failed: invalid certificate (revoked)'],
  [0x58, 'ownership verification failed'],
  [0x59, 'challenge calculation failed'],
  [0x5a, 'setting access rights failed'],
  [0x5b, 'session key creation or derivation failed'],
  [0x5c, 'configuration data usage failed'],
  [0x5d, 'deauthentication failed'],
  [0x70, 'upload or download not accepted'],
  [0x71, 'transfer data suspended'],
  [0x72, 'general programming failure'],
  [0x73, 'wrong block sequence counter'],
  [0x78, 'request correctly received, response pending'],
  [0x7e, 'sub-function not supported in active session'],
  [0x7f, 'service not supported in active session'],
  [0x81, 'rpm too high'],
  [0x82, 'rpm too low'],
  [0x83, 'engine is running'],
  [0x84, 'engine is not running'],
  [0x85, 'engine run time too low'],
  [0x86, 'temperature too high'],
  [0x87, 'temperature too low'],
  [0x88, 'vehicle speed too high'],
  [0x89, 'vehicle speed too low'],
  [0x8a, 'throttle or pedal too high'],
  [0x8b, 'throttle or pedal too low'],
  [0x8c, 'transmission range not in neutral'],
  [0x8d, 'transmission range not in gear'],
  [0x8f, 'brake switch not closed'],
  [0x90, 'shifter lever not in park'],
  [0x91, 'torque converter clutch locked'],
  [0x92, 'voltage too high'],
  [0x93, 'voltage too low'],
  [0x94, 'resource temporarily not available'],
]);

/** Returns the meaning of a negative response code, 0..255. Ranges not defined by the standard are named as such. */
export function negativeResponseMeaning(code: number): string {
  const meaning = MEANINGS.get(code);
  if (meaning !== undefined) return meaning;
  if (code >= 0xf0 && code <= 0xfe) return 'vehicle manufacturer specific condition not correct';
  return code >= 0x38 && code <= 0x4f ? 'reserved by ISO 15764' : 'reserved by ISO 14229-1';
}

/** Formats a refusal: `service 22 refused: request out of range (0x31)`. */
export function refusal(service: number, code: number): string {
  return `service ${hexByte(service)} refused: ${negativeResponseMeaning(code)} (0x${hexByte(code)})`;
}
