import { readAttributes } from '../../protocol/schema/callback/attributes.ts';
import { readChannelAttributes } from '../../protocol/schema/callback/delivery.ts';
import { Member } from '../../protocol/schema/monitor/input.ts';
import type { Company } from './accompanied.ts';

/**
 * Who is told of a command that is asked for as `remote` says (interface 4.17.2 Remote), and what goes along.
 * @throws VigieError `input.malformed`, `input.unknown` for attributes that cannot be
 */
export function companyOf(callbackId: string, remote: Readonly<Record<string, unknown>>): Company {
  const { label } = remote;
  const member = new Member(remote, '');
  const attributes = readAttributes(member.member('attributes'), 'userRemote');
  const callbackAttributes = readChannelAttributes(member.member('callbackAttributes'), 'userRemote');
  return {
    callbackId,
    ...(typeof label === 'string' ? { label } : {}),
    ...(attributes.length === 0 ? {} : { attributes }),
    ...(Object.keys(callbackAttributes).length === 0 ? {} : { callbackAttributes }),
  };
}
