export { planPolls } from './plan.ts';
export { pauseAsleep, VoltageWatch } from './resting.ts';
export { defaultPollSettings, type PollSettings } from './settings.ts';
export { ObdSource, type ObdSourceOptions } from './source.ts';
