import { hashPassword } from '../../adapters/http/access/password.ts';

/** A password hash that is verified within microseconds, for tests that do not depend on the cost of verification. */
export function hashCheaply(password: string): Promise<string> {
  return hashPassword(password, { N: 2, r: 1, p: 1 });
}
