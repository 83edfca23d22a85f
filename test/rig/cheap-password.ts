import { hashPassword } from '../../adapters/http/access/password.ts';

/** A hash that is checked within microseconds, for tests in which the cost of a check does not matter. */
export function hashCheaply(password: string): Promise<string> {
  return hashPassword(password, { N: 2, r: 1, p: 1 });
}
