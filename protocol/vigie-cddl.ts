import { cddlOf } from './cddl.ts';
import { commandBodies, commandSchema } from './command.ts';
import { type BodyKind, bodies, wireSchema } from './schema/message.ts';
import { watchSchema } from './watch.ts';

/** COSE_Sign1 in the profile of cose.ts; no schema of fields.ts describes arrays of unlike members with tags. */
const signedCommand = `
; A command as it is sent (RFC 9052 section 4.2). The key id may also stand unprotected, nothing else may.
signed-command = #6.18([
  protected: bstr .cbor signature-header,
  unprotected: { ? 4 => bstr },
  payload: bstr .cbor command,
  signature: bstr .size 64,
])

signature-header = {
  1 => -7 / -8, ; algorithm, ES256 or EdDSA
  ? 4 => bstr, ; key id
}
`;

/** No schema describes a message that is not a map. */
const packedMessage = `
; A message in fewer bytes: see docs/wire-format.md, "Packed messages".
packed-message = bstr
`;

/** The CDDL of everything that goes over the air: messages from the car, commands to it and their bodies, word of who watches. */
export function vigieCddl(): string {
  const rules = cddlOf({
    message: (Object.keys(bodies) as BodyKind[]).map(wireSchema),
    command: [commandSchema],
    'command-body': Object.values(commandBodies),
    watch: [watchSchema],
  });
  return rules.replace(/^message = .*$/m, '$& / packed-message') + packedMessage + signedCommand;
}
