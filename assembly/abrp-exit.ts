/** Sends the present values of a running car to A Better Routeplanner. */
import { AbrpExit } from '../adapters/exits/abrp.ts';
import type { Agent } from '../agent/agent.ts';
import type { Clock, Log } from '../agent/ports.ts';
import type { AbrpConfiguration } from '../config/abrp.ts';
import { readSecret } from '../config/credentials.ts';
import type { ExitsConfiguration } from '../config/exits.ts';
import { scopeOfPath } from '../protocol/interface/visible-members.ts';
import { exitReport, type OpenExit } from './exit-report.ts';

interface AbrpExitOptions extends Pick<ExitsConfiguration, 'scopes'> {
  readonly abrp: AbrpConfiguration;
  readonly agent: Agent;
  readonly clock: Clock;
  readonly log: Log;
}

/** Starts the exit. */
export function openAbrpExit({ abrp, scopes, agent, clock, log }: AbrpExitOptions): OpenExit {
  const { url, tokenFile, apiKeyFile } = abrp;
  const exit = new AbrpExit({
    ...{ url, clock, log, status: agent.status },
    token: () => readSecret(tokenFile),
    apiKey: () => readSecret(apiKeyFile),
    sees: ({ path }) => scopes.has(scopeOfPath(path)),
    timeKnown: () => agent.timeKnown,
  });
  void exit.poke();
  return {
    served: [{ report: () => exitReport('abrp', 'abrp', [exit.report]), test: () => exit.test() }],
    close: async () => exit.close(),
  };
}
