/** Forgotten cars. */
import { createHash } from 'node:crypto';

/** Returns a row if a car was forgotten. */
export const ANY_FORGOTTEN = "SELECT 1 FROM forgotten_cars WHERE digest > '' LIMIT 1";

/** Digest to recognise a forgotten car, because its VIN is not stored. Hexadecimal. */
export function forgottenDigest(vin: string): string {
  return createHash('sha256').update(`vigie forgotten ${vin}`).digest('hex');
}
