/** Keys that sign commands, and the file of those that a car trusts. */
export { type GenerateOptions, generateKey, type KeyDescription, listKeys } from './directory.ts';
export { type OwnKey, ownKey } from './own-key.ts';
export { CommandSigner } from './signer.ts';
export type { KeyAlgorithm } from './trust-file.ts';
export { type TrustChanges, type TrustOptions, TrustStore } from './trust-store.ts';
