/** Reads a configuration, its profile and the profile's files from this machine, for the cars of a fleet. */
import { readFileSync } from 'node:fs';
import { dirname, isAbsolute, join, relative, resolve } from 'node:path';
import type { SentFile } from '../../adapters/service/generation-files.ts';
import { inspect } from '../../assembly/generation.ts';
import { FilesRefused } from '../../assembly/refused.ts';
import { packFile } from '../../assembly/sent-files.ts';
import { readYamlFile } from '../../config/document.ts';
import { isProfilePath, profileFile, shippedProfiles } from '../../config/shipped.ts';
import { commandBounds, encodeBody } from '../../protocol/command.ts';
import { VigieError } from '../../protocol/errors.ts';
import type { ConfigurationOrder } from '../../protocol/schema/order.ts';

/** A VIN that no real car has. The hub uses it to validate the content that it sends to all cars. */
const ANY_CAR = 'VF3VGEANYCAR00001';
/** Size in bytes of the rest of the command and its signature. */
const FRAME = 1_024;

/**
 * Returns the content of a roll-out. Certificates and keys are in the cars and not needed here.
 * @throws FilesRefused with all faults of configuration and profile
 * @throws VigieError `usage.wrong` if the content is too large or not suitable for a whole fleet
 */
export function rolloutOrder(file: string, label: string): ConfigurationOrder {
  const folder = resolve(dirname(file));
  const unit = { vin: ANY_CAR, data: join(folder, 'data') };
  const {
    configuration,
    vehicle,
    diagnostics = [],
  } = inspect(file, {}, folder, 'awaited', ANY_CAR, {
    files: folder,
    unit,
  });
  if (configuration === undefined || vehicle === undefined) {
    throw new FilesRefused('the configuration has errors', diagnostics, file);
  }
  const { vin, profile } = (readYamlFile(file).contents?.data ?? {}) as {
    readonly vin?: unknown;
    readonly profile: string;
  };
  if (vin !== undefined) {
    throw new VigieError('usage.wrong', 'is for one car: leave vin out, so that each car keeps its own', {
      where: file,
    });
  }
  const own =
    isProfilePath(profile) && !isAbsolute(profile)
      ? [
          profileFile(configuration.profile, shippedProfiles) ?? configuration.profile,
          ...vehicle.profile.buses.flatMap(({ dbc, obd }) => [...dbc, ...(obd?.signalsets ?? [])]),
        ]
      : [];
  const files = [...new Set(own)].map((path) => packFile(fileIn(folder, path, file)));
  const order = {
    configuration: readFileSync(file, 'utf8'),
    ...(files.length === 0 ? {} : { files }),
    label,
  };
  checkSize(order, file);
  return order;
}

function fileIn(folder: string, path: string, of: string): SentFile {
  const beside = relative(folder, path);
  if (/^[A-Za-z0-9_][A-Za-z0-9_. -]*(\/[A-Za-z0-9_][A-Za-z0-9_. -]*)*$/.test(beside) && beside.length <= 128) {
    return { path: beside, contents: readFileSync(path) };
  }
  throw new VigieError(
    'usage.wrong',
    `cannot go with ${of}: put it into the folder of that file or below, under a path of letters, digits and . _ -`,
    { where: path },
  );
}

function checkSize(order: ConfigurationOrder, where: string): void {
  const most = Math.min(60_000, commandBounds.maximumBytes - FRAME);
  const packed = (order.files ?? []).map(({ path, deflated }) => `${path} ${deflated.byteLength}`);
  if ((order.files?.length ?? 0) > 64) {
    throw new VigieError('usage.wrong', `names ${order.files?.length} files: a command has at most 64`, { where });
  }
  const size =
    order.configuration.length + (order.files ?? []).reduce((sum, { deflated }) => sum + deflated.byteLength, 0);
  if (size <= most && encodeBody('Configuration', order).byteLength <= most) return;
  const listed = packed.length === 0 ? '' : ` (compressed: ${packed.join(', ')})`;
  throw new VigieError('usage.wrong', `has ${size} bytes with its files, and a command at most ${most}${listed}`, {
    where,
  });
}
