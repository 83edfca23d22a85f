import manifest from '../package.json' with { type: 'json' };

/** Version of the agent, from the package manifest. */
export const version: string = manifest.version;
