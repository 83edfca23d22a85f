/** Software bill of materials of a package in CycloneDX 1.6 (ECMA-424). */

import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Enums, Models, Serialize, SPDX, Spec } from '@cyclonedx/cyclonedx-library';
import manifest from '../../package.json' with { type: 'json' };
import { defined } from '../../protocol/defined.ts';
import { type LockedPackage, lockedPackages, programPlaces } from './licences.ts';
import { packageFolder } from './registry.ts';
import type { PackageTarget } from './targets.ts';

/** File name in the Debian package and next to the documents of a program. `vigie --sbom` prints the file. */
export const SBOM_FILE = 'sbom.cdx.json';

/** A form in which the program is shipped. */
export type SbomSubject =
  /** The executable, and the Debian package that contains it. */
  | { readonly kind: 'executable'; readonly target: PackageTarget }
  /** The program without Node, for the system's Node. */
  | { readonly kind: 'script'; readonly target: PackageTarget }
  | { readonly kind: 'npm' };

/**
 * Returns the bill of materials as JSON. The same sources give the same string: it has neither a date nor a serial
 * number.
 * @throws Error if the target's Node cannot be downloaded
 */
export function sbomOf(subject: SbomSubject): string {
  const root = new Models.Component(Enums.ComponentType.Application, manifest.name, {
    bomRef: manifest.name,
    version: manifest.version,
    description: manifest.description,
    licenses: licensesOf(manifest.license),
    purl: `pkg:npm/${manifest.name}@${manifest.version}`,
  });
  const bom = new Models.Bom({ metadata: new Models.Metadata({ component: root }) });
  addPackages(bom, root, subject.kind === 'npm' ? [] : [subject.target.koffi.package]);
  if (subject.kind === 'executable') addNode(bom, root, subject.target);
  const factory = new Serialize.JSON.Normalize.Factory(Spec.Spec1dot6);
  const text = new Serialize.JsonSerializer(factory).serialize(bom, { sortLists: true, space: 1 });
  return `${text}\n`;
}

/** Adds each package that is bundled or installed with the program, and the dependencies of the package. */
function addPackages(bom: Models.Bom, root: Models.Component, machineCode: readonly string[]): void {
  const components = new Map<string, Models.Component>();
  const places = programPlaces(machineCode);
  for (const place of places.keys()) {
    const component = packageComponent(place, lockedPackages[place] as LockedPackage);
    components.set(place, component);
    bom.components.add(component);
    root.dependencies.add(component.bomRef);
  }
  for (const [place, needed] of places) {
    for (const other of needed) {
      const { bomRef } = components.get(other) as Models.Component;
      (components.get(place) as Models.Component).dependencies.add(bomRef);
    }
  }
}

function packageComponent(place: string, { version, license, integrity }: LockedPackage): Models.Component {
  const full = place.slice(place.lastIndexOf('node_modules/') + 'node_modules/'.length);
  const [name = full, group] = full.split('/').reverse();
  const component = new Models.Component(Enums.ComponentType.Library, name, {
    bomRef: place,
    ...defined({ group, version }),
    purl: `pkg:npm/${full.replace('@', '%40')}@${version}`,
    licenses: licensesOf(license),
  });
  if (integrity?.startsWith('sha512-')) {
    const hash = Buffer.from(integrity.slice('sha512-'.length), 'base64').toString('hex');
    const archive = `https://registry.npmjs.org/${full}/-/${name}-${version}.tgz`;
    component.externalReferences.add(
      new Models.ExternalReference(archive, Enums.ExternalReferenceType.Distribution, {
        hashes: new Models.HashDictionary([[Enums.HashAlgorithm['SHA-512'], hash]]),
      }),
    );
  }
  return component;
}

function licensesOf(license: string | undefined): Models.LicenseRepository {
  if (license === undefined) return new Models.LicenseRepository();
  const one = SPDX.isSupportedSpdxId(license) ? new Models.SpdxLicense(license) : undefined;
  const several = / (OR|AND|WITH) /.test(license) ? new Models.LicenseExpression(license) : undefined;
  return new Models.LicenseRepository([one ?? several ?? new Models.NamedLicense(license)]);
}

/** Adds the included Node, and its libraries with the versions that its headers state. */
function addNode(bom: Models.Bom, root: Models.Component, { node }: PackageTarget): void {
  const component = new Models.Component(Enums.ComponentType.Platform, 'Node.js', {
    bomRef: 'node',
    version: node.version,
    purl: `pkg:github/nodejs/node@v${node.version}`,
    cpe: `cpe:2.3:a:nodejs:node.js:${node.version}:*:*:*:*:*:*:*`,
    licenses: licensesOf('MIT'),
  });
  bom.components.add(component);
  root.dependencies.add(component.bomRef);
  const headers = join(packageFolder(node.package, node.version), 'include/node');
  for (const { name, purl, cpe, version } of nodeLibraries(headers)) {
    const library = new Models.Component(Enums.ComponentType.Library, name, {
      bomRef: `node/${name}`,
      version,
      purl: `${purl}${version}`,
      cpe: `cpe:2.3:a:${cpe}:${version}:*:*:*:*:*:*:*`,
    });
    bom.components.add(library);
    component.dependencies.add(library.bomRef);
  }
}

interface NodeLibrary {
  readonly name: string;
  readonly version: string;
  /** Package URL without a version. */
  readonly purl: string;
  /** Vendor and product of the CPE. */
  readonly cpe: string;
}

/** @throws Error if a header does not contain the version */
function nodeLibraries(folder: string): readonly NodeLibrary[] {
  const defined = (files: readonly string[], names: readonly string[]): string => {
    const file = files.map((one) => join(folder, one)).find(existsSync);
    const text = file === undefined ? '' : readFileSync(file, 'utf8');
    return names
      .map((name) => {
        const value = new RegExp(`^# *define +${name} +"?([\\d.]+)`, 'm').exec(text)?.[1];
        if (value === undefined) throw new Error(`${folder}: no header states ${name}`);
        return value;
      })
      .join('.');
  };
  const parts = (prefix: string, ...names: string[]): string[] => names.map((name) => `${prefix}${name}`);
  const openssl = ['openssl/archs/linux-x86_64/no-asm/include/openssl/opensslv.h', 'openssl/opensslv.h'];
  const v8 = ['MAJOR_VERSION', 'MINOR_VERSION', 'BUILD_NUMBER', 'PATCH_LEVEL'];
  return [
    {
      name: 'OpenSSL',
      version: defined(openssl, parts('OPENSSL_VERSION_', 'MAJOR', 'MINOR', 'PATCH')),
      purl: 'pkg:github/openssl/openssl@openssl-',
      cpe: 'openssl:openssl',
    },
    {
      name: 'libuv',
      version: defined(['uv/version.h'], parts('UV_VERSION_', 'MAJOR', 'MINOR', 'PATCH')),
      purl: 'pkg:github/libuv/libuv@v',
      cpe: 'libuv:libuv',
    },
    {
      name: 'V8',
      version: defined(['v8-version.h'], parts('V8_', ...v8)),
      purl: 'pkg:github/v8/v8@',
      cpe: 'google:v8',
    },
  ];
}
