/** Keys that sign commands, and the file of those that a car trusts. */
export { type GenerateOptions, generateKey, type KeyDescription, listKeys, readTrust } from './directory.ts';
export { type OwnKey, ownKey } from './own-key.ts';
export { CommandSigner } from './signer.ts';
export { algorithmOf, type KeyAlgorithm, keyIdOf, type TrustedKey, unknownKinds } from './trust-file.ts';
export { readTrustChanges, type TrustChanges, type TrustOptions, TrustStore } from './trust-store.ts';
