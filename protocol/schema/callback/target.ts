/** Format of a receiver's address. The channel checks whether the car may connect to it. */
import { type Member, malformed } from '../monitor/input.ts';

const LONGEST = 2048;

/**
 * Reads an absolute URL with one of the schemes, without user information and fragment.
 * @throws VigieError `input.malformed`
 */
export function readTarget(member: Member, schemes: readonly string[]): string {
  const text = member.text(LONGEST);
  const forms = schemes.map((scheme) => `${scheme}://`).join(' or ');
  if (!URL.canParse(text)) throw malformed(member.where, `must be an address that begins with ${forms}`);
  const url = new URL(text);
  if (!schemes.includes(url.protocol.slice(0, -1))) {
    throw malformed(member.where, `must begin with ${forms}, is ${url.protocol}//…`);
  }
  if (url.username !== '' || url.password !== '') {
    throw malformed(member.where, 'must not have a user name or password: give an attribute of type Header');
  }
  if (url.hash !== '' || text.includes('#')) throw malformed(member.where, 'must not have a fragment (#…)');
  return url.href;
}
