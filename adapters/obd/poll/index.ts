export { obdMessage, type Plan, planPolls } from './plan.ts';
export { defaultPollSettings, type PollPriority, type PollRule, type PollSettings } from './settings.ts';
export { ObdSource, type ObdSourceOptions } from './source.ts';
