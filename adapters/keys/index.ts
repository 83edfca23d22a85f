/** Keys that sign commands, and the file of the keys that a car trusts. */
export { generateKey, listKeys, readTrust, writeTrust } from './directory.ts';
export { createWhole, hasCode } from './files.ts';
export { type OwnKey, ownKey } from './own-key.ts';
export { CommandSigner, type SealingKey, sealingKey } from './signer.ts';
export {
  type Candidate,
  candidatesOf,
  confirmChanges,
  newestChanges,
  readTrustChanges,
  type TrustChanges,
} from './trust-changes.ts';
export { algorithmOf, type KeyAlgorithm, keyIdOf, readTrustFile, type TrustedKey, unknownKinds } from './trust-file.ts';
export { CONFIRM, TRUST_STATE, TrustStore } from './trust-store.ts';
