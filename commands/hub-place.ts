/** Selects the hub for a command: its configuration, its directory and its database. */

import { join } from 'node:path';
import { FilesRefused } from '../assembly/refused.ts';
import { readSecret } from '../config/credentials.ts';
import { type HubConfiguration, loadHubConfiguration } from '../config/hub.ts';
import type { HubPlace } from '../hub/start/registry.ts';
import { defined } from '../protocol/defined.ts';
import { complain } from './output.ts';

/** Default directory if there is no configuration, relative to the working directory. */
export const DEFAULT_DATA = join('.vigie', 'hub');

/** Options of the command line. */
export interface PlaceOptions {
  readonly config?: string;
  readonly data?: string;
  readonly database?: string;
}

/** Returns the place of the hub. Options override the configuration. @throws FilesRefused for a faulty configuration */
export function placeOf({ config, data, database }: PlaceOptions): HubPlace & { configuration?: HubConfiguration } {
  const configuration = config === undefined ? undefined : load(config);
  const url = database ?? databaseOf(configuration);
  return {
    data: data ?? configuration?.data ?? DEFAULT_DATA,
    ...defined({ database: url, secretFile: configuration?.database?.secretFile, configuration }),
  };
}

function load(file: string): HubConfiguration {
  const { configuration, diagnostics } = loadHubConfiguration(file, process.env);
  if (configuration === undefined) throw new FilesRefused('the configuration has errors', diagnostics, file);
  complain(diagnostics);
  return configuration;
}

/** Returns the database URL with the password, which is in a separate file. */
function databaseOf(configuration: HubConfiguration | undefined): string | undefined {
  if (configuration?.database === undefined) return undefined;
  const { url, passwordFile } = configuration.database;
  if (passwordFile === undefined) return url;
  const address = new URL(url);
  address.password = encodeURIComponent(readSecret(passwordFile));
  return address.href;
}
