export { UdsActuator, type UdsActuatorOptions } from './actuator.ts';
export type { UdsRequester } from './client.ts';
export { prepareUdsCommands, type UdsCommand, type UdsCommands } from './command.ts';
export { NoAnswer, Refused } from './failures.ts';
export { keyPrograms } from './key-programs.ts';
export { type KeyHook, type KeyHooks, type KeyRequest, simpleKeys } from './security.ts';
