export { UdsActuator } from './actuator.ts';
export type { UdsRequester } from './client.ts';
export { prepareUdsCommands, type UdsCommands } from './command.ts';
export { keyPrograms } from './key-programs.ts';
export { type KeyHook, type KeyHooks, simpleKeys } from './security.ts';
