/** Cars that were forgotten. */
import { createHash } from 'node:crypto';

/** Finds a row when a car was forgotten. */
export const ANY_FORGOTTEN = "SELECT 1 FROM forgotten_cars WHERE digest > '' LIMIT 1";

/** By which a forgotten car is recognised: its VIN is not kept. Hexadecimal. */
export function forgottenDigest(vin: string): string {
  return createHash('sha256').update(`vigie forgotten ${vin}`).digest('hex');
}
